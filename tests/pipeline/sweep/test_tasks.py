"""The code that runs in Spark tasks, tested without Spark: results, errors and events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pytest

from beforehand.errors import TraceError
from beforehand.pipeline.schemas import EVENTS, arrow_schema
from beforehand.pipeline.sweep.columns import measured
from beforehand.pipeline.sweep.grid import Grid, Point, plan
from beforehand.pipeline.sweep.job import point_row
from beforehand.pipeline.sweep.schemas import PLANNED, RESULTS
from beforehand.pipeline.sweep.tasks import Spool, Task, described
from beforehand.simulator import Program, Result, Scenario, Send, run
from beforehand.trace import Recorder

PROGRAM = Program([Send("a", "x", ("y",)), Send("b", "y", ("x",), ("a",))])


class FinishedRuns:
    """Records whether each finished run failed."""

    def __init__(self) -> None:
        self.failed: list[bool] = []

    def __call__(self, failed: bool) -> None:
        self.failed.append(failed)


def planned_batch(points: list[Point], traced: bool = False) -> pa.RecordBatch:
    """Points as rows of the table PLANNED."""
    rows = [
        {
            "task": 0,
            **point_row(point),
            "program": point.scenario.program and point.scenario.program.digest(),
            "traced": traced,
        }
        for point in points
    ]
    return pa.RecordBatch.from_pylist(rows, schema=arrow_schema(PLANNED))


def make_task(
    finished: FinishedRuns, traced: bool = False, simulate: Any = run, audit: bool = False
) -> Task:
    """A task that knows one program."""
    programs: Mapping[str, Program] = {PROGRAM.digest(): PROGRAM}
    events = arrow_schema(EVENTS) if traced else None
    return Task(
        simulate=simulate,
        programs=lambda: programs,
        finished=finished,
        wave="w",
        audit=audit,
        results=arrow_schema(RESULTS),
        events=events,
    )


def points(**fields: Any) -> list[Point]:
    """The points of a small grid."""
    return list(plan(Grid(**{"protocol": ("hybrid",), "processes": (4,), **fields})).points)


def fail_at_seed_2(scenario: Scenario, **options: Any) -> Result:
    """A simulator that fails in runs with seed 2, after their events were recorded."""
    result = run(scenario, **options)
    if scenario.seed == 2:
        raise ZeroDivisionError("in the middle")
    return result


def test_a_row_equals_the_simulators_result() -> None:
    """Every column but the seconds is equal."""
    planned = points(workload=("uniform", "replay:it"), programs={"replay:it": PROGRAM})
    finished = FinishedRuns()
    [first, second] = [
        batch.to_pylist()[0] for batch in make_task(finished, audit=True)([planned_batch(planned)])
    ]
    for row, point in zip((first, second), planned, strict=True):
        expected = {**measured(run(point.scenario, audit=True)), **point_row(point), "wave": "w"}
        assert {**row, "seconds": 0} == {**expected, "seconds": 0}
        assert row["seconds"] > 0
    assert finished.failed == [False, False]


def test_a_failed_run_is_a_row_with_its_error() -> None:
    """The other runs finish."""
    finished = FinishedRuns()
    batches = make_task(finished, simulate=fail_at_seed_2)([planned_batch(points(seed=(1, 2, 3)))])
    rows = [row for batch in batches for row in batch.to_pylist()]
    assert (
        [row["error"] is None for row in rows]
        == [True, False, True]
        == [not failed for failed in finished.failed]
    )
    row = rows[1]
    assert row["error"].startswith("ZeroDivisionError: in the middle\n  ")
    assert "test_tasks.py" in row["error"] and " in fail_at_seed_2" in row["error"]
    assert row["seed"] == 2 and row["outcome"] is None and row["latency_mean"] is None


def test_events_precede_their_row_and_are_dropped_if_the_run_failed() -> None:
    """They equal those that a recorder gets outside of Spark."""
    planned = points(seed=(1, 2))
    schema = arrow_schema(EVENTS)
    rows = [
        row
        for batch in make_task(FinishedRuns(), traced=True, simulate=fail_at_seed_2)(
            [planned_batch(planned, traced=True)]
        )
        for row in batch.to_pylist()
    ]
    kinds = ["event" if row["event"] else "result" for row in rows]
    assert all((row["event"] is None) != (row["result"] is None) for row in rows)
    assert kinds[-2:] == ["result", "result"] and set(kinds[:-2]) == {"event"}
    spool = Spool(schema)
    with Recorder(planned[0].run, spool) as recorder:
        run(planned[0].scenario, recorder=recorder)
    expected = [row for batch in spool.batches() for row in batch.to_pylist()]
    assert [row["event"] for row in rows[:-2]] == expected != []


def test_events_are_recorded_only_where_requested() -> None:
    """A wave may contain runs that already have their events."""
    [batch] = make_task(FinishedRuns(), traced=True)([planned_batch(points())])
    assert batch.schema.names == ["result", "event"]
    assert batch.to_pylist()[0]["event"] is None


def test_a_worker_with_another_version_reports_the_mismatch() -> None:
    """Its results would otherwise be stored under the wrong name."""
    [row] = planned_batch(points()).to_pylist()
    row["run"] = "0" * 16
    batch = pa.RecordBatch.from_pylist([row], schema=arrow_schema(PLANNED))
    [result] = next(iter(make_task(FinishedRuns())([batch]))).to_pylist()
    assert "install the same version of beforehand on driver and workers" in result["error"]


def test_invalid_events_are_refused() -> None:
    """The spool checks events the way the file sinks do."""
    recorder = Recorder("run", Spool(arrow_schema(EVENTS)))
    recorder.record(
        "p", 1, "no such kind", None, 0, None, time_ns=0, payload_bytes=0, meta_bytes=0, detail=""
    )
    with pytest.raises(TraceError, match="an invalid event: .*no such kind"):
        recorder.close()


def test_errors_are_described_briefly() -> None:
    """The description has the type, the message and the last frames."""

    def recurse(level: int) -> None:
        if level == 0:
            raise KeyError("x")
        recurse(level - 1)

    with pytest.raises(KeyError) as caught:
        recurse(10)
    lines = described(caught.value).splitlines()
    assert lines[0] == "KeyError: 'x'" and len(lines) == 4
