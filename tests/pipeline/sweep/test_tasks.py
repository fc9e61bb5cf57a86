"""What runs in the tasks, without Spark: results, errors and events."""

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


class Told:
    """Remembers what a task says about its runs."""

    def __init__(self) -> None:
        self.failed: list[bool] = []

    def __call__(self, failed: bool) -> None:
        self.failed.append(failed)


def todo(points: list[Point], traced: bool = False) -> pa.RecordBatch:
    """Rows of the table PLANNED."""
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


def make(tell: Told, traced: bool = False, simulate: Any = run, audit: bool = False) -> Task:
    """A task that knows one program."""
    programs: Mapping[str, Program] = {PROGRAM.digest(): PROGRAM}
    events = arrow_schema(EVENTS) if traced else None
    return Task(
        simulate=simulate,
        programs=lambda: programs,
        finished=tell,
        wave="w",
        audit=audit,
        results=arrow_schema(RESULTS),
        events=events,
    )


def points(**given: Any) -> list[Point]:
    """Some runs."""
    return list(plan(Grid(**{"protocol": ("hybrid",), "processes": (4,), **given})).points)


def fails(scenario: Scenario, **options: Any) -> Result:
    """A simulator that breaks in the second of three runs, after events were recorded."""
    result = run(scenario, **options)
    if scenario.seed == 2:
        raise ZeroDivisionError("in the middle")
    return result


def test_a_row_is_what_the_simulator_says() -> None:
    """Every column but the seconds."""
    found = points(workload=("uniform", "replay:it"), programs={"replay:it": PROGRAM})
    tell = Told()
    [first, second] = [batch.to_pylist()[0] for batch in make(tell, audit=True)([todo(found)])]
    for row, point in zip((first, second), found, strict=True):
        alone = {**measured(run(point.scenario, audit=True)), **point_row(point), "wave": "w"}
        assert {**row, "seconds": 0} == {**alone, "seconds": 0}
        assert row["seconds"] > 0
    assert tell.failed == [False, False]


def test_a_run_that_fails_is_a_row_with_its_error() -> None:
    """The others finish."""
    tell = Told()
    batches = make(tell, simulate=fails)([todo(points(seed=(1, 2, 3)))])
    rows = [row for batch in batches for row in batch.to_pylist()]
    assert (
        [row["error"] is None for row in rows]
        == [True, False, True]
        == [not each for each in tell.failed]
    )
    failed = rows[1]
    assert failed["error"].startswith("ZeroDivisionError: in the middle\n  ")
    assert "test_tasks.py" in failed["error"] and " in fails" in failed["error"]
    assert failed["seed"] == 2 and failed["outcome"] is None and failed["latency_mean"] is None


def test_events_come_before_their_row_and_not_if_the_run_failed() -> None:
    """They are those that a recorder gets outside of Spark."""
    found = points(seed=(1, 2))
    schema = arrow_schema(EVENTS)
    rows = [
        row
        for batch in make(Told(), traced=True, simulate=fails)([todo(found, traced=True)])
        for row in batch.to_pylist()
    ]
    kinds = ["event" if row["event"] else "result" for row in rows]
    assert all((row["event"] is None) != (row["result"] is None) for row in rows)
    assert kinds[-2:] == ["result", "result"] and set(kinds[:-2]) == {"event"}
    spool = Spool(schema)
    with Recorder(found[0].run, spool) as recorder:
        run(found[0].scenario, recorder=recorder)
    alone = [row for batch in spool.batches() for row in batch.to_pylist()]
    assert [row["event"] for row in rows[:-2]] == alone != []


def test_events_that_are_not_wanted_are_not_recorded() -> None:
    """When only some of a wave lack them."""
    [batch] = make(Told(), traced=True)([todo(points())])
    assert batch.schema.names == ["result", "event"]
    assert batch.to_pylist()[0]["event"] is None


def test_a_worker_that_understands_another_scenario_says_so() -> None:
    """Its results would have the wrong name."""
    [row] = todo(points()).to_pylist()
    row["run"] = "0" * 16
    batch = pa.RecordBatch.from_pylist([row], schema=arrow_schema(PLANNED))
    [result] = next(iter(make(Told())([batch]))).to_pylist()
    assert "install the same version of beforehand on driver and workers" in result["error"]


def test_events_that_make_no_sense_are_refused() -> None:
    """As the sinks for files do."""
    recorder = Recorder("run", Spool(arrow_schema(EVENTS)))
    recorder.record(
        "p", 1, "no such kind", None, 0, None, time_ns=0, payload_bytes=0, meta_bytes=0, detail=""
    )
    with pytest.raises(TraceError, match="an invalid event: .*no such kind"):
        recorder.close()


def test_errors_are_told_shortly() -> None:
    """Type, text and the last places."""

    def deep(level: int) -> None:
        if level == 0:
            raise KeyError("x")
        deep(level - 1)

    with pytest.raises(KeyError) as caught:
        deep(10)
    lines = described(caught.value).splitlines()
    assert lines[0] == "KeyError: 'x'" and len(lines) == 4
