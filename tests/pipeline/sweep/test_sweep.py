"""Sweeps on Spark: the simulator's numbers, every run exactly once, and no partial results."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from beforehand.errors import PipelineError
from beforehand.pipeline.replay import program_of
from beforehand.pipeline.schemas import EVENTS
from beforehand.pipeline.sweep import RESULTS, Grid, SweepProgress, run_sweep, stored
from beforehand.pipeline.sweep.columns import measured
from beforehand.pipeline.sweep.grid import Point, plan
from beforehand.pipeline.sweep.job import point_row
from beforehand.pipeline.sweep.programs import with_programs
from beforehand.pipeline.sweep.waves import Waves
from beforehand.simulator import Result, Scenario, run
from beforehand.trace import Recorder
from beforehand.trace.recorder import Columns, Sink
from tests.pipeline.sweep.samples import calls, write

pytestmark = pytest.mark.spark

SIX = ("hybrid", "hybrid-sps", "mattern", "cykas", "rst", "ks")
SMALL = Grid(("hybrid", "rst"), processes=(4,), seed=(1, 2), fields={"messages": (5,)})
NONDETERMINISTIC = {"seconds", "wave"}  # columns that do not depend on the scenario alone


def rows(results: DataFrame) -> list[dict[str, Any]]:
    """All rows, sorted, without the columns that differ from sweep to sweep."""
    collected = [row.asDict(recursive=True) for row in results.collect()]
    comparable = [{k: v for k, v in row.items() if k not in NONDETERMINISTIC} for row in collected]
    return sorted(comparable, key=lambda row: (row["run"], row["network"], row["workload"]))


def row_without_spark(point: Point, audit: bool = False) -> dict[str, Any]:
    """The row of a point, from a run without Spark."""
    row = {**point_row(point), **measured(run(point.scenario, audit=audit))}
    return {name: row[name] for name in RESULTS.names if name not in NONDETERMINISTIC}


def expected(grid: Grid, audit: bool = False) -> list[dict[str, Any]]:
    """The rows that a sweep must produce, run by run without Spark."""
    without_spark = [row_without_spark(point, audit) for point in plan(grid).points]
    return sorted(without_spark, key=lambda row: (row["run"], row["network"], row["workload"]))


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
    spark: SparkSession, tmp_path: Path
) -> None:
    """Every figure equals that of the same scenario run without Spark; the audit is clean."""
    write(spark, str(tmp_path / "in"), [*calls("one", 1), *calls("two", 2)])
    workload = f"replay:{tmp_path / 'in'}"
    grid = Grid(
        SIX,
        (workload, "uniform:3"),
        ("mobile",),
        (6,),
        fields={"messages": (5,), "sample": ("50ms",)},
    )
    out = str(tmp_path / "out")
    swept = run_sweep(spark, grid, out, audit=True, traces=True)
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
    # The events, too, equal those that a recorder is given without Spark.
    events = spark.read.schema(EVENTS).parquet(*swept.traces)
    counts = {row["run"]: row["count"] for row in events.groupBy("run").count().collect()}
    assert counts.keys() == {row["run"] for row in results}
    point = plan(resolved).points[0]
    with Recorder(point.run, sink := EventList()) as recorder:
        run(point.scenario, recorder=recorder)
    recorded = events.where(events.run == point.run).drop("run").collect()
    direct = [(*e[:5], None if e[5] is None else list(e[5]), *e[6:]) for e in sink.events]
    assert sorted(map(tuple, recorded), key=lambda e: e[:2]) == sorted(direct, key=lambda e: e[:2])


def test_only_missing_runs_are_done(spark: SparkSession, tmp_path: Path) -> None:
    """A repeated sweep does nothing, another grid adds its own runs, and each returns only its rows."""
    out = str(tmp_path)
    first = run_sweep(spark, SMALL, out)
    assert (first.done, first.reused, first.failed) == (4, 0, 0)
    again = run_sweep(spark, SMALL, out)
    assert (again.done, again.reused) == (0, 4)
    assert rows(again.results) == rows(first.results) == expected(SMALL)
    other = replace(SMALL, protocol=("rst", "mattern"))
    added = run_sweep(spark, other, out)
    assert (added.done, added.reused) == (2, 2)
    assert rows(added.results) == expected(other)
    assert rows(stored(spark, out).results) == expected(
        replace(SMALL, protocol=("hybrid", "rst", "mattern"))
    )


def test_runs_are_repeated_if_traces_or_an_audit_are_missing(
    spark: SparkSession, tmp_path: Path
) -> None:
    """No event is duplicated, and the results are those of the last sweep."""
    out = str(tmp_path)
    run_sweep(spark, replace(SMALL, seed=(1,)), out, traces=True)
    swept = run_sweep(spark, SMALL, out, traces=True, audit=True)
    assert (swept.done, swept.reused) == (4, 0)
    assert rows(swept.results) == expected(SMALL, audit=True)
    events = spark.read.schema(EVENTS).parquet(*swept.traces).select("run", "process", "seq")
    assert len(swept.traces) == 2
    assert events.count() == events.distinct().count()
    assert events.select("run").distinct().count() == 4
    plain = run_sweep(spark, SMALL, out)
    assert (plain.done, plain.reused, plain.traces) == (0, 4, ())


KILLED = """
import sys
from beforehand.pipeline import session
from beforehand.pipeline.sweep import Grid, run_sweep
grid = Grid(("hybrid", "rst"), processes=(4,), seed=range(1, 16), fields={"messages": (5,)})
spark = session.start("local[1]", {"spark.driver.memory": "512m"})
run_sweep(spark, grid, sys.argv[1], traces=True, wave_seconds=1e-6)
"""


def test_a_killed_sweep_is_completed_by_the_next_one(spark: SparkSession, tmp_path: Path) -> None:
    """After SIGKILL, a second sweep completes the first without duplicating anything."""
    out = tmp_path / "out"
    command = [sys.executable, "-c", KILLED, str(out)]
    null = subprocess.DEVNULL
    with subprocess.Popen(command, start_new_session=True, stdout=null, stderr=null) as sweep:
        deadline = time.monotonic() + 300
        while len(list((out / "waves").glob("0*.json"))) < 1 and time.monotonic() < deadline:
            assert sweep.poll() is None, "the sweep ended before it could be killed"
            time.sleep(0.01)
        os.killpg(sweep.pid, signal.SIGKILL)
    survived = sum(len(wave.runs) for wave in Waves(spark, str(out)).complete)
    assert 1 <= survived < 30
    grid = Grid(("hybrid", "rst"), processes=(4,), seed=range(1, 16), fields={"messages": (5,)})
    swept = run_sweep(spark, grid, str(out), traces=True)
    assert (swept.done, swept.reused, swept.failed) == (30 - survived, survived, 0)
    assert rows(swept.results) == expected(grid)
    events = spark.read.schema(EVENTS).parquet(*swept.traces).select("run", "process", "seq")
    assert events.count() == events.distinct().count()
    assert events.select("run").distinct().count() == 30
    for table in ("results", "traces"):
        assert len(list((out / table).iterdir())) == len(list((out / "waves").glob("0*.json")))


def test_a_run_may_have_two_names(spark: SparkSession, tmp_path: Path) -> None:
    """It is run once and listed under both names; a renamed network appears under its new name."""
    fields = {"delay": "3ms"}
    both = replace(SMALL, network=("a", "b"), networks={"a": fields, "b": fields})
    swept = run_sweep(spark, both, str(tmp_path))
    assert swept.done == 4 and Counter(r["network"] for r in rows(swept.results)) == {
        "a": 4,
        "b": 4,
    }
    renamed = run_sweep(
        spark, replace(SMALL, network=("c",), networks={"c": fields}), str(tmp_path)
    )
    assert renamed.reused == 4 and {r["network"] for r in rows(renamed.results)} == {"c"}


def failing_at_seed_2(fail: Callable[[], None]) -> Callable[..., Result]:
    """A simulator that calls `fail` after each run with seed 2."""

    def simulate(scenario: Scenario, **options: Any) -> Result:
        result = run(scenario, **options)
        if scenario.seed == 2:
            fail()
        return result

    return simulate


def test_a_failed_run_is_recorded_and_tried_again(spark: SparkSession, tmp_path: Path) -> None:
    """The other runs finish, progress counts the failure, and no event of the failed run is stored."""

    def divide() -> None:
        raise ZeroDivisionError("by nothing")

    reports: list[SweepProgress] = []
    out = str(tmp_path)
    swept = run_sweep(
        spark, SMALL, out, traces=True, progress=reports.append, simulate=failing_at_seed_2(divide)
    )
    assert (swept.done, swept.failed) == (4, 2)
    failed = [row for row in rows(swept.results) if row["error"] is not None]
    assert [row["seed"] for row in failed] == [2, 2]
    assert all(row["error"].startswith("ZeroDivisionError: by nothing") for row in failed)
    good = [row for row in rows(swept.results) if row["error"] is None]
    assert good == [row for row in expected(SMALL) if row["seed"] == 1]
    events = spark.read.schema(EVENTS).parquet(*swept.traces)
    assert {r["run"] for r in events.select("run").distinct().collect()} == {r["run"] for r in good}
    assert (reports[0].total, reports[0].done, reports[0].remaining) == (4, 0, 4)
    assert (reports[-1].done, reports[-1].failed, reports[-1].remaining) == (4, 2, 0)
    assert reports[-1].seconds_left == 0.0
    again = run_sweep(spark, SMALL, out)
    assert (again.done, again.reused, again.failed) == (2, 2, 0)
    assert rows(again.results) == expected(SMALL)


def test_a_run_that_kills_its_worker_does_not_stop_the_others(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Its row has an error saying that the worker was lost."""

    def die() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    swept = run_sweep(spark, SMALL, str(tmp_path), traces=True, simulate=failing_at_seed_2(die))
    assert (swept.done, swept.failed) == (4, 2)
    failed = [row for row in rows(swept.results) if row["error"] is not None]
    assert [row["seed"] for row in failed] == [2, 2]
    assert all(row["error"].startswith("the worker was lost: ") for row in failed)
    assert all("Python worker exited unexpectedly" in row["error"] for row in failed)
    waves = Waves(spark, str(tmp_path)).complete
    assert {path.name for path in (tmp_path / "results").iterdir()} == {w.name for w in waves}
    assert {path.name for path in (tmp_path / "traces").iterdir()} == {
        wave.name for wave in waves if wave.traced
    }
    good = [row for row in rows(swept.results) if row["error"] is None]
    assert good == [row for row in expected(SMALL) if row["seed"] == 1]


def test_leftovers_of_a_killed_wave_are_removed(spark: SparkSession, tmp_path: Path) -> None:
    """Folders without a note are deleted, whatever they contain; folders of other origin are kept."""
    out = tmp_path / "out"
    run_sweep(spark, SMALL, str(out), traces=True)
    [wave] = (path.name for path in (out / "results").iterdir())
    for table in ("results", "traces"):
        (out / table / wave).rename(out / table / "00007-0123abcd")
        (out / table / "notes of mine").mkdir()
    (out / "waves" / f"{wave}.json").rename(out / "waves" / ".00007-0123abcd.json.unfinished")
    swept = run_sweep(spark, SMALL, str(out), traces=True)
    assert (swept.done, swept.reused) == (4, 0)
    assert rows(swept.results) == expected(SMALL)
    for table in ("results", "traces"):
        names = {path.name for path in (out / table).iterdir()}
        assert len(names) == 2 and "notes of mine" in names and "00007-0123abcd" not in names


def test_a_folder_with_results_of_another_program_is_refused(
    spark: SparkSession, tmp_path: Path
) -> None:
    """The contents of the folder are left untouched."""
    (tmp_path / "results" / "00001-0123abcd").mkdir(parents=True)
    with pytest.raises(PipelineError, match="has a 'results' that isn't from a sweep"):
        run_sweep(spark, SMALL, str(tmp_path))
    assert (tmp_path / "results" / "00001-0123abcd").exists()
    with pytest.raises(PipelineError, match="no results of a sweep there"):
        stored(spark, str(tmp_path))


def test_unreadable_replays_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    """The error says what is missing, before anything runs."""
    folder = str(tmp_path / "in")
    write(spark, folder, calls("one", 1))
    write(spark, str(tmp_path / "empty"), [])
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
            with_programs(spark, replace(SMALL, workload=(text,)))
    file = tmp_path / "program.jsonl"
    file.write_text('{"id": "m", "sender": "a", "to": ["b"]}\n')
    grid = with_programs(spark, replace(SMALL, workload=(f"replay:{folder}#one", f"replay:{file}")))
    assert [len(program.sends) for program in grid.programs.values()] == [len(calls("one", 1)), 1]
