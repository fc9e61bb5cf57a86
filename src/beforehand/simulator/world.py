"""The world of a run: time passes, things get lost, processes stop, and all is looked at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from mypy_extensions import i64

from beforehand.simulator.carrier import Carrier
from beforehand.simulator.contents import Contents
from beforehand.simulator.engine import Call, Event
from beforehand.simulator.faults import Faults, Stop
from beforehand.simulator.network import Network
from beforehand.simulator.records import NEVER, Process
from beforehand.simulator.watcher import Watcher
from beforehand.simulator.workload import Workload

PATIENCE: Final = 1000  # ticks without anything new before a run counts as stalled
ROUND_TRIP: Final = 2  # ways
SPARSEST: Final = 256  # events from one look inside a core to the next, in long runs
REPORT: Final = 1 << 14  # events from one report of progress to the next


class Tick(Event):
    """A process looks after what may have been lost."""

    def __init__(self, world: World, process: Process) -> None:
        super().__init__()
        self.world = world
        self.process = process

    def happen(self) -> None:
        self.world.tick(self, self.process)


class World(Carrier):
    """One run."""

    cut_short: bool  # by the time limit
    _tick_every: Final[i64]  # 0: never
    _ticking: i64  # ticks that are scheduled
    _stopping: i64  # stops and drops that are scheduled
    _looked: i64  # at how many cores, one after the other

    def __init__(
        self,
        processes: list[Process],
        contents: Contents,
        network: Network,
        faults: Faults,
        workload: Workload,
        watcher: Watcher | None,
        seed: int,
        split: bool,
        flush_after: i64,
        tick_every: i64,
    ) -> None:
        super().__init__(
            processes, contents, network, faults, workload, watcher, seed, split, flush_after
        )
        self.cut_short = False
        self._tick_every = tick_every
        self._ticking = 0
        self._stopping = 0
        self._looked = 0

    # ---- the run ----

    def start(self, stops: list[Stop]) -> None:
        """Let everybody begin."""
        if self._watcher is not None:
            for process in self.processes:
                self._watcher.started(process)
        for stop in stops:
            self._schedule_stop(stop)
        if self._tick_every:
            stream = self.stream("ticks")
            for process in self.processes:
                self._schedule_tick(Tick(self, process), stream.below(self._tick_every))
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
                under_way = engine.pending > self._ticking + self._stopping
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
            self._watcher.ended(self.processes, max(self.ended_at, engine.now))

    def _look(self) -> None:
        process = self.processes[self._looked % len(self.processes)]
        self._looked += 1
        if not process.stopped:
            self.meters.sample(process.core)

    # ---- the clock ----

    def _schedule_tick(self, event: Tick, time: i64) -> None:
        self._ticking += 1
        event.process.ticking = True
        self.engine.schedule(event, time)

    def _quiet(self) -> bool:
        """Whether the application has nothing ahead but what deliveries will make it do."""
        others = self._ticking + self._stopping + self.arriving + len(self._flushing)
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
            if self.open == 0 or waited // PATIENCE > pause:
                return
        if process.uplink_free_at > now:
            self._schedule_tick(event, process.uplink_free_at + pause)
            return
        self.carry(process, process.core.tick(now), process)
        self._schedule_tick(event, now + pause)

    def _wake_clocks(self) -> None:
        """Something has happened that may go lost."""
        self.news_at = max(self.news_at, self.engine.now)
        if self._tick_every:
            for process in self.processes:
                if not process.ticking and not process.stopped:
                    self._schedule_tick(Tick(self, process), self.engine.now + self._tick_every)

    # ---- those who are gone ----

    def _schedule_stop(self, stop: Stop) -> None:
        process = self.by_name[stop.process]
        self._stopping += 1
        self.engine.schedule(Call(lambda: self._stop(process)), stop.time)
        if stop.dropped_at != NEVER:
            self._stopping += 1
            self.engine.schedule(Call(lambda: self._drop(process)), stop.dropped_at)

    def _stop(self, gone: Process) -> None:
        """A process takes no step any more; what is for it, or still inside it, is given up."""
        self._stopping -= 1
        gone.stopped = True
        self.anybody_stopped = True
        if self._watcher is not None:
            self._watcher.stopped(gone, self.engine.now)
        for process in self.processes:
            for message in process.open_messages():
                if process is gone:
                    for copy in message.copies():
                        if copy.released_at < 0 and not copy.closed:
                            self.give_up(copy)
                else:
                    sole = message.copy_to(gone)
                    if sole is not None and not sole.closed:
                        self.give_up(sole)

    def _drop(self, gone: Process) -> None:
        """The others give up on a process that has stopped."""
        now = self.engine.now
        self._stopping -= 1
        for message in gone.open_messages():
            for copy in message.copies():
                if not copy.closed:
                    self.give_up(copy)
        for process in self.processes:
            if not process.stopped:
                if self._watcher is not None:
                    self._watcher.evicted(process, gone, now)
                self.carry(process, process.core.drop(gone.name, now), process)
        for process in self.processes:
            if not process.stopped:
                self._workload.dropped(process, gone)
        self._wake_clocks()
