"""The turns of the event loop: what a node does when datagrams come, when time passes, and at the end.

A thin shell. It puts an `Engine` (the core, links, flow control) and `Members` (who takes part) on an
event loop and a transport, and wakes the tasks that wait for them. What goes out because of what came
in, or of what the application did, goes out at the end of that turn, in as few datagrams as possible.
"""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import AsyncGenerator
from time import monotonic_ns
from typing import Final

from beforehand.protocols.core import Core
from beforehand.runtime import events
from beforehand.runtime.engine.engine import NOTICED, UNREAD, Engine
from beforehand.runtime.events import PeerEvent
from beforehand.runtime.identity.members import Members
from beforehand.runtime.settings import NodeSettings
from beforehand.runtime.transports.base import Address, Transport
from beforehand.runtime.waiters import Line, Receipts

TICK: Final = 1.0  # seconds: for cores with a timer, and for traces
HEARTBEATS: Final = 3  # signs of life that must be missing before a peer counts as silent
STALL: Final = 100_000_000  # ns: a timer that is so late says that this process stood still
MOST_EVENTS: Final = 1024  # that are kept for those who start to listen later


class Turns:
    """A node as its event loop sees it."""

    def __init__(self, settings: NodeSettings, core: Core, transport: Transport) -> None:
        self.name: Final = settings.name
        self.process: Final = core.process  # what the cores and traces call it
        self._settings = settings
        self._transport = transport
        self._engine = engine = Engine(
            *(core, self.name, settings.window, settings.window_bytes),
            settings.silent_after // HEARTBEATS,
        )
        casts = settings.capabilities.casts
        engine.unicasts = "unicast" in casts
        engine.multicasts = "multicast" in casts
        engine.broadcasts = "broadcast" in casts
        self._members = Members(engine, settings, transport, self._emit, os.urandom)
        self._senders: dict[str, Line] = {}
        self._readers = Line()
        self._receipts = Receipts()
        self._history: deque[PeerEvent] = deque(maxlen=MOST_EVENTS)
        self._listeners: list[asyncio.Queue[PeerEvent | None]] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        # Something will be written at the end of this turn. (Not before the start: nothing is planned.)
        self._planned = True
        # So it will, and nobody waits to send: then `send` has nothing to see to.
        self._ready = False
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = 0
        self._state = "new"  # then "open", "closing", "closed"

    def _begin(self) -> None:
        """The node is open."""
        self._planned = False
        if self._settings.capabilities.timer:
            self._tick()
        if self._engine.trace is not None:
            self._poke()
        self._plan()

    # ---- events ----

    async def events(self) -> AsyncGenerator[PeerEvent, None]:
        """What happens to peers, from the start of the node on, until it is closed."""
        queue: asyncio.Queue[PeerEvent | None] = asyncio.Queue()
        for past in self._history:
            queue.put_nowait(past)
        if self._state == "closed":
            queue.put_nowait(None)
        self._listeners.append(queue)
        try:
            while (event := await queue.get()) is not None:
                yield event
        finally:
            self._listeners.remove(queue)

    def _emit(self, event: PeerEvent) -> None:
        self._history.append(event)
        for listener in self._listeners:
            listener.put_nowait(event)

    def _trace_failed(self, problem: str) -> None:
        """Called by the thread that writes the trace."""
        assert self._loop is not None
        event = PeerEvent(events.TRACE_FAILED, self.name, problem)
        try:
            self._loop.call_soon_threadsafe(self._emit, event)
        except RuntimeError:  # the loop is closed already
            self._history.append(event)

    # ---- the turns of the loop ----

    def _received(self, datagrams: list[bytes], address: Address) -> None:
        now = monotonic_ns()
        self._engine.receive(datagrams, address, now)
        self._after(now)

    def _after(self, now: int) -> None:
        """The engine has worked: wake those who waited for it, then write, after they have run."""
        news = self._engine.news()
        if news > UNREAD:
            news = self._attend(news, now)
        if news and self._readers.waiting:
            self._readers.wake()
        if not self._planned:
            self._plan()

    def _attend(self, news: int, now: int) -> int:
        """See to what the engine has found, beside messages; what is left of the news."""
        if news & NOTICED:
            self._members.attend(now)
        if self._engine.eased:
            self._ease()
        return self._engine.news() & UNREAD

    def _ease(self) -> None:
        """Let those go on who waited for what has come."""
        eased, self._engine.eased = self._engine.eased, []
        for peer in eased:
            self._receipts.note(peer)
            self._wake_sender(peer.name)
        self._engine.watched = bool(self._senders) or bool(self._receipts)

    def _wake_sender(self, name: str) -> None:
        line = self._senders.get(name)
        if line:
            line.wake()

    def _plan(self) -> None:
        """Write at the end of this turn."""
        self._ready = self._state == "open" and not self._senders
        if self._planned:
            return
        assert self._loop is not None
        self._planned = True
        self._engine.now = monotonic_ns()
        self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        """The end of a turn."""
        self._planned = False
        self._ready = False
        if self._write() and self._settings.spin and not self._planned:
            self._transport.spin(self._settings.spin)

    def _write(self) -> bool:
        """Let everything go that may go now; whether there was something."""
        engine = self._engine
        if self._state == "closed":
            return False
        if self._transport.busy():
            self._arm(soon=True)
            return False
        written = engine.flush(monotonic_ns())
        for address, datagrams in written:
            self._transport.send(address, datagrams)
        if engine.later:
            engine.catch_up()
        news = engine.news()
        if news > UNREAD:
            news = self._attend(news, engine.now)
        if news and self._readers.waiting:  # messages to oneself
            self._readers.wake()
        if engine.dirty:
            self._plan()
        if self._timer is None or engine.next_timer() < self._timer_at:
            self._arm()
        return bool(written)

    def _flush_pending(self) -> None:
        self._engine.settle()

    def _arm(self, soon: bool = False) -> None:
        """See to it that the loop calls us when something is due."""
        assert self._loop is not None
        now = monotonic_ns()
        when = int(self._engine.next_timer())
        hello = self._members.introductions.poll(now)
        if hello and (not when or hello < when):
            when = hello
        if soon:
            when = now + 1_000_000
        if not when or self._state == "closed":
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
            self._engine.now = now
            self._engine.forgive(late)  # we were the silent ones: others could not be heard
        expired = self._engine.expire(now)
        self._members.watch(expired, now)
        self._after(now)
        self._arm()

    def _tick(self) -> None:
        """Cores with a timer of their own."""
        if self._state in ("open", "closing"):
            assert self._loop is not None
            now = monotonic_ns()
            self._engine.tick(now)
            self._after(now)
            self._loop.call_later(TICK, self._tick)

    def _poke(self) -> None:
        """Let the trace finish a part from time to time, so that a crash costs little of it."""
        if self._engine.trace is not None and self._state in ("open", "closing"):
            assert self._loop is not None
            self._engine.trace.poke(monotonic_ns())
            self._loop.call_later(TICK, self._poke)
