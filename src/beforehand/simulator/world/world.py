"""The world of a run: time passes, things get lost, processes stop, and all is looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from mypy_extensions import i64

from beforehand.simulator.measures.instruments import Moment, ratio
from beforehand.simulator.overlays.dynamics import Overlay
from beforehand.simulator.workloads.message_sizes import Contents
from beforehand.simulator.workloads.workload import Workload
from beforehand.simulator.world.engine import Event
from beforehand.simulator.world.faults import Faults, Stop
from beforehand.simulator.world.network import Network
from beforehand.simulator.world.observers import Watcher
from beforehand.simulator.world.processes import NEVER, Process
from beforehand.simulator.world.transport import Carrier

PATIENCE: Final = 1000  # ticks without anything new before a run counts as stalled
ROUND_TRIP: Final = 2  # ways
SPARSEST: Final = 256  # events from one look inside a core to the next, in long runs
SECOND: Final = 10**9  # nanoseconds
REPORT: Final = 1 << 14  # events from one report of progress to the next


class Tick(Event):
    """A process looks after what may have been lost."""

    def __init__(self, world: World, process: Process) -> None:
        super().__init__()
        self.world = world
        self.process = process

    def happen(self) -> None:
        self.world.tick(self, self.process)


class Background(Event):
    """Something that the end of a run need not wait for."""

    def __init__(self, world: World, function: Callable[[], None]) -> None:
        super().__init__()
        self.world = world
        self.function = function

    def happen(self) -> None:
        self.world.background -= 1
        self.function()


class World(Carrier):
    """One run."""

    cut_short: bool  # by the time limit
    background: i64  # things ahead that the run need not wait for, besides ticks
    _tick_every: Final[i64]  # 0: never
    _sample_every: Final[i64]  # 0: never
    _sampled: i64  # control frames received, at the last sample
    _ticking: i64  # ticks that are scheduled
    _looked: i64  # at how many cores, one after the other

    def __init__(
        self,
        processes: list[Process],
        contents: Contents,
        network: Network,
        faults: Faults,
        overlay: Overlay | None,
        workload: Workload,
        watcher: Watcher | None,
        seed: int,
        split: bool,
        casts: Sequence[str],
        flush_after: i64,
        tick_every: i64,
        sample_every: i64,
    ) -> None:
        super().__init__(
            processes,
            contents,
            network,
            faults,
            overlay,
            workload,
            watcher,
            seed,
            split,
            casts,
            flush_after,
        )
        self.cut_short = False
        self.background = 0
        self._tick_every = tick_every
        self._sample_every = sample_every
        self._sampled = 0
        self._ticking = 0
        self._looked = 0

    # ---- the run ----

    def start(self, stops: list[Stop]) -> None:
        """Let everybody begin."""
        if self._watcher is not None:
            for process in self.present:
                self._watcher.started(process)
        for stop in stops:
            self._schedule_stop(stop)
        if self._tick_every:
            stream = self.stream("ticks")
            for process in self.present:
                self._schedule_tick(Tick(self, process), stream.below(self._tick_every))
        if self._sample_every:
            self._sample()
        if self._overlay is not None:
            self._overlay.start(self)
        self._workload.start(self)

    def run(self, until: i64, progress: Callable[[int], None] | None) -> None:
        """Let everything happen until nothing is left, or until a time; report messages sent."""
        engine = self.engine
        look_at: i64 = 1
        report_at: i64 = REPORT
        while True:
            event = engine.next()
            if event is None:
                break
            if event.time > until:
                engine.put_back(event, until)
                under_way = engine.pending > self._ticking + self.background
                self.cut_short = self.open > 0 or under_way
                break
            event.happen()
            if engine.happened >= look_at:
                # Densely at first, for short runs, and then sparsely, for the long ones.
                look_at = engine.happened + min(SPARSEST, 1 + (engine.happened >> 10))
                self._look()
            if engine.happened >= report_at:
                report_at += REPORT
                if progress is not None:
                    progress(int(self.meters.sent))
        if self.cut_short or self.ended_at > until:  # a job may last longer than all events
            self.cut_short = True
            self.ended_at = until
        if self._watcher is not None:
            self._watcher.ended(self.processes, self.cut_short, max(self.ended_at, engine.now))

    def _look(self) -> None:
        process = self.present[self._looked % len(self.present)]
        self._looked += 1
        if not process.stopped:
            self.meters.sample(process.core, self._broadcasts)

    def links_opened(self) -> int:
        """How many links came into use."""
        return 0 if self._overlay is None else int(self._overlay.opened)

    def links_closed(self) -> int:
        """How many were closed by choice."""
        return 0 if self._overlay is None else int(self._overlay.closed)

    def frames_ignored(self) -> int:
        """How many frames came out of turn, where links come and go."""
        return sum([process.core.ignored_frames() for process in self.processes])

    def _sample(self) -> None:
        """See how things stand, now and regularly."""
        now = self.engine.now
        present = [process for process in self.present if not process.stopped]
        total = 0
        most = 0
        for process in present:
            entries = process.core.entries()
            total += entries
            most = max(most, entries)
        received = int(self.meters.control_received - self._sampled)
        self._sampled = self.meters.control_received
        rate = ratio(received * SECOND, len(present) * int(self._sample_every)) if now else 0.0
        mean = ratio(total, len(present))
        self.meters.series.append(
            Moment(
                int(now),
                len(present),
                mean,
                most,
                rate,
                int(self.meters.delivered),
                int(self._network.typical(now)),
            )
        )
        if now == 0 or self.engine.pending > self.background:
            self.in_background(self._sample, now + self._sample_every)

    def in_background(self, function: Callable[[], None], time: i64) -> None:
        self.background += 1
        self.engine.schedule(Background(self, function), time)

    def idle(self) -> bool:
        return self._quiet()

    # ---- the clock ----

    def _schedule_tick(self, event: Tick, time: i64) -> None:
        self._ticking += 1
        event.process.ticking = True
        self.engine.schedule(event, time)

    def _quiet(self) -> bool:
        """Whether the application has nothing ahead but what deliveries will make it do."""
        others = self._ticking + self.background + self.arriving + len(self._flushing)
        return self.engine.pending == others

    def tick(self, event: Tick, process: Process) -> None:
        """Let a core send again what may be lost; go on until all is done, or all hope is lost."""
        self._ticking -= 1
        process.ticking = False
        if process.stopped:
            return
        now = self.engine.now
        # Not before what it has sent can have been answered: where uplinks are slow that takes longer
        # than the delays say, and what is sent again too soon makes it take longer still.
        pause = max(self._tick_every, 2 * ROUND_TRIP * process.age)
        if self._quiet():
            waited = now - max(self.news_at, self._faults.last_heal())
            if waited // PATIENCE > pause or (self.open == 0 and self._settled(process)):
                return
        if process.uplink_free_at > now:
            self._schedule_tick(event, process.uplink_free_at + pause)
            return
        self.carry(process, process.core.tick(now), process)
        self._schedule_tick(event, now + pause)

    def _settled(self, process: Process) -> bool:
        """Whether a process may rest when all that was sent is delivered.

        Where messages are passed on, those of somebody who is gone may not have come everywhere,
        and copies that are no news to anybody let others forget.
        """
        return self._overlay is None or process.core.unacknowledged() == 0

    def _wake_clocks(self) -> None:
        """Something has happened that may go lost."""
        self.news_at = max(self.news_at, self.engine.now)
        if self._tick_every:
            for process in self.present:
                if not process.ticking and not process.stopped:
                    self._schedule_tick(Tick(self, process), self.engine.now + self._tick_every)

    # ---- those who are gone ----

    def _schedule_stop(self, stop: Stop) -> None:
        process = self.by_name[stop.process]
        self.in_background(lambda: self.depart(process, True), stop.time)
        if stop.dropped_at != NEVER:
            self.in_background(lambda: self._drop(process), stop.dropped_at)

    def depart(self, process: Process, crashed: bool) -> None:
        """A process takes no step any more; what is for it, or still inside it, is given up."""
        process.stopped = True
        self.anybody_stopped = True
        for message in process.open_messages():
            self.open -= message.waiting
            self.orphans += message.waiting
        self.present = [each for each in self.present if each is not process]
        if self._watcher is not None:
            self._watcher.stopped(process, "crashed" if crashed else "left", self.engine.now)
        for other in self.processes:
            for message in other.open_messages():
                if other is process:
                    for copy in message.copies():
                        if copy.released_at < 0 and not copy.closed:
                            self.give_up(copy)
                sole = message.copy_to(process)
                if sole is not None and not sole.closed:
                    self.give_up(sole)

    def arrive_new(self, process: Process) -> None:
        if self._watcher is not None:
            self._watcher.started(process, self.engine.now, "joined")
        if self._tick_every:
            self._schedule_tick(Tick(self, process), self.engine.now + self._tick_every)

    def _drop(self, gone: Process) -> None:
        """The others give up on a process that has stopped."""
        now = self.engine.now
        if self._overlay is None:  # where messages are passed on, they may yet get everywhere
            for message in gone.open_messages():
                for copy in message.copies():
                    if not copy.closed:
                        self.give_up(copy)
        for process in self.processes:
            if process.present and not process.stopped:
                if self._watcher is not None:
                    self._watcher.evicted(process, gone, now)
                self.carry(process, process.core.drop(gone.name, now), process)
        for process in self.processes:
            if process.present and not process.stopped:
                self._workload.dropped(process, gone)
        self._wake_clocks()
