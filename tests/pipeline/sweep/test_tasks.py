"""The code that runs in tasks, tested without an engine: results, errors and events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from beforehand.errors import TraceError
from beforehand.pipeline.schemas import EVENTS
from beforehand.pipeline.sweep.columns import measured
from beforehand.pipeline.sweep.grid import Grid, Point, plan
from beforehand.pipeline.sweep.job import point_row
from beforehand.pipeline.sweep.schemas import BOTH
from beforehand.pipeline.sweep.tasks import Planned, Spool, SweepTask, described
from beforehand.simulator import Program, Result, Scenario, Send, run
from beforehand.trace import Recorder

PROGRAM = Program([Send("a", "x", ("y",)), Send("b", "y", ("x",), ("a",))])


class Number:
    """A counter in memory."""

    def __init__(self) -> None:
        self.value = 0

    def add(self, amount: int) -> None:
        """Increase it."""
        self.value += amount

    def read(self) -> int:
        """Its value."""
        return self.value


def planned(point: Point, traced: bool = False) -> Planned:
    """A point as a task gets it."""
    program = point.scenario.program
    return Planned(point_row(point), None if program is None else program.digest(), traced)


def make_task(simulate: Any = run, audit: bool = False) -> SweepTask:
    """A task that knows one program."""
    programs: Mapping[str, Program] = {PROGRAM.digest(): PROGRAM}
    return SweepTask(
        simulate=simulate,
        programs=lambda: programs,
        done=Number(),
        failed=Number(),
        wave="w",
        audit=audit,
    )


def rows_of(task: SweepTask, runs: list[Planned]) -> list[dict[str, Any]]:
    """What a task yields for some runs: each row has an event or a result."""
    batches = [batch for run_planned in runs for batch in task(run_planned)]
    assert all(batch.schema == BOTH for batch in batches)
    rows = [row for batch in batches for row in batch.to_pylist()]
    assert all((row["event"] is None) != (row["result"] is None) for row in rows)
    return rows


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
    grid = points(workload=("uniform", "replay:it"), programs={"replay:it": PROGRAM})
    task = make_task(audit=True)
    rows = rows_of(task, [planned(point) for point in grid])
    assert len(rows) == 2
    for row, point in zip((row["result"] for row in rows), grid, strict=True):
        expected = {**measured(run(point.scenario, audit=True)), **point_row(point), "wave": "w"}
        assert {**row, "seconds": 0} == {**expected, "seconds": 0}
        assert row["seconds"] > 0
    assert (task.done.read(), task.failed.read()) == (2, 0)


def test_a_failed_run_is_a_row_with_its_error() -> None:
    """The other runs finish."""
    task = make_task(simulate=fail_at_seed_2)
    rows = [r["result"] for r in rows_of(task, [planned(p) for p in points(seed=(1, 2, 3))])]
    assert [row["error"] is None for row in rows] == [True, False, True]
    assert (task.done.read(), task.failed.read()) == (3, 1)
    row = rows[1]
    assert row["error"].startswith("ZeroDivisionError: in the middle\n  ")
    assert "test_tasks.py" in row["error"] and " in fail_at_seed_2" in row["error"]
    assert row["seed"] == 2 and row["outcome"] is None and row["latency_mean"] is None


def test_events_precede_their_row_and_are_dropped_if_the_run_failed() -> None:
    """They equal those that a recorder gets outside of tasks."""
    grid = points(seed=(1, 2))
    task = make_task(simulate=fail_at_seed_2)
    rows = rows_of(task, [planned(point, traced=True) for point in grid])
    kinds = ["event" if row["event"] else "result" for row in rows]
    assert kinds[-2:] == ["result", "result"] and set(kinds[:-2]) == {"event"}
    spool = Spool(EVENTS)
    with Recorder(grid[0].run, spool) as recorder:
        run(grid[0].scenario, recorder=recorder)
    expected = [row for batch in spool.batches() for row in batch.to_pylist()]
    assert [row["event"] for row in rows[:-2]] == expected != []


def test_events_are_recorded_only_where_requested() -> None:
    """A wave may contain runs that already have their events."""
    first, second = points(seed=(1, 3))
    rows = rows_of(make_task(), [planned(first), planned(second, traced=True)])
    assert rows[0]["result"]["run"] == first.run
    assert {row["event"]["run"] for row in rows if row["event"]} == {second.run}


def test_a_worker_with_another_version_reports_the_mismatch() -> None:
    """Its results would otherwise be stored under the wrong name."""
    [point] = points()
    wrong = planned(point)
    [row] = rows_of(make_task(), [wrong._replace(row={**wrong.row, "run": "0" * 16})])
    message = "install the same version of beforehand on driver and workers"
    assert message in row["result"]["error"]


def test_invalid_events_are_refused() -> None:
    """The spool checks events the way the file sinks do."""
    recorder = Recorder("run", Spool(EVENTS))
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
