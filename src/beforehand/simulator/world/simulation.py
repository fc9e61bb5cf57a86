"""One run: its parts, wired together, and the loop that fires events until nothing is left to do."""

from collections.abc import Callable
from typing import Final

from mypy_extensions import i64

from beforehand.simulator.measures.instruments import SeriesPoint, ratio
from beforehand.simulator.world.application import Application
from beforehand.simulator.world.faults import Stop
from beforehand.simulator.world.lifecycle import Lifecycle
from beforehand.simulator.world.open_messages import OpenMessages
from beforehand.simulator.world.run_setup import RunSetup
from beforehand.simulator.world.timers import Timers
from beforehand.simulator.world.transport import SimulatedTransport

MAX_SAMPLING_GAP: Final = 256  # events from one measurement of a core to the next, in long runs
PROGRESS_EVERY: Final = 1 << 14  # events from one progress report to the next
SECOND: Final = 10**9  # nanoseconds


class Simulation:
    """The parts of a run: every one has a public face, none is subclassed."""

    def __init__(self, setup: RunSetup) -> None:
        self.cut_short: bool = False  # by the time limit
        self._control_at_sample: i64 = 0  # control frames received up to the last sample
        self._cores_measured: i64 = 0
        self.queue: Final = setup.queue
        self.population: Final = setup.population
        self.meters: Final = setup.meters
        self.overlay: Final = setup.overlay
        self.open_messages: Final = OpenMessages(setup)
        self.transport: Final = SimulatedTransport(setup, self.open_messages)
        self.application: Final = Application(setup, self.open_messages, self.transport)
        self.transport.application = self.application
        self.timers: Final = Timers(setup, self.open_messages, self.transport)
        self.lifecycle: Final = Lifecycle(setup, self.open_messages, self.transport, self.timers)
        self._workload: Final = setup.workload
        self._network: Final = setup.network
        self._observer: Final = setup.observer
        self._broadcasts: Final = "broadcast" in setup.casts
        self._sample_every: Final[i64] = setup.sample_every  # 0: never

    # ---- the run ----

    def start(self, stops: list[Stop]) -> None:
        """Schedule everything that happens by itself."""
        if self._observer is not None:
            for process in self.population.present:
                self._observer.started(process)
        for stop in stops:
            self.lifecycle.schedule(stop)
        self.timers.start(self.application.stream("ticks"))
        if self._sample_every:
            self._sample()
        if self.overlay is not None:
            self.overlay.start(self)
        self._workload.start(self.application)

    def run(self, until: i64, progress: Callable[[int], None] | None) -> None:
        """Fire events until none is left, or until a time; report the number of messages sent."""
        queue = self.queue
        measure_at: i64 = 1
        report_at: i64 = PROGRESS_EVERY
        while True:
            event = queue.pop()
            if event is None:
                break
            if event.time > until:
                queue.undo_pop(event, until)
                under_way = queue.pending > self.timers.ticks + self.timers.background
                self.cut_short = self.open_messages.copies > 0 or under_way
                break
            event.fire()
            if queue.fired >= measure_at:
                # Densely at first, for short runs, then sparsely, for long ones.
                measure_at = queue.fired + min(MAX_SAMPLING_GAP, 1 + (queue.fired >> 10))
                self._measure_core()
            if queue.fired >= report_at:
                report_at += PROGRESS_EVERY
                if progress is not None:
                    progress(int(self.meters.sent))
        meters = self.meters
        if self.cut_short or meters.ended_at > until:  # a job may last longer than all events
            self.cut_short = True
            meters.ended_at = until
        queue.now = max(meters.ended_at, queue.now)
        if self._observer is not None:
            self._observer.ended(self.population.processes, self.cut_short)

    # ---- measurements ----

    def _measure_core(self) -> None:
        """Measure one core, each in turn."""
        present = self.population.present
        process = present[self._cores_measured % len(present)]
        self._cores_measured += 1
        if not process.stopped:
            self.meters.sample(process.core, self._broadcasts)

    def _sample(self) -> None:
        """Add a point to the time series, now and periodically."""
        now = self.queue.now
        meters = self.meters
        present = [process for process in self.population.present if not process.stopped]
        entries = [process.core.entries() for process in present]
        received = int(meters.control_received - self._control_at_sample)
        self._control_at_sample = meters.control_received
        period = int(self._sample_every)
        meters.series.append(
            SeriesPoint(
                time_ns=int(now),
                processes=len(present),
                entries=ratio(sum(entries), len(present)),
                most_entries=max(entries, default=0),
                control_per_second=ratio(received * SECOND, len(present) * period) if now else 0.0,
                delivered=int(meters.delivered),
                delay_ns=int(self._network.typical(now)),
            )
        )
        if now == 0 or self.queue.pending > self.timers.background:
            self.timers.run_later(self._sample, now + self._sample_every)
