"""`Node`: causal delivery for services, on asyncio. What its users call; `turns.py` has the rest."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final

from beforehand.causality.ids import MessageId
from beforehand.errors import LocalProtocolError, NodeClosedError, PeerDroppedError, WouldBlock
from beforehand.runtime import events
from beforehand.runtime import stats as looking
from beforehand.runtime.driver import Turns
from beforehand.runtime.engine.message import Batch, Message
from beforehand.runtime.engine.peer import Peer
from beforehand.runtime.events import PeerEvent
from beforehand.runtime.recording.node_trace import NodeTrace
from beforehand.runtime.settings import NodeSettings
from beforehand.runtime.stats import Stats, Waiting
from beforehand.runtime.transports.base import Transport
from beforehand.runtime.transports.udp import UdpTransport
from beforehand.runtime.waiters import Line

WINDOW: Final = 65_536  # messages between two applications
WINDOW_BYTES: Final = 32 * 2**20
FAREWELL: Final = 0.5  # seconds at most for telling the others that we leave
EVERYTHING: Final = 2**62
To = str | Iterable[str] | None
Receivers = str | tuple[str, ...] | None


def receivers(name: str, to: object) -> Receivers:
    """Receivers as they can be looked at more than once."""
    if to is None or isinstance(to, (str, tuple)):
        return to
    if isinstance(to, Iterable):
        return tuple(to)
    raise LocalProtocolError(
        f"{name}: receivers are a name, several names, or None for everybody, not {type(to).__name__}"
    )


@dataclass(frozen=True)
class Leftover:
    """What a closed node leaves behind."""

    undelivered: dict[str, int]  # by peer: accepted messages that it is not known to have delivered
    unread: int  # messages that were delivered here and that nobody took

    def __bool__(self) -> bool:
        return bool(self.undelivered) or self.unread > 0


class Node(Turns):
    """One process that takes part in causal delivery.

    Messages are delivered in causal order: nothing arrives before what it was a reaction to. `send`
    waits while the receiver is behind by more than the `window` that it granted, so a slow receiver
    slows down its senders, and memory is bounded. Take messages while you send: two nodes that only
    send to each other will wait for each other once both windows are full.

    - `listen`: where to receive, "host:port"; port 0 takes a free one, see `address`.
    - `peers`: names, with addresses where they are known. Others may introduce themselves.
    - `key`: the cluster key, 32 bytes, 64 hexadecimal digits or the path of a file with them; see
      `beforehand keygen`. Without one nothing is encrypted or authenticated, and the node only binds
      to this machine, unless `insecure=True` says otherwise.
    - `protocol`: any of `beforehand protocols`; with `processes`, `tree` or `links` where it needs them.
    - `transport`: instead of UDP; the addresses of `peers` are then what it understands.
    - `trace`: a folder for a trace of what happens here, as a part of the run named `run`.
    - `window`, `window_bytes`: what may be under way to this node from each peer.
    - `silent_after`: seconds without a sign of life after which a peer is reported silent.
    - `drop_after`: seconds after which it is dropped for good; None waits for ever.
    - `spin`: seconds, such as 0.0002, for which the node keeps looking for an answer after it has
      written something, instead of sleeping. Answers are seen sooner, and others get less of a core.
    """

    def __init__(
        self,
        name: str,
        *,
        listen: str = "127.0.0.1:0",
        peers: Mapping[str, str] | Iterable[str] = (),
        key: bytes | str | os.PathLike[str] | None = None,
        protocol: str = "hybrid-sps",
        processes: Iterable[str] | None = None,
        tree: Any = None,
        links: Any = None,
        transport: Transport | None = None,
        trace: str | os.PathLike[str] | None = None,
        run: str = "live",
        window: int = WINDOW,
        window_bytes: int = WINDOW_BYTES,
        silent_after: float = 5.0,
        drop_after: float | None = None,
        spin: float = 0.0,
        insecure: bool = False,
    ) -> None:
        settings = NodeSettings(
            *(name, peers, key, protocol, window, window_bytes, silent_after, drop_after, spin),
            os.urandom(8),
        )
        core = settings.create_core(processes, tree, links)
        super().__init__(settings, core, UdpTransport(listen) if transport is None else transport)
        self._insecure = insecure
        self._trace = trace
        self._run = run

    # ---- life ----

    async def start(self) -> Node:
        """Bind, and look for the peers. `async with` does this."""
        if self._state != "new":
            raise LocalProtocolError(f"{self.name}: a node is started once; create another one")
        if self._settings.plain and not self._insecure and not self._transport.loopback():
            raise LocalProtocolError(
                f"{self.name}: without a key a node only binds to this machine (127.0.0.1 or ::1), "
                "since anybody could read and forge its messages; pass key=... (`beforehand keygen` "
                "makes one), or insecure=True if that is what you want"
            )
        self._loop = asyncio.get_running_loop()
        if self._trace is not None:
            self._engine.trace = NodeTrace(self._trace, self._run, self.process, self._trace_failed)
        try:
            await self._transport.open(self._received)
            now = time.monotonic_ns()
            self._state = "open"
            for name, address in self._settings.peers.items():
                where = await self._transport.resolve(address) if address else None
                self._members.want(name, where, now)
        except BaseException:
            await self.close()
            raise
        self._begin()
        return self

    async def __aenter__(self) -> Node:
        return await self.start()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close(0.0 if kind is not None else 5.0)

    async def close(self, timeout: float = 5.0) -> Leftover:
        """Wait up to so many seconds until all is delivered, say goodbye, and report what is left."""
        if self._state == "open":
            self._state = "closing"
            self._ready = False
            try:
                if timeout > 0:
                    with suppress(TimeoutError, PeerDroppedError):  # the report tells
                        await asyncio.wait_for(self._flush_all(), timeout)
                await self._leave(min(FAREWELL, timeout))
            finally:
                self._stop()
        await self._transport.wait_closed()
        trace, self._engine.trace = self._engine.trace, None
        if trace is not None:
            await asyncio.to_thread(trace.close)  # which waits for the disk
        return self._leftover()

    async def _leave(self, timeout: float) -> None:
        """Tell the others, and see to it that they have heard, within reason."""
        self._members.farewell()
        self._flush()
        deadline = time.monotonic() + timeout
        links = [peer.link for peer in self._engine.peers.values() if peer.link and not peer.gone]
        while time.monotonic() < deadline and any(not link.done() for link in links):
            await asyncio.sleep(0.005)

    def _stop(self) -> None:
        self._state = "closed"
        self._planned = True
        self._ready = False
        if self._timer is not None:
            self._timer.cancel()
        for task in self._tasks:
            task.cancel()
        self._transport.close()
        for line in self._senders.values():
            line.wake_all()
        self._readers.wake_all()
        self._receipts.fail(self._closed())
        for listener in self._listeners:
            listener.put_nowait(None)

    def _leftover(self) -> Leftover:
        undelivered = {
            peer.name: int(peer.accepted - peer.delivered)
            for peer in self._engine.peers.values()
            if peer.accepted > peer.delivered
        }
        return Leftover(undelivered, int(self._engine.inbox.unread))

    def _closed(self) -> NodeClosedError:
        return NodeClosedError(f"{self.name}: the node is closed; start another one")

    def _check_open(self) -> None:
        if self._state == "new":
            raise NodeClosedError(
                f"{self.name}: the node is not started; use `async with`, or start()"
            )
        if self._state != "open":
            raise self._closed()

    @property
    def address(self) -> str:
        """Where this node receives, once it is started; what peers put into their `peers`."""
        return self._transport.local

    # ---- sending ----

    async def send(self, to: To, payload: bytes) -> int:
        """Causal-send a message to one receiver, to several, or (None) to everybody.

        Returns its number as soon as it is accepted: from then on it will be delivered to each
        receiver that is not dropped. Waits while a receiver is not there yet, or is behind.
        """
        if self._ready:
            number = self._engine.try_send(to, payload)
            if number:
                return number
        await self._send_all(to, [payload])
        return self.sent

    async def send_many(self, to: To, payloads: Iterable[bytes]) -> int:
        """The same as one `send` for each payload, in order, and much faster; the last one's number.

        They are accepted in pieces of up to a quarter of the window, each piece as a whole or not at
        all. If the call is cancelled between two pieces, `sent` tells how many were accepted.
        """
        batch = payloads if isinstance(payloads, list) else list(payloads)
        if not batch:
            raise LocalProtocolError(f"{self.name}: no payloads; give at least one")
        await self._send_all(to, batch)
        return self.sent

    def try_send(self, to: To, payload: bytes) -> int:
        """Like `send`, but raises `WouldBlock` instead of waiting."""
        self._check_open()
        self._plan()
        where = receivers(self.name, to)
        if self._senders and self._others_wait(where):
            raise WouldBlock(f"{self.name}: others wait to send there already; use `await send`")
        if not self._engine.offer(where, [payload], 0):
            raise self._would_block()
        return self.sent

    def _others_wait(self, to: Receivers) -> bool:
        names = self._senders if to is None else (to,) if isinstance(to, str) else to
        return any(self._senders.get(name) for name in names)

    def _would_block(self) -> WouldBlock:
        peer = self._engine.blocked
        assert peer is not None
        if not peer.proven and peer is not self._engine.me:
            return WouldBlock(
                f"{self.name}: {peer.name} is not there yet; use `await send` to wait"
            )
        return WouldBlock(
            f"{self.name}: {peer.name} has {peer.accepted - peer.consumed} messages of "
            f"{peer.accepted_bytes - peer.consumed_bytes} bytes to take before it gets more; "
            "use `await send` to wait for it"
        )

    async def _send_all(self, to: To, payloads: list[bytes]) -> None:
        """Accept piece after piece, and wait for room in between."""
        where = receivers(self.name, to)
        self._check_open()
        self._plan()
        start = 0
        while start < len(payloads):
            if self._engine.ripe:
                self._write()
            stop = start if self._senders else self._engine.offer(where, payloads, start)
            if stop == start:
                stop = await self._send_later(where, payloads, start)
            start = stop

    async def _send_later(self, to: Receivers, payloads: list[bytes], start: int) -> int:
        """Wait until there is room for a piece, in line with others who wait for the same peer.

        Returns where the next piece begins.
        """
        waited_for = ""
        while True:
            blocked_by = ""
            try:
                self._check_open()
                self._plan()
                stop = self._engine.offer(to, payloads, start)
                if stop > start:
                    return stop
                blocked_by = self._blocking()
            finally:
                if waited_for and blocked_by != waited_for:
                    self._wake_sender(waited_for)  # whatever came of it, the next one may try
            line = self._senders.setdefault(blocked_by, Line())
            self._ready = False
            self._engine.watched = True
            try:
                await line.wait(again=blocked_by == waited_for)
            finally:
                if not line and self._senders.get(blocked_by) is line:
                    del self._senders[blocked_by]
            waited_for = blocked_by

    def _blocking(self) -> str:
        """Who has no room for what was not accepted just now."""
        assert self._engine.blocked is not None
        return self._engine.blocked.name

    @property
    def sent(self) -> int:
        """How many messages were accepted: the number of the last one."""
        return int(self._engine.core.sent) + len(self._engine.pending)

    # ---- receiving ----

    async def receive(self) -> Message:
        """The next message, in causal order."""
        inbox = self._engine.inbox
        if not inbox.unread:
            await self._arrival()
        message = inbox.take()
        self._took()
        return message

    async def receive_batch(self, most: int | None = None) -> Batch:
        """All messages that are there, at least one, at most `most`: the fast way to receive."""
        if not self._engine.inbox.unread:
            await self._arrival()
        batch = self._engine.inbox.take_many(EVERYTHING if most is None else max(1, most))
        self._took()
        return batch

    def __aiter__(self) -> AsyncIterator[Message]:
        if self._state == "new":
            self._check_open()
        return self._messages()

    async def _messages(self) -> AsyncGenerator[Message, None]:
        while True:
            if not self._engine.inbox.unread:
                try:
                    await self._arrival()
                except NodeClosedError:
                    return
            if self._engine.inbox.unread > 1:
                self._readers.wake()  # there is something for others too
            for message in self._engine.inbox.drain():
                if not self._planned:
                    self._plan()
                yield message

    async def _arrival(self) -> None:
        """Until there is a message for us."""
        again = False
        while not self._engine.inbox.unread:
            self._check_open()
            await self._readers.wait(again)
            again = True

    def _took(self) -> None:
        """The application has taken something: its senders may be owed credit, other readers more."""
        if not self._planned:
            self._plan()
        if self._readers.waiting and self._engine.inbox.unread:
            self._readers.wake()

    # ---- what became of it ----

    async def delivered(self, message: int | MessageId) -> None:
        """Until all receivers of a message of this node have delivered it: its number, or its id.

        Raises PeerDroppedError if one of them is dropped before. On an overlay, where messages are
        passed on, only those receivers count that are peers of this node.
        """
        self._check_open()
        if isinstance(message, int):
            message = MessageId(self.name, message)
        if message.sender != self.name:
            raise LocalProtocolError(f"{self.name}: {message} was not sent by this node")
        if not 1 <= message.number <= self.sent:
            raise LocalProtocolError(f"{self.name}: {message} was never sent")
        self._flush_pending()
        if any(first <= message.number <= last for first, last in self._engine.lost):
            raise PeerDroppedError(
                f"{self.name}: a receiver of {message} was dropped before it had it"
            )
        places = [
            (peer, int(peer.place_of(message.number))) for peer in self._engine.peers.values()
        ]
        await self._until([(peer, place) for peer, place in places if place])

    async def flush(self) -> None:
        """Until everything that was accepted so far is delivered to all receivers not dropped."""
        self._check_open()
        await self._flush_all()

    async def _flush_all(self) -> None:
        self._flush_pending()
        peers = [peer for peer in self._engine.peers.values() if not peer.gone]
        self._engine.watched = True
        waiting = [self._receipts.expect(peer, int(peer.accepted)) for peer in peers]
        for peer in peers:
            self._receipts.note(peer)
        await asyncio.gather(*waiting, return_exceptions=True)
        if self._state == "closed":
            raise self._closed()

    async def _until(self, places: list[tuple[Peer, int]]) -> None:
        self._engine.watched = True
        waiting = [self._receipts.expect(peer, place) for peer, place in places]
        for peer, _ in places:
            self._receipts.note(peer)
        if waiting:
            await asyncio.gather(*waiting)

    # ---- peers ----

    def add_peer(self, name: str, address: str | None = None) -> None:
        """One more peer, or a new address of a known one. Without an address it must come to us."""
        self._check_open()
        if name == self.name:
            raise LocalProtocolError(f"{self.name}: a node is no peer of itself")
        if self._settings.named and name not in self._engine.peers:
            raise LocalProtocolError(
                f"{self.name}: {self._settings.protocol} must know everybody from the start; "
                "name all of them in `peers`"
            )
        self._members.want(name, None, time.monotonic_ns())
        if address is not None:
            task = asyncio.ensure_future(self._find(name, address))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _find(self, name: str, address: str) -> None:
        try:
            where = await self._transport.resolve(address)
        except Exception as problem:
            self._emit(PeerEvent(events.REFUSED, name, str(problem)))
            return
        self._members.want(name, where, time.monotonic_ns())
        self._arm()
        self._plan()

    def drop(self, name: str) -> None:
        """Give up on a peer for ever: nothing waits for it any more, and nothing of it is heard.

        The others learn of it and do the same. If it lives, it has to be restarted to come back.
        """
        self._check_open()
        peer = self._engine.peers.get(name)
        if peer is None:
            raise LocalProtocolError(f"{self.name}: there is no peer {name!r} to drop")
        if peer.gone:
            return
        if not peer.proven:
            raise LocalProtocolError(f"{self.name}: {name} was never here, so nothing waits for it")
        now = time.monotonic_ns()
        self._engine.drop(peer, now)
        self._after(now)

    # ---- looking inside ----

    def held(self) -> list[Waiting]:
        """What waits inside this node, for whom, for what and since when."""
        now = time.monotonic_ns()
        self._flush_pending()
        return [looking.waiting(held, self.name, now) for held in self._engine.core.held()]

    def stats(self) -> Stats:
        """Counters and the state of each link."""
        return looking.stats(self._engine, self._settings.protocol)

    def peers(self) -> list[str]:
        """The names of all peers, whatever their state."""
        return sorted(self._engine.peers)
