"""One run: its parts, wired together, and the loop that fires events until nothing is left to do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from mypy_extensions import i64

from beforehand.simulator.measures.instruments import SeriesPoint, ratio
from beforehand.simulator.measures.meters import Meters
from beforehand.simulator.overlays.dynamics import OverlayDynamics
from beforehand.simulator.workloads.message_sizes import MessageSizes
from beforehand.simulator.workloads.workload import Workload
from beforehand.simulator.world.application import Application
from beforehand.simulator.world.event_queue import TimingWheel
from beforehand.simulator.world.faults import FaultPlan, Stop
from beforehand.simulator.world.lifecycle import Lifecycle
from beforehand.simulator.world.network import Network
from beforehand.simulator.world.observers import Observer
from beforehand.simulator.world.open_messages import OpenMessages
from beforehand.simulator.world.processes import Population, Process
from beforehand.simulator.world.timers import Timers
from beforehand.simulator.world.transport import SimulatedTransport

MAX_SAMPLING_GAP: Final = 256  # events from one measurement of a core to the next, in long runs
PROGRESS_EVERY: Final = 1 << 14  # events from one progress report to the next
SECOND: Final = 10**9  # nanoseconds


class Simulation:
    """The parts of a run: every one has a public face, none is subclassed."""

    queue: Final[TimingWheel]
    population: Final[Population]
    meters: Final[Meters]
    open_messages: Final[OpenMessages]
    transport: Final[SimulatedTransport]
    application: Final[Application]
    timers: Final[Timers]
    lifecycle: Final[Lifecycle]
    overlay: Final[OverlayDynamics | None]
    cut_short: bool  # by the time limit
    _workload: Final[Workload]
    _network: Final[Network]
    _observer: Final[Observer | None]
    _broadcasts: Final[bool]  # the protocol can send to everybody
    _sample_every: Final[i64]  # 0: never
    _control_at_sample: i64  # control frames received up to the last sample
    _cores_measured: i64

    def __init__(
        self,
        processes: list[Process],
        workload: Workload,
        *,
        sizes: MessageSizes,
        network: Network,
        faults: FaultPlan,
        overlay: OverlayDynamics | None,
        observer: Observer | None,
        seed: int,
        casts: Sequence[str],
        split: bool,
        flush_after: i64,
        tick_every: i64,
        sample_every: i64,
    ) -> None:
        relays = overlay is not None
        self.queue = queue = TimingWheel()
        self.population = population = Population(processes)
        self.meters = meters = Meters()
        self.open_messages = opened = OpenMessages(queue, population, meters, observer)
        self.transport = transport = SimulatedTransport(
            queue,
            population,
            opened,
            meters,
            network=network,
            faults=faults,
            observer=observer,
            flush_after=flush_after,
        )
        self.application = Application(
            queue,
            population,
            opened,
            transport,
            meters,
            workload=workload,
            sizes=sizes,
            observer=observer,
            seed=seed,
            casts=casts,
            split=split,
            relays=relays,
        )
        transport.connect(self.application, overlay)
        self.timers = Timers(
            queue,
            population,
            opened,
            transport,
            faults=faults,
            tick_every=tick_every,
            relays=relays,
        )
        self.lifecycle = Lifecycle(
            queue,
            population,
            opened,
            transport,
            self.timers,
            workload=workload,
            observer=observer,
            relays=relays,
        )
        self.overlay = overlay
        self.cut_short = False
        self._workload = workload
        self._network = network
        self._observer = observer
        self._broadcasts = "broadcast" in casts
        self._sample_every = sample_every
        self._control_at_sample = 0
        self._cores_measured = 0

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
            stream = self.application.stream("overlay/changes")
            self.overlay.start(
                self.queue, self.population, self.transport, self.timers, self.lifecycle, stream
            )
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
        if self._observer is not None:
            ended_at = max(meters.ended_at, queue.now)
            self._observer.ended(self.population.processes, self.cut_short, ended_at)

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
        total = 0
        most = 0
        for process in present:
            entries = process.core.entries()
            total += entries
            most = max(most, entries)
        received = int(meters.control_received - self._control_at_sample)
        self._control_at_sample = meters.control_received
        period = int(self._sample_every)
        meters.series.append(
            SeriesPoint(
                time_ns=int(now),
                processes=len(present),
                entries=ratio(total, len(present)),
                most_entries=most,
                control_per_second=ratio(received * SECOND, len(present) * period) if now else 0.0,
                delivered=int(meters.delivered),
                delay_ns=int(self._network.typical(now)),
            )
        )
        if now == 0 or self.queue.pending > self.timers.background:
            self.timers.run_later(self._sample, now + self._sample_every)

    def links_opened(self) -> int:
        """Links that came into use during the run."""
        return 0 if self.overlay is None else int(self.overlay.opened)

    def links_closed(self) -> int:
        """Links that were closed by choice."""
        return 0 if self.overlay is None else int(self.overlay.closed)

    def frames_ignored(self) -> int:
        """Frames that came out of turn, where links come and go."""
        return sum([process.core.ignored_frames() for process in self.population.processes])
