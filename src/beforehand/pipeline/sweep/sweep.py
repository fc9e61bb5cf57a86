"""A sweep as a whole: the missing runs of a grid, wave by wave, the most expensive ones first."""

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from beforehand import simulator
from beforehand.errors import PipelineError
from beforehand.pipeline.engine import PipelineEngine, WorkerLostError
from beforehand.pipeline.polling import polling
from beforehand.pipeline.provenance import engine_provenance
from beforehand.pipeline.sweep.costs import GUESS, by_cost, cost, first_wave
from beforehand.pipeline.sweep.grid import Grid, Point, Skipped, SweepPlan, plan
from beforehand.pipeline.sweep.job import WaveJob, point_row
from beforehand.pipeline.sweep.programs import with_programs
from beforehand.pipeline.sweep.schemas import RESULTS
from beforehand.pipeline.sweep.tasks import Simulate
from beforehand.pipeline.sweep.waves import Wave, Waves

WAVE_SECONDS: Final = 20.0  # per wave: roughly what a killed sweep loses at most
FIRST_SECONDS: Final = 5.0  # for the first one, before anything is measured
_POLL_INTERVAL: Final = 0.2  # seconds
_NAMES: Final = ("workload", "network", "setting")  # a run's names in its grid


@dataclass(frozen=True)
class SweepProgress:
    """The progress of a sweep."""

    total: int
    done: int  # including failed and reused ones
    failed: int
    seconds_left: float | None  # an estimate; None before the first wave

    @property
    def remaining(self) -> int:
        """Runs that aren't done yet."""
        return self.total - self.done


@dataclass(frozen=True)
class SweepResult:
    """The outcome of a sweep."""

    results: pa.Table  # one row of RESULTS for each point of the grid
    done: int  # runs of this sweep
    failed: int  # failed runs, which have no figures
    reused: int  # runs that were complete already
    skipped: tuple[Skipped, ...]  # combinations that cannot be run
    traces: tuple[str, ...]  # folders with the events, if requested


def prepare(engine: PipelineEngine, grid: Grid) -> SweepPlan:
    """Read the programs of a grid, check it and name its runs."""
    return plan(with_programs(engine, grid))


def run_sweep(
    engine: PipelineEngine,
    grid: Grid | SweepPlan,
    out: str,
    *,
    traces: bool = False,
    audit: bool = False,
    progress: Callable[[SweepProgress], None] | None = None,
    wave_seconds: float = WAVE_SECONDS,
    simulate: Simulate = simulator.run,
    command: str = "",
    run_command: Callable[[Point], str] = lambda point: "",
) -> SweepResult:
    """Run what is missing of a grid in the folder `out`, and return the results of the whole grid.

    Runs are missing if they weren't done, failed, or lack the requested `traces` or `audit`. Only one
    sweep at a time may write into a folder. Its notes record `command`, the command line for the whole
    grid, and for each run what `run_command` returns: the one for that run alone.
    """
    engine.storage.check_output(out)
    planned = prepare(engine, grid) if isinstance(grid, Grid) else grid
    waves = Waves(engine, out)
    waves.tidy()
    sweep = _Sweep(
        engine,
        waves,
        planned,
        simulate,
        traces,
        audit,
        progress,
        command=command,
        run_command=run_command,
    )
    sweep.run(wave_seconds)
    return sweep.result()


def stored(engine: PipelineEngine, out: str) -> SweepResult:
    """All results in a folder, whatever their grids."""
    waves = Waves(engine, out)
    if not waves.complete:
        raise PipelineError(f"{out}: no results of a sweep there; run one first")
    owners = waves.owners()
    failed = sum(run in wave.failed for run, wave in owners.items())
    traces = {waves.traces(wave.name) for wave in waves.traced().values()}
    return SweepResult(waves.stored(), 0, failed, len(owners), (), tuple(sorted(traces)))


@dataclass
class _Sweep:
    """One call of run_sweep."""

    engine: PipelineEngine
    waves: Waves
    planned: SweepPlan
    simulate: Simulate
    traces: bool
    audit: bool
    progress: Callable[[SweepProgress], None] | None
    command: str
    run_command: Callable[[Point], str]
    done: int = 0
    failed: int = 0
    per_unit: float | None = None  # measured seconds of a slot per unit of cost

    def __post_init__(self) -> None:
        self.points = {point.run: point for point in self.planned.points}
        missing = self._missing()
        self.todo = by_cost([point for point in self.points.values() if point.run in missing])
        self.reused = len(self.points) - len(self.todo)
        programs = [p.scenario.program for p in self.todo if p.scenario.program is not None]
        self.job = WaveJob(self.engine, programs, self.audit, self.simulate)

    def _missing(self) -> set[str]:
        """Runs that weren't done, failed, or lack what is requested now."""
        owners, traced = self.waves.owners(), self.waves.traced()
        good = {
            run
            for run, wave in owners.items()
            if (wave.audited or not self.audit) and (run in traced or not self.traces)
        }
        for wave in self.waves.complete:
            good -= {run for run in wave.failed if owners[run] is wave}
        return set(self.points) - good

    def run(self, wave_seconds: float) -> None:
        """Run all waves."""
        self._report(0, 0)
        seconds = min(FIRST_SECONDS, wave_seconds)
        while self.todo:
            count = first_wave(self.todo, seconds, self.per_unit or GUESS, self.engine.slots)
            points, self.todo = self.todo[:count], self.todo[count:]
            began = time.monotonic()
            self._attempt(points)
            spent = (time.monotonic() - began) * self.engine.slots
            self.per_unit = spent / sum(cost(point.scenario) for point in points)
            seconds = wave_seconds
            self._report(0, 0)

    def _attempt(self, points: Sequence[Point]) -> None:
        """Run one wave. If it kills workers, bisect for the runs that do, and let the others finish."""
        try:
            self._wave(points)
        except WorkerLostError as problem:
            if len(points) == 1:
                self._give_up(points[0], problem)
                return
            half = len(points) // 2
            self._attempt(points[:half])
            self._attempt(points[half:])

    def _wave(self, points: Sequence[Point]) -> None:
        name = self.waves.new_name()
        have = self.waves.traced()
        traced = [point.run for point in points if self.traces and point.run not in have]
        try:
            with self._polled():
                self.job.run(
                    points,
                    self.per_unit or GUESS,
                    name,
                    self.waves.results(name),
                    self.waves.traces(name) if traced else None,
                    traced,
                )
        except BaseException:
            self.waves.discard(name)
            raise
        failed = self.waves.failed(name)
        self._add(name, points, failed, [run for run in traced if run not in failed])

    def _give_up(self, point: Point, problem: Exception) -> None:
        """Record the failure of a run whose worker died."""
        name = self.waves.new_name()
        row = {**point_row(point), "wave": name, "error": f"the worker was lost: {problem}"}
        table = pa.Table.from_pylist([row], schema=RESULTS)
        self.engine.table(table).write(self.waves.results(name))
        self._add(name, [point], [point.run], [])

    def _add(
        self, name: str, points: Sequence[Point], failed: list[str], traced: list[str]
    ) -> None:
        runs = [point.run for point in points]
        origin = engine_provenance(self.engine, self.command)
        commands = {point.run: command for point in points if (command := self.run_command(point))}
        self.waves.add(Wave(name, runs, failed, traced, self.audit, commands=commands, **origin))
        self.done += len(points)
        self.failed += len(failed)

    def _report(self, done: int, failed: int) -> None:
        """Report progress; `done` and `failed` count runs of the current wave."""
        if self.progress is None:
            return
        total = len(self.points)
        so_far = min(total, self.reused + self.done + done)
        left = None
        if self.per_unit is not None:
            rest = sum(cost(point.scenario) for point in self.todo)
            left = rest * self.per_unit / self.engine.slots
        self.progress(SweepProgress(total, so_far, self.failed + failed, left))

    def _polled(self) -> AbstractContextManager[None]:
        """Report the progress of the next job while it runs."""
        self.job.begin()

        def poll() -> bool:
            self._report(*self.job.progress())
            return self.progress is not None

        return polling(poll, _POLL_INTERVAL)

    def result(self) -> SweepResult:
        """The outcome after all waves."""
        stored = self.waves.stored()
        rows = {run: row for row, run in enumerate(stored["run"].to_pylist())}
        points = self.planned.points  # two of them may be one run
        mine = stored.take(pa.array([rows[point.run] for point in points], pa.int64()))
        for name in _NAMES:  # those of this grid
            index = mine.schema.get_field_index(name)
            values = pa.array([getattr(point, name) for point in points], pa.string())
            mine = mine.set_column(index, mine.schema.field(index), values)
        have = self.waves.traced()
        folders = {self.waves.traces(have[run].name) for run in self.points if run in have}
        return SweepResult(
            results=mine.sort_by("run"),
            done=self.done,
            failed=self.failed,
            reused=self.reused,
            skipped=self.planned.skipped,
            traces=tuple(sorted(folders)) if self.traces else (),
        )
