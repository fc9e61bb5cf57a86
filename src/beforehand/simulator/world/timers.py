"""Timers: the periodic ticks of the cores, and background tasks that a run need not wait for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from mypy_extensions import i64

from beforehand.simulator.world.event_queue import ScheduledEvent
from beforehand.simulator.world.open_messages import OpenMessages
from beforehand.simulator.world.processes import Process
from beforehand.simulator.world.random_streams import Stream
from beforehand.simulator.world.run_setup import RunSetup
from beforehand.simulator.world.transport import SimulatedTransport

PATIENCE: Final = 1000  # ticks without news before a run counts as stalled
ROUND_TRIP: Final = 2  # ways


class Tick(ScheduledEvent):
    """A core retransmits what may have been lost."""

    def __init__(self, timers: Timers, process: Process) -> None:
        super().__init__()
        self.timers = timers
        self.process = process

    def fire(self) -> None:
        self.timers.tick(self, self.process)


class BackgroundTask(ScheduledEvent):
    """Something that the end of a run need not wait for."""

    def __init__(self, timers: Timers, function: Callable[[], None]) -> None:
        super().__init__()
        self.timers = timers
        self.function = function

    def fire(self) -> None:
        self.timers.background -= 1
        self.function()


class Timers:
    """Ticks and background tasks, and whether anything else is ahead."""

    def __init__(
        self, setup: RunSetup, open_messages: OpenMessages, transport: SimulatedTransport
    ) -> None:
        self.background: i64 = 0  # tasks ahead
        self.ticks: i64 = 0  # ahead
        self._queue: Final = setup.queue
        self._population: Final = setup.population
        self._open_messages: Final = open_messages
        self._transport: Final = transport
        self._faults: Final = setup.faults
        self._tick_every: Final[i64] = setup.tick_every  # 0: never
        self._relays: Final = setup.overlay is not None

    def run_later(self, function: Callable[[], None], time: i64) -> None:
        """Call a function at a time, in the background."""
        self.background += 1
        self._queue.schedule(BackgroundTask(self, function), time)

    def application_idle(self) -> bool:
        """Whether the application has nothing ahead but reactions to deliveries."""
        return self._queue.pending == self.ticks + self.background + self._transport.pending()

    # ---- ticks ----

    def start(self, stream: Stream) -> None:
        """Start the ticks of all processes, spread over one period."""
        if self._tick_every:
            for process in self._population.present:
                self._schedule(Tick(self, process), stream.below(self._tick_every))

    def start_process(self, process: Process) -> None:
        """Start the ticks of one more process."""
        if self._tick_every:
            self._schedule(Tick(self, process), self._queue.now + self._tick_every)

    def wake(self) -> None:
        """Something has happened that may cause frames: processes that rest tick again."""
        now = self._queue.now
        self._open_messages.news_at = max(self._open_messages.news_at, now)
        for process in self._population.present:
            if not process.ticking and not process.stopped:
                self.start_process(process)

    def _schedule(self, event: Tick, time: i64) -> None:
        self.ticks += 1
        event.process.ticking = True
        self._queue.schedule(event, time)

    def tick(self, event: Tick, process: Process) -> None:
        """Let a core retransmit; go on until everything is delivered, or the run has stalled."""
        self.ticks -= 1
        process.ticking = False
        if process.stopped:
            return
        now = self._queue.now
        # Not before what it has sent can have been answered: where uplinks are slow that takes longer
        # than the delays suggest, and retransmitting too soon makes it take longer still.
        pause = max(self._tick_every, 2 * ROUND_TRIP * process.frame_age)
        if self.application_idle():
            waited = now - max(self._open_messages.news_at, self._faults.last_heal())
            if waited // PATIENCE > pause:
                return
            if self._open_messages.copies == 0 and self._settled(process):
                return
        if process.uplink_free_at > now:
            self._schedule(event, process.uplink_free_at + pause)
            return
        self._transport.carry_out(process, process.core.tick(now), process)
        self._schedule(event, now + pause)

    def _settled(self, process: Process) -> bool:
        """Whether a process may rest once everything that was sent is delivered.

        Where messages are relayed, those of a process that is gone may not have arrived everywhere,
        and copies that are news to nobody let others forget.
        """
        return not self._relays or process.core.unacknowledged() == 0
