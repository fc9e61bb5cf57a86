"""How a node accepts messages, and carries out what its core wants.

Sends that follow each other, to the same receivers and with nothing received in between, wait in
`pending` and reach the core as one run. They are numbered when they are accepted, so nobody can tell.
"""

from __future__ import annotations

from typing import Any, Final

from mypy_extensions import i64

from beforehand.causality.ids import check_process
from beforehand.errors import LocalProtocolError, PeerDroppedError
from beforehand.protocols.effects import Deliver, DeliverRun, Effect, Transmit
from beforehand.protocols.frames import Frame
from beforehand.runtime.engine.peer import Peer
from beforehand.runtime.engine.state import EngineState, Route
from beforehand.runtime.recording.frame_events import record_holds, record_sent

MAX_PAYLOAD: Final = 16 * 2**20  # what a receiver has to put together from fragments, at most
MOST_PENDING: Final = 1024  # sends that wait to become one run: what a record of the core holds
MOST_ROUTES: Final = 4096  # sets of receivers that are remembered
RIPE: Final = 56_000  # bytes in the queue of a link: as much as one system call takes
PIECES: Final = (
    4  # of a window: a batch is accepted by pieces, so that there is always one under way
)


class Sending(EngineState):
    """An engine that sends."""

    def try_send(self, to: object, payload: object) -> i64:
        """Accept a message and return its number, or 0 if it takes more than this to tell."""
        if type(payload) is not bytes or self.ripe:
            return 0
        size: i64 = len(payload)
        route = self.route
        if route is None or route.key is not to:
            if type(to) is not str:
                return 0
            route = self._turn(to)
        peers = route.peers
        if size > MAX_PAYLOAD:
            return 0
        for peer in peers:
            if not peer.room(1, size):
                return 0
        for peer in peers:
            peer.accepted += 1
            peer.accepted_bytes += size
        pending = self.pending
        pending.append(payload)
        number = self.core.sent + len(pending)
        if len(pending) >= MOST_PENDING:
            self._send_pending()
        return number

    def offer(self, to: object, payloads: list[Any], start: i64) -> i64:
        """Accept a piece of `payloads` from `start` on, and return where it ends.

        A piece is all of it, or as much as a part of the smallest window holds, or one message. If
        there is no room for the piece, `blocked` says where, and nothing is accepted: `start`.
        """
        route = self.route
        if route is None or route.key is not to:
            route = self._turn(to)
        stop: i64 = len(payloads)
        most_bytes = self.me.window_bytes
        for peer in route.peers:
            stop = min(stop, start + max(1, peer.window // PIECES))  # one, if it is not there yet
            most_bytes = min(most_bytes, peer.window_bytes)
        most_bytes //= PIECES
        size: i64 = 0
        at = start
        while at < stop:
            length = self._length(payloads[at])
            if size + length > most_bytes and at > start:
                break
            size += length
            at += 1
        if start == 0:  # misuse is found before anything is accepted
            for rest in range(at, len(payloads)):
                self._length(payloads[rest])
        count = at - start
        for peer in route.peers:
            if not peer.room(count, size):
                self.blocked = peer
                return start
        for peer in route.peers:
            peer.accept(count, size)
        if count == len(payloads):
            self.pending.extend(payloads)
        else:
            self.pending.extend(payloads[start:at])
        if len(self.pending) >= MOST_PENDING:
            self._send_pending()
        return at

    def _length(self, payload: object) -> i64:
        """The bytes of a payload, if it is one."""
        if type(payload) is not bytes:
            raise LocalProtocolError(
                f"{self.me.name}: a payload is bytes, not {type(payload).__name__}; encode it first"
            )
        if len(payload) > MAX_PAYLOAD:
            raise LocalProtocolError(
                f"{self.me.name}: a payload of {len(payload)} bytes is more than the {MAX_PAYLOAD} that "
                "a message may have; send it in parts, or send where it can be fetched"
            )
        return len(payload)

    def _turn(self, to: object) -> Route:
        """The route to other receivers than last time; what was meant for those goes first."""
        route = self.routes.get(to)
        if route is None:
            route = self._new_route(to)
            if len(self.routes) >= MOST_ROUTES:
                self.routes.clear()
            self.routes[to] = route
        if route is not self.route:
            if self.pending:
                self._send_pending()
            self.route = route
        return route

    def _new_route(self, key: object) -> Route:
        if key is None:
            if not self.broadcasts:
                raise LocalProtocolError(
                    f"{self.me.name}: this protocol has no broadcast; name the receivers"
                )
            everybody = [peer for peer in self.peers.values() if not peer.gone]
            return Route(None, [*everybody, self.me], None, None)
        if not self.unicasts:
            raise LocalProtocolError(
                f"{self.me.name}: this protocol sends to everybody; name no receivers but None"
            )
        if isinstance(key, str):
            names: list[str] = [key]
        else:
            assert isinstance(key, tuple)
            names = sorted({check_process(name) for name in key})
        if not names:
            raise LocalProtocolError(f"{self.me.name}: no receivers; name at least one")
        others = [name for name in names if name != self.me.name]
        if not self.multicasts and len(others) > 1:
            raise LocalProtocolError(
                f"{self.me.name}: this protocol sends to one receiver at a time; choose one with "
                "multicast (see `beforehand protocols`), or send to each"
            )
        peers = [self._receiver(name) for name in names]
        processes = tuple([peer.process for peer in peers])
        to: object = processes[0] if len(processes) == 1 else processes
        return Route(key, peers, to, processes)

    def _receiver(self, name: str) -> Peer:
        if name == self.me.name:
            return self.me
        peer = self.peers.get(name)
        if peer is None:
            raise LocalProtocolError(
                f"{self.me.name}: there is no peer {name!r}; name it in `peers`, or call add_peer"
            )
        if peer.gone:
            raise PeerDroppedError(
                f"{self.me.name}: {name} was dropped; send to the others, or wait until it is back"
            )
        return peer

    def forget_routes(self) -> None:
        """The peers have changed: look each receiver up again."""
        self.settle()  # it belongs to the route that it was accepted for
        self.routes.clear()
        self.route = None

    def settle(self) -> None:
        """Hand over what waits to become a run, for those who want to look at the core."""
        if self.pending:
            self._send_pending()

    def _send_pending(self) -> None:
        """Hand what was accepted to the core."""
        payloads = self.pending
        route = self.route
        if not payloads or route is None:
            return
        first = self.core.sent + 1
        count: i64 = len(payloads)
        for peer in route.peers:
            peer.note(first, count)
        self.pending = []
        to: Any = route.to
        if self.trace is None:
            self._carry_out(self.core.send_checked(to, payloads, self.now))
        else:
            sizes = [len(payload) for payload in payloads]
            self.trace.record_run("send", self.me.process, first, route.names, sizes)
            effects = self.core.send_checked(to, payloads, self.now)
            if len(route.peers) != 1 or route.peers[0] is not self.me:
                record_holds(self.trace, self.me.process, first, sizes, effects)
            self._carry_out(effects)
        self.counters.sent += count

    # ---- carrying out what the core wants ----

    def _carry_out(self, effects: list[Effect]) -> None:
        for effect in effects:
            if isinstance(effect, DeliverRun):
                self._deliver(effect.sender, effect.first, effect.payloads)
            elif isinstance(effect, Transmit):
                self._transmit(effect.to, effect.frame)
            elif isinstance(effect, Deliver):
                self._deliver(effect.sender, effect.message_id, (effect.payload,))

    def _transmit(self, to: str, frame: Frame) -> None:
        peer = self.processes.get(to)
        if peer is None or peer.gone:
            return
        link = peer.link
        if self.trace is not None:
            record_sent(self.trace, self.me.process, to, frame)
        if link is None:
            peer.backlog.append(frame)
            return
        link.post(frame)
        if link.waiting >= RIPE:
            self.ripe = True
        self.touch(link)

    def _deliver(self, sender: str, first: i64, payloads: tuple[bytes, ...]) -> None:
        peer = self.processes.get(sender)
        if peer is None:  # passed on by others: we have no link with it
            peer = Peer(sender, sender)
            self.processes[sender] = peer
        self.inbox.put(peer, first, payloads)
        self.counters.delivered += len(payloads)
        if self.trace is not None:
            sizes = [len(payload) for payload in payloads]
            self.trace.record_run("deliver", sender, first, None, sizes)
