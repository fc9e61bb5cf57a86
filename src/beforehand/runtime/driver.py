"""Puts an `Engine` on an event loop and a transport: the one place that schedules anything.

Datagrams and timers go into the engine; its events go to `Members` and to the tasks that wait here.
Whatever has to go out goes out at the end of the current turn of the event loop, in as few datagrams as
possible: `request_flush` asks for it, `_flush` does it.
"""

import asyncio
import os
from contextlib import suppress
from time import monotonic, monotonic_ns
from typing import Final

from beforehand.errors import NodeClosedError, PeerDroppedError, WouldBlock
from beforehand.protocols.core import Core
from beforehand.runtime import events
from beforehand.runtime.engine.engine import Engine
from beforehand.runtime.engine.events import AccountChanged
from beforehand.runtime.engine.outbox import Receivers, checked_receivers
from beforehand.runtime.engine.peer import Peer
from beforehand.runtime.events import EventHistory, PeerEvent
from beforehand.runtime.identity.members import Members
from beforehand.runtime.recording.node_trace import NodeTrace
from beforehand.runtime.settings import NodeSettings
from beforehand.runtime.transports.base import Address, Transport
from beforehand.runtime.waiters import BlockedSenders, Receipts, WaitQueue

TICK: Final = 1.0  # seconds: for cores with a timer, and for traces
STALL: Final = 100_000_000  # ns: a timer this late means that the whole process stood still
BUSY: Final = 1_000_000  # ns until a transport that was busy is tried again
FAREWELL: Final = 0.5  # seconds at most until the peers have acknowledged that we leave


class Driver:
    """Runs one engine."""

    def __init__(self, settings: NodeSettings, core: Core, transport: Transport) -> None:
        self.name: Final = settings.name
        self.settings = settings
        self.transport = transport
        self.engine = Engine(
            core,
            settings.name,
            window=settings.window,
            window_bytes=settings.window_bytes,
            silent_after=settings.silent_after,
            drop_after=settings.drop_after,
            casts=frozenset(settings.capabilities.casts),
        )
        self.inbox = self.engine.inbox
        self.events = EventHistory()
        self.members = Members(self.engine, settings, transport, self.events.emit)
        self.senders = BlockedSenders()
        self.readers = WaitQueue()
        self.receipts = Receipts()
        self.state = "new"  # then "open", "closing", "closed"
        # A flush will happen at the end of this turn. (Before the start none is scheduled.)
        self.flush_requested = True
        # It will, and no task waits to send: `send` only has to call `Engine.try_send`.
        self.ready = False
        self._trace: NodeTrace | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop: asyncio.AbstractEventLoop  # from `start` on
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = 0

    # ---- start and end ----

    async def start(self, trace: str | os.PathLike[str] | None, run: str) -> None:
        """Open the transport, and look for the peers."""
        self._loop = asyncio.get_running_loop()
        if trace is not None:
            process = self.engine.me.process
            self._trace = NodeTrace(trace, run, process, self._trace_failed)
            self.engine.record(self._trace)
        try:
            await self.transport.open(self.receive)
            now = monotonic_ns()
            self.state = "open"
            for name, text in self.settings.peers.items():
                address = await self.transport.resolve(text) if text else None
                self.members.add(name, address, now)
        except BaseException:
            await self.close(5.0)
            raise
        self.flush_requested = False
        if self.settings.capabilities.timer or self._trace is not None:
            self._tick()
        self.request_flush()

    async def close(self, timeout: float) -> None:
        """Wait for deliveries, announce that we leave, and stop."""
        if self.state == "open":
            self.state = "closing"
            self.ready = False
            try:
                if timeout > 0:
                    with suppress(TimeoutError, PeerDroppedError):  # `Leftover` reports it
                        await asyncio.wait_for(self.wait_for_all(), timeout)
                await self._leave(min(FAREWELL, timeout))
            finally:
                self._stop()
        await self.transport.wait_closed()
        trace, self._trace = self._trace, None
        self.engine.record(None)
        if trace is not None:
            await asyncio.to_thread(trace.close)  # which waits for the disk

    async def _leave(self, timeout: float) -> None:
        """Announce that we leave, and wait a little for the acknowledgements."""
        self.members.leave()
        self.request_flush(at_once=True)
        deadline = monotonic() + timeout
        peers = self.engine.sessions.peers.values()
        links = [peer.link for peer in peers if peer.link and not peer.gone]
        while monotonic() < deadline and any(not link.done() for link in links):
            await asyncio.sleep(0.005)

    def _stop(self) -> None:
        self.state = "closed"
        self.flush_requested = True
        self.ready = False
        if self._timer is not None:
            self._timer.cancel()
        for task in self._tasks:
            task.cancel()
        self.transport.close()
        self.senders.wake_all()
        self.readers.wake_all()
        self.receipts.fail(self._closed_error())
        self.events.close()

    def check_open(self) -> None:
        """Raise `NodeClosedError` before the start and after the end."""
        if self.state == "new":
            raise NodeClosedError(
                f"{self.name}: the node is not started; use `async with`, or start()"
            )
        if self.state != "open":
            raise self._closed_error()

    def _closed_error(self) -> NodeClosedError:
        return NodeClosedError(f"{self.name}: the node is closed; start another one")

    def _trace_failed(self, problem: str) -> None:
        """Called by the thread that writes the trace."""
        event = PeerEvent(events.TRACE_FAILED, self.name, problem)
        try:
            self._loop.call_soon_threadsafe(self.events.emit, event)
        except RuntimeError:  # the loop is closed already
            self.events.remember(event)

    # ---- turns of the event loop ----

    def receive(self, datagrams: list[bytes], address: Address) -> None:
        """Datagrams came from an address: called by the transport."""
        now = monotonic_ns()
        self.engine.receive(datagrams, address, now)
        self.react(now)

    def react(self, now: int) -> None:
        """The engine has worked: wake those who waited for it, and flush after they have run."""
        self._dispatch(now)
        if not self.flush_requested:
            self.request_flush()

    def _dispatch(self, now: int) -> None:
        """Act on the events of the engine, and wake a reader if there is a message."""
        events = self.engine.take_events()
        if events:
            while events:
                for event in events:
                    if isinstance(event, AccountChanged):
                        self.receipts.update(event.peer)
                        self.senders.wake(event.peer.name)
                    else:
                        self.members.handle(event, now)
                events = self.engine.take_events()  # those that follow from the first ones
            self.engine.report_accounts(bool(self.senders) or bool(self.receipts))
        if self.readers.waiting and self.inbox.unread:
            self.readers.wake()

    def request_flush(self, at_once: bool = False) -> None:
        """Ask for a flush: at the end of this turn of the loop, or also at once."""
        self.ready = self.state == "open" and not self.senders
        if at_once:
            self._flush()
        if not self.flush_requested:
            self.flush_requested = True
            self.engine.advance(monotonic_ns())
            self._loop.call_soon(self._end_turn)

    def _end_turn(self) -> None:
        self.flush_requested = False
        self.ready = False
        if self._flush() and self.settings.spin and not self.flush_requested:
            self.transport.spin(self.settings.spin)

    def _flush(self) -> bool:
        """Send everything that may go now; whether anything did."""
        engine = self.engine
        if self.state == "closed":
            return False
        if self.transport.busy():
            self._set_timer(monotonic_ns() + BUSY)
            return False
        now = monotonic_ns()
        out = engine.flush(now)
        for address, datagrams in out:
            self.transport.send(address, datagrams)
        engine.process_deferred_acks()
        self._dispatch(now)
        if engine.needs_flush():
            self.request_flush()
        if self._timer is None or engine.next_timer() < self._timer_at:
            self._set_timer()
        return bool(out)

    # ---- timers ----

    def _set_timer(self, when: int = 0) -> None:
        """Have `_expire` called when the engine or a handshake next needs it, or at a given time."""
        now = monotonic_ns()
        hello = self.members.introductions.poll(now)
        if not when:
            when = int(self.engine.next_timer())
            if hello and (not when or hello < when):
                when = hello
        if not when or self.state == "closed":
            return
        if self._timer is not None:
            if self._timer_at <= when:
                return
            self._timer.cancel()
        self._timer_at = when
        self._timer = self._loop.call_later(max(0, when - now) / 1e9, self._expire)

    def _expire(self) -> None:
        self._timer = None
        now = monotonic_ns()
        late = now - self._timer_at
        if late > STALL:
            self.engine.sessions.forgive(late, now)  # their datagrams could not be read
        self.engine.expire(now)
        self.react(now)
        self._set_timer()

    def _tick(self) -> None:
        """For cores with a timer of their own, and for traces: a crash costs the last part only."""
        if self.state not in ("open", "closing"):
            return
        now = monotonic_ns()
        if self._trace is not None:
            self._trace.poke(now)
        if self.settings.capabilities.timer:
            self.engine.tick(now)
            self.react(now)
        self._loop.call_later(TICK, self._tick)

    # ---- what the application waits for ----

    def try_send(self, to: object, payload: bytes) -> None:
        """Accept a message, or raise `WouldBlock`."""
        self.check_open()
        self.request_flush()
        receiving = checked_receivers(self.name, to)
        if self.senders.any_for((receiving,) if isinstance(receiving, str) else receiving):
            raise WouldBlock(f"{self.name}: others wait to send there already; use `await send`")
        if not self.engine.offer(receiving, [payload], 0):
            raise self._would_block()

    def _would_block(self) -> WouldBlock:
        peer = self.engine.outbox.blocked_by
        if not peer.proven and peer is not self.engine.me:
            return WouldBlock(
                f"{self.name}: {peer.name} is not there yet; use `await send` to wait"
            )
        account = peer.outgoing
        return WouldBlock(
            f"{self.name}: {peer.name} has {account.accepted - account.consumed} messages of "
            f"{account.accepted_bytes - account.consumed_bytes} bytes to take before it gets more; "
            "use `await send` to wait for it"
        )

    async def send(self, to: object, payloads: list[bytes]) -> None:
        """Accept messages part by part, and wait for room in between."""
        receiving = checked_receivers(self.name, to)
        self.check_open()
        start = 0
        while start < len(payloads):
            self.request_flush(at_once=self.engine.outbox.write_due)
            stop = start if self.senders else self.engine.offer(receiving, payloads, start)
            if stop == start:
                stop = await self._send_when_unblocked(receiving, payloads, start)
            start = stop

    async def _send_when_unblocked(self, to: Receivers, payloads: list[bytes], start: int) -> int:
        """Wait for room for a part, behind others who wait for the same peer; where the part ends."""
        waited_for = ""
        ticket = 0
        while True:
            blocked_by = ""
            try:
                self.check_open()
                self.request_flush()
                stop = self.engine.offer(to, payloads, start)
                if stop > start:
                    return stop
                blocked_by = self.engine.outbox.blocked_by.name
            finally:
                if waited_for and blocked_by != waited_for:
                    self.senders.wake(waited_for)  # whatever came of it, the next one may try
            self.ready = False
            self.engine.report_accounts(True)
            ticket = await self.senders.wait(blocked_by, ticket if blocked_by == waited_for else 0)
            waited_for = blocked_by

    async def wait_for_message(self) -> None:
        """Wait until there is an unread message."""
        ticket = 0
        while not self.inbox.unread:
            self.check_open()
            ticket = await self.readers.wait(ticket)

    def message_taken(self) -> None:
        """The application took messages: their senders may be due credit, other readers a message."""
        if not self.flush_requested:
            self.request_flush()
        if self.readers.waiting and self.inbox.unread:
            self.readers.wake()

    async def wait_for_all(self) -> None:
        """Wait until all accepted messages are delivered to all receivers that are not dropped."""
        self.engine.flush_pending()
        peers = [peer for peer in self.engine.sessions.peers.values() if not peer.gone]
        waiting = self._expect([(peer, int(peer.outgoing.accepted)) for peer in peers])
        await asyncio.gather(*waiting, return_exceptions=True)
        if self.state == "closed":
            raise self._closed_error()

    async def wait_for_delivery(self, number: int) -> None:
        """Wait until a message is delivered to all of its receivers."""
        self.engine.flush_pending()
        if self.engine.sessions.is_lost(number):
            raise PeerDroppedError(
                f"{self.name}: a receiver of {self.name}#{number} was dropped before it had it"
            )
        peers = self.engine.sessions.peers.values()
        positions = [(peer, int(peer.outgoing.position_of(number))) for peer in peers]
        await asyncio.gather(*self._expect([(peer, at) for peer, at in positions if at]))

    def _expect(self, positions: list[tuple[Peer, int]]) -> list[asyncio.Future[None]]:
        self.engine.report_accounts(True)
        waiting = [self.receipts.expect(peer, position) for peer, position in positions]
        for peer, _ in positions:
            self.receipts.update(peer)
        return waiting

    # ---- peers ----

    def add_peer(self, name: str, address: str | None) -> None:
        """Expect a peer, and look for it if an address is given."""
        self.members.add(name, None, monotonic_ns())
        if address is not None:
            task = asyncio.ensure_future(self._resolve(name, address))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _resolve(self, name: str, text: str) -> None:
        try:
            address = await self.transport.resolve(text)
        except Exception as problem:
            self.events.emit(PeerEvent(events.REFUSED, name, str(problem)))
            return
        self.members.add(name, address, monotonic_ns())
        self._set_timer()
        self.request_flush()

    def drop(self, peer: Peer) -> None:
        """Give up on a peer for good."""
        now = monotonic_ns()
        self.engine.drop(peer, now)
        self.react(now)
