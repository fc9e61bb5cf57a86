"""Sweeps on both engines: the simulator's numbers, every run exactly once, and no partial results."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from beforehand.errors import PipelineError
from beforehand.pipeline.engine import LocalEngine, PipelineEngine
from beforehand.pipeline.engine.spark import SparkEngine
from beforehand.pipeline.replay import program_of
from beforehand.pipeline.schemas import EVENTS
from beforehand.pipeline.sweep import RESULTS, Grid, SweepProgress, SweepResult, run_sweep, stored
from beforehand.pipeline.sweep.columns import measured
from beforehand.pipeline.sweep.grid import Point, plan
from beforehand.pipeline.sweep.job import point_row
from beforehand.pipeline.sweep.programs import with_programs
from beforehand.pipeline.sweep.waves import Waves
from beforehand.simulator import Result, Scenario, run
from beforehand.trace import Recorder
from beforehand.trace.recorder import Columns, Sink
from tests.pipeline.sweep.samples import calls, write

SIX = ("hybrid", "hybrid-sps", "mattern", "cykas", "rst", "ks")
SMALL = Grid(("hybrid", "rst"), processes=(4,), seed=(1, 2), fields={"messages": (5,)})
NONDETERMINISTIC = {"seconds", "wave"}  # columns that do not depend on the scenario alone


def rows(results: pa.Table) -> list[dict[str, Any]]:
    """All rows, sorted, without the columns that differ from sweep to sweep."""
    comparable = results.drop_columns(sorted(NONDETERMINISTIC)).to_pylist()
    return sorted(comparable, key=lambda row: (row["run"], row["network"], row["workload"]))


def row_without_engine(point: Point, audit: bool = False) -> dict[str, Any]:
    """The row of a point, from a run without an engine."""
    row = {**point_row(point), **measured(run(point.scenario, audit=audit))}
    return {name: row[name] for name in RESULTS.names if name not in NONDETERMINISTIC}


def expected(grid: Grid, audit: bool = False) -> list[dict[str, Any]]:
    """The rows that a sweep must produce, run by run without an engine."""
    separate = [row_without_engine(point, audit) for point in plan(grid).points]
    return sorted(separate, key=lambda row: (row["run"], row["network"], row["workload"]))


def runs_with_events(swept: SweepResult) -> set[str]:
    """The runs whose events are stored, none of them twice."""
    events = pa.concat_tables([pq.read_table(folder) for folder in swept.traces]).to_pylist()
    names = Counter((event["run"], event["process"], event["seq"]) for event in events)
    assert max(names.values()) == 1
    return {run for run, _, _ in names}


class EventList(Sink):
    """Keeps the events of a run as tuples."""

    def __init__(self) -> None:
        self.events: list[tuple[Any, ...]] = []

    def write(self, columns: Columns) -> None:
        names = EVENTS.names[1:]
        self.events += zip(*(getattr(columns, name) for name in names), strict=True)

    def close(self) -> None:
        pass


def test_six_protocols_on_ingested_and_generated_workloads(
    engine: PipelineEngine, tmp_path: Path
) -> None:
    """Every figure equals that of the same scenario run without an engine; the audit is clean."""
    write(engine, str(tmp_path / "in"), [*calls("one", 1), *calls("two", 2)])
    workload = f"replay:{tmp_path / 'in'}"
    grid = Grid(
        SIX,
        (workload, "uniform:3"),
        ("mobile",),
        (6,),
        fields={"messages": (5,), "sample": ("50ms",)},
    )
    out = str(tmp_path / "out")
    swept = run_sweep(engine, grid, out, audit=True, traces=True)
    programs = {
        f"{workload}#{name}": program_of(calls(name, n)) for name, n in (("one", 1), ("two", 2))
    }
    resolved = replace(grid, workload=(*programs, "uniform:3"), programs=programs)
    results = rows(swept.results)
    assert results == expected(resolved, audit=True)
    assert len(results) == swept.done == len(SIX) * 3
    assert {row["outcome"] for row in results} == {"complete"}
    assert {row["violations"] for row in results} == {0}
    assert all(row["series"] for row in results)
    # The events, too, equal those that a recorder is given without an engine.
    events = engine.read(swept.traces, EVENTS).collect().to_pylist()
    assert {event["run"] for event in events} == {row["run"] for row in results}
    point = plan(resolved).points[0]
    with Recorder(point.run, sink := EventList()) as recorder:
        run(point.scenario, recorder=recorder)
    recorded = [tuple(e.values())[1:] for e in events if e["run"] == point.run]
    direct = [(*e[:5], None if e[5] is None else list(e[5]), *e[6:]) for e in sink.events]
    assert sorted(recorded, key=lambda e: e[:2]) == sorted(direct, key=lambda e: e[:2])


def test_only_missing_runs_are_done(engine: PipelineEngine, tmp_path: Path) -> None:
    """A repeated sweep does nothing, another grid adds its own runs, and each returns only its rows."""
    out = str(tmp_path)
    first = run_sweep(engine, SMALL, out)
    assert (first.done, first.reused, first.failed) == (4, 0, 0)
    again = run_sweep(engine, SMALL, out)
    assert (again.done, again.reused) == (0, 4)
    assert rows(again.results) == rows(first.results) == expected(SMALL)
    other = replace(SMALL, protocol=("rst", "mattern"))
    added = run_sweep(engine, other, out)
    assert (added.done, added.reused) == (2, 2)
    assert rows(added.results) == expected(other)
    assert rows(stored(engine, out).results) == expected(
        replace(SMALL, protocol=("hybrid", "rst", "mattern"))
    )


def test_runs_are_repeated_if_traces_or_an_audit_are_missing(
    engine: PipelineEngine, tmp_path: Path
) -> None:
    """No event is duplicated, and the results are those of the last sweep."""
    out = str(tmp_path)
    run_sweep(engine, replace(SMALL, seed=(1,)), out, traces=True)
    swept = run_sweep(engine, SMALL, out, traces=True, audit=True)
    assert (swept.done, swept.reused) == (4, 0)
    assert rows(swept.results) == expected(SMALL, audit=True)
    assert len(swept.traces) == 2
    assert len(runs_with_events(swept)) == 4
    plain = run_sweep(engine, SMALL, out)
    assert (plain.done, plain.reused, plain.traces) == (0, 4, ())


KILLED = """
import sys
from beforehand.pipeline.engine import LocalEngine
from beforehand.pipeline.sweep import Grid, run_sweep
grid = Grid(("hybrid", "rst"), processes=(4,), seed=range(1, 16), fields={"messages": (5,)})
if sys.argv[2] == "local":
    engine = LocalEngine(workers=1)
else:
    from beforehand.pipeline.engine.spark import SparkEngine
    engine = SparkEngine("local[1]", {"spark.driver.memory": "512m"})
run_sweep(engine, grid, sys.argv[1], traces=True, wave_seconds=1e-6)
"""


def test_a_killed_sweep_is_completed_by_the_next_one(
    engine: PipelineEngine, tmp_path: Path
) -> None:
    """After SIGKILL, a second sweep completes the first without duplicating anything."""
    out = tmp_path / "out"
    command = [sys.executable, "-c", KILLED, str(out), engine.name]
    environment = os.environ | {"BEFOREHAND_NO_CLASS_ARCHIVE": "1"}
    null = subprocess.DEVNULL
    with subprocess.Popen(
        command, start_new_session=True, stdout=null, stderr=null, env=environment
    ) as sweep:
        deadline = time.monotonic() + 300
        while len(list((out / "waves").glob("0*.json"))) < 1 and time.monotonic() < deadline:
            assert sweep.poll() is None, "the sweep ended before it could be killed"
            time.sleep(0.01)
        os.killpg(sweep.pid, signal.SIGKILL)
    survived = sum(len(wave.runs) for wave in Waves(engine, str(out)).complete)
    assert 1 <= survived < 30
    grid = Grid(("hybrid", "rst"), processes=(4,), seed=range(1, 16), fields={"messages": (5,)})
    swept = run_sweep(engine, grid, str(out), traces=True)
    assert (swept.done, swept.reused, swept.failed) == (30 - survived, survived, 0)
    assert rows(swept.results) == expected(grid)
    assert len(runs_with_events(swept)) == 30
    for table in ("results", "traces"):
        assert len(list((out / table).iterdir())) == len(list((out / "waves").glob("0*.json")))


def test_a_run_may_have_two_names(engine: PipelineEngine, tmp_path: Path) -> None:
    """It is run once and listed under both names; a renamed network appears under its new name."""
    fields = {"delay": "3ms"}
    both = replace(SMALL, network=("a", "b"), networks={"a": fields, "b": fields})
    swept = run_sweep(engine, both, str(tmp_path))
    assert swept.done == 4 and Counter(r["network"] for r in rows(swept.results)) == {
        "a": 4,
        "b": 4,
    }
    renamed = run_sweep(
        engine, replace(SMALL, network=("c",), networks={"c": fields}), str(tmp_path)
    )
    assert renamed.reused == 4 and {r["network"] for r in rows(renamed.results)} == {"c"}


@dataclass(frozen=True)
class FailingAtSeed2:
    """A simulator that calls `fail` after each run with seed 2."""

    fail: Callable[[], None]

    def __call__(self, scenario: Scenario, **options: Any) -> Result:
        result = run(scenario, **options)
        if scenario.seed == 2:
            self.fail()
        return result


def divide() -> None:
    """Fail as a bug would."""
    raise ZeroDivisionError("by nothing")


def die() -> None:
    """Fail as if the machine were out of memory."""
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_failed_run_is_recorded_and_tried_again(engine: PipelineEngine, tmp_path: Path) -> None:
    """The other runs finish, progress counts the failure, and no event of the failed run is stored."""
    reports: list[SweepProgress] = []
    out = str(tmp_path)
    swept = run_sweep(
        engine, SMALL, out, traces=True, progress=reports.append, simulate=FailingAtSeed2(divide)
    )
    assert (swept.done, swept.failed) == (4, 2)
    failed = [row for row in rows(swept.results) if row["error"] is not None]
    assert [row["seed"] for row in failed] == [2, 2]
    assert all(row["error"].startswith("ZeroDivisionError: by nothing") for row in failed)
    good = [row for row in rows(swept.results) if row["error"] is None]
    assert good == [row for row in expected(SMALL) if row["seed"] == 1]
    assert runs_with_events(swept) == {row["run"] for row in good}
    assert (reports[0].total, reports[0].done, reports[0].remaining) == (4, 0, 4)
    assert (reports[-1].done, reports[-1].failed, reports[-1].remaining) == (4, 2, 0)
    assert reports[-1].seconds_left == 0.0
    again = run_sweep(engine, SMALL, out)
    assert (again.done, again.reused, again.failed) == (2, 2, 0)
    assert rows(again.results) == expected(SMALL)


@pytest.fixture(params=[pytest.param("spark", marks=pytest.mark.spark), "local"])
def eager_engine(request: pytest.FixtureRequest) -> Iterator[PipelineEngine]:
    """An engine that starts workers however little there is to do."""
    chosen: PipelineEngine
    if request.param == "local":
        chosen = LocalEngine(workers=2, small=0.0)
    else:
        session: SparkSession = request.getfixturevalue("spark")
        chosen = SparkEngine.of(session, small=0.0)
    yield chosen
    chosen.close()


def test_a_run_that_kills_its_worker_does_not_stop_the_others(
    eager_engine: PipelineEngine, tmp_path: Path
) -> None:
    """Its row has an error saying that the worker was lost."""
    simulate = FailingAtSeed2(die)
    swept = run_sweep(eager_engine, SMALL, str(tmp_path), traces=True, simulate=simulate)
    assert (swept.done, swept.failed) == (4, 2)
    failed = [row for row in rows(swept.results) if row["error"] is not None]
    assert [row["seed"] for row in failed] == [2, 2]
    assert all(row["error"].startswith("the worker was lost: ") for row in failed)
    assert all("a worker process was killed" in row["error"] for row in failed)
    waves = Waves(eager_engine, str(tmp_path)).complete
    assert {path.name for path in (tmp_path / "results").iterdir()} == {w.name for w in waves}
    assert {path.name for path in (tmp_path / "traces").iterdir()} == {
        wave.name for wave in waves if wave.traced
    }
    good = [row for row in rows(swept.results) if row["error"] is None]
    assert good == [row for row in expected(SMALL) if row["seed"] == 1]


def test_leftovers_of_a_killed_wave_are_removed(engine: PipelineEngine, tmp_path: Path) -> None:
    """Folders without a note are deleted, whatever they contain; folders of other origin are kept."""
    out = tmp_path / "out"
    run_sweep(engine, SMALL, str(out), traces=True)
    [wave] = (path.name for path in (out / "results").iterdir())
    for table in ("results", "traces"):
        (out / table / wave).rename(out / table / "00007-0123abcd")
        (out / table / "notes of mine").mkdir()
    (out / "waves" / f"{wave}.json").rename(out / "waves" / ".00007-0123abcd.json.unfinished")
    swept = run_sweep(engine, SMALL, str(out), traces=True)
    assert (swept.done, swept.reused) == (4, 0)
    assert rows(swept.results) == expected(SMALL)
    for table in ("results", "traces"):
        names = {path.name for path in (out / table).iterdir()}
        assert len(names) == 2 and "notes of mine" in names and "00007-0123abcd" not in names


def test_a_folder_with_results_of_another_program_is_refused(
    engine: PipelineEngine, tmp_path: Path
) -> None:
    """The contents of the folder are left untouched."""
    (tmp_path / "results" / "00001-0123abcd").mkdir(parents=True)
    with pytest.raises(PipelineError, match="has a 'results' that isn't from a sweep"):
        run_sweep(engine, SMALL, str(tmp_path))
    assert (tmp_path / "results" / "00001-0123abcd").exists()
    with pytest.raises(PipelineError, match="no results of a sweep there"):
        stored(engine, str(tmp_path))


def test_unreadable_replays_are_refused(engine: PipelineEngine, tmp_path: Path) -> None:
    """The error says what is missing, before anything runs."""
    folder = str(tmp_path / "in")
    write(engine, folder, calls("one", 1))
    write(engine, str(tmp_path / "empty"), [])
    (tmp_path / "half" / "messages").mkdir(parents=True)
    for text, message in (
        (f"replay:{folder}#two", "it has no run 'two'; its runs: one"),
        (f"replay:{tmp_path}#one", "has no messages"),
        (f"replay:{tmp_path / 'none'}", "there is no such file or folder"),
        (f"replay:{tmp_path / 'empty'}", "it holds no messages"),
        (f"replay:{tmp_path / 'half'}", "not the output of ingest"),
        ("replay:", "there is no such file or folder"),
    ):
        with pytest.raises(PipelineError, match=message):
            with_programs(engine, replace(SMALL, workload=(text,)))
    file = tmp_path / "program.jsonl"
    file.write_text('{"id": "m", "sender": "a", "to": ["b"]}\n')
    grid = with_programs(
        engine, replace(SMALL, workload=(f"replay:{folder}#one", f"replay:{file}"))
    )
    assert [len(program.sends) for program in grid.programs.values()] == [len(calls("one", 1)), 1]
