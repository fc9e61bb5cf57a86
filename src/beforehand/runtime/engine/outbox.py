"""What goes out: messages from the application to the core, and frames from the core to the links.

A message is accepted if there is credit for all of its receivers. Consecutive sends to the same
receivers, with nothing received in between, wait in the *pending run* and reach the core as one.
Messages are numbered when they are accepted, so the application sees no difference.
"""

from collections.abc import Iterable
from typing import Any, Final

from mypy_extensions import i64

from beforehand.causality.ids import check_process
from beforehand.errors import LocalProtocolError, PeerDroppedError
from beforehand.protocols.core import Core
from beforehand.protocols.effects import Effect
from beforehand.protocols.frames import Frame
from beforehand.runtime.engine.counters import Counters
from beforehand.runtime.engine.links import Links
from beforehand.runtime.engine.peer import Peer
from beforehand.runtime.engine.sessions import Sessions
from beforehand.runtime.recording.frame_events import record_holds, record_sent
from beforehand.runtime.recording.node_trace import NodeTrace

MAX_PAYLOAD: Final = 16 * 2**20  # a receiver may have to reassemble this much from fragments
MAX_RUN: Final = 1024  # messages in the pending run: as many as a record of the core holds
MAX_ROUTES: Final = 4096  # sets of receivers that are remembered
# Batches are accepted in parts of a window, so that the next part is under way while one is consumed.
PARTS_PER_WINDOW: Final = 4
ENOUGH_TO_WRITE: Final = 56_000  # bytes queued in a link: as much as one system call takes

Receivers = str | tuple[str, ...] | None


def checked_receivers(name: str, to: object) -> Receivers:
    """Receivers as an outbox takes them: in a form that can be iterated more than once."""
    if to is None or isinstance(to, (str, tuple)):
        return to
    if isinstance(to, Iterable):
        return tuple(to)
    raise LocalProtocolError(
        f"{name}: receivers are a name, several names, or None for everybody, not {type(to).__name__}"
    )


class Route:
    """The receivers of a send, as the user names them and as the core does."""

    def __init__(
        self, key: object, peers: list[Peer], to: object, processes: tuple[str, ...] | None
    ) -> None:
        self.key: Final = key
        self.peers: Final = peers
        self.to: Final = to  # for the core: one process, several, or None for a broadcast
        self.processes: Final = processes  # the same for the trace


class Outbox:
    """Accepted messages that the core has not seen yet, and the way of its frames to the links."""

    def __init__(
        self,
        core: Core,
        me: Peer,
        sessions: Sessions,
        links: Links,
        counters: Counters,
        casts: frozenset[str],
    ) -> None:
        self.waiting: i64 = 0  # messages accepted and not handed to the core
        self.write_due: bool = False  # a link has enough queued to flush before the end of the turn
        self.trace: NodeTrace | None = None
        self._route: Route | None = None  # of the pending run, and of the last send
        # Complete runs, ready for the core: full, or followed by a send to other receivers.
        self.runs: list[tuple[Route, list[bytes]]] = []
        self.blocked_by = me  # who had no room for the last offer that was not accepted
        self._core = core
        self._me = me
        self._sessions = sessions
        self._links = links
        self._counters = counters
        self._casts = casts  # "unicast", "multicast", "broadcast": what the protocol can do
        self._routes: dict[object, Route] = {}
        self._pending: list[bytes] = []

    def sent(self) -> i64:
        """The number of the last accepted message."""
        return self._core.sent + self.waiting

    def try_accept(self, to: object, payload: object) -> bool:
        """Accept one message on the fast path; False if it takes `accept` to decide."""
        if type(payload) is not bytes or self.write_due:
            return False
        size: i64 = len(payload)
        route = self._route
        if route is None or route.key is not to:
            if type(to) is not str:
                return False
            route = self._switch_route(to)
        if size > MAX_PAYLOAD:
            return False
        peers = route.peers
        for peer in peers:
            if not peer.outgoing.has_room(1, size):
                return False
        for peer in peers:
            peer.outgoing.accept(1, size)
        pending = self._pending
        pending.append(payload)
        self.waiting += 1
        if len(pending) >= MAX_RUN:
            self.complete_run()
        return True

    def accept(self, to: object, payloads: list[Any], start: i64) -> i64:
        """Accept a part of `payloads` from `start` on, and return where it ends.

        A part is all of the payloads, or as many as a fraction of the smallest window holds, or one.
        Without room for all of the part, nothing is accepted: `start`, and `blocked_by` is the reason.
        """
        route = self._route
        if route is None or route.key is not to:
            route = self._switch_route(to)
        stop, size = self._next_part(route, payloads, start)
        if start == 0:  # misuse is detected before anything is accepted
            for rest in range(stop, len(payloads)):
                self._length(payloads[rest])
        count = stop - start
        for peer in route.peers:
            if not peer.outgoing.has_room(count, size):
                self.blocked_by = peer
                return start
        for peer in route.peers:
            peer.outgoing.accept(count, size)
        self._pending.extend(payloads if count == len(payloads) else payloads[start:stop])
        self.waiting += count
        if len(self._pending) >= MAX_RUN:
            self.complete_run()
        return stop

    def _next_part(self, route: Route, payloads: list[Any], start: i64) -> tuple[i64, i64]:
        """Where the next part ends, and its size in bytes."""
        last: i64 = len(payloads)
        most_bytes = self._me.outgoing.window_bytes
        for peer in route.peers:
            window = peer.outgoing.window
            last = min(last, start + max(1, window // PARTS_PER_WINDOW))  # 1 if not connected yet
            most_bytes = min(most_bytes, peer.outgoing.window_bytes)
        most_bytes //= PARTS_PER_WINDOW
        size: i64 = 0
        stop = start
        while stop < last:
            length = self._length(payloads[stop])
            if size + length > most_bytes and stop > start:
                break
            size += length
            stop += 1
        return stop, size

    def _length(self, payload: object) -> i64:
        """The length of a valid payload."""
        if type(payload) is not bytes:
            raise LocalProtocolError(
                f"{self._me.name}: a payload is bytes, not {type(payload).__name__}; encode it first"
            )
        if len(payload) > MAX_PAYLOAD:
            raise LocalProtocolError(
                f"{self._me.name}: a payload of {len(payload)} bytes is more than the {MAX_PAYLOAD} "
                "that a message may have; send it in parts, or send where it can be fetched"
            )
        return len(payload)

    # ---- routes ----

    def _switch_route(self, to: object) -> Route:
        """The route to other receivers than last time; the pending run for those is complete."""
        route = self._routes.get(to)
        if route is None:
            route = self._new_route(to)
            if len(self._routes) >= MAX_ROUTES:
                self._routes.clear()
            self._routes[to] = route
        if route is not self._route:
            self.complete_run()
            self._route = route
        return route

    def _new_route(self, key: object) -> Route:
        if key is None:
            if "broadcast" not in self._casts:
                raise LocalProtocolError(
                    f"{self._me.name}: this protocol has no broadcast; name the receivers"
                )
            live = [peer for peer in self._sessions.peers.values() if not peer.gone]
            return Route(None, [*live, self._me], None, None)
        if "unicast" not in self._casts:
            raise LocalProtocolError(
                f"{self._me.name}: this protocol only broadcasts; send to None instead of naming "
                "receivers"
            )
        if isinstance(key, str):
            names: list[str] = [key]
        else:
            assert isinstance(key, tuple)
            names = sorted({check_process(name) for name in key})
        if not names:
            raise LocalProtocolError(f"{self._me.name}: no receivers; name at least one")
        others = [name for name in names if name != self._me.name]
        if "multicast" not in self._casts and len(others) > 1:
            raise LocalProtocolError(
                f"{self._me.name}: this protocol sends to one receiver at a time; choose one with "
                "multicast (see `beforehand protocols`), or send to the receivers one by one"
            )
        peers = [self._receiver(name) for name in names]
        processes = tuple([peer.process for peer in peers])
        to: object = processes[0] if len(processes) == 1 else processes
        return Route(key, peers, to, processes)

    def _receiver(self, name: str) -> Peer:
        if name == self._me.name:
            return self._me
        peer = self._sessions.peers.get(name)
        if peer is None:
            raise LocalProtocolError(
                f"{self._me.name}: there is no peer {name!r}; name it in `peers`, or call add_peer"
            )
        if peer.gone:
            raise PeerDroppedError(
                f"{self._me.name}: {name} was dropped; send to the others, or wait until it is back"
            )
        return peer

    def forget_routes(self) -> None:
        """The peers have changed: look up the receivers of later sends again."""
        self.complete_run()  # it belongs to the route it was accepted for
        self._routes.clear()
        self._route = None

    # ---- runs and frames ----

    def complete_run(self) -> None:
        """Later sends start another run."""
        if self._pending and self._route is not None:
            self.runs.append((self._route, self._pending))
            self._pending = []

    def send_run(self, now: i64) -> list[Effect]:
        """Hand the oldest complete run to the core; the effects are to be carried out."""
        route, payloads = self.runs.pop(0)
        count: i64 = len(payloads)
        first = self._core.sent + 1
        for peer in route.peers:
            peer.outgoing.assign_numbers(first, count)
        self.waiting -= count
        self._counters.sent += count
        to: Any = route.to
        trace = self.trace
        if trace is None:
            return self._core.send_checked(to, payloads, now)
        sizes = [len(payload) for payload in payloads]
        trace.record_run("send", self._me.process, first, route.processes, sizes)
        effects = self._core.send_checked(to, payloads, now)
        if len(route.peers) != 1 or route.peers[0] is not self._me:
            record_holds(trace, self._me.process, first, sizes, effects)
        return effects

    def transmit(self, to: str, frame: Frame) -> None:
        """Queue a frame of the core in the link to a process."""
        peer = self._sessions.processes.get(to)
        if peer is None or peer.gone:
            return
        link = peer.link
        if self.trace is not None:
            record_sent(self.trace, self._me.process, to, frame)
        if link is None:
            peer.backlog.append(frame)
            return
        link.post(frame)
        if link.waiting >= ENOUGH_TO_WRITE:
            self.write_due = True
        self._links.touch(link)

    def sizes(self) -> dict[str, int]:
        """How many entries each table has."""
        return {"routes": len(self._routes), "pending": int(self.waiting)}
