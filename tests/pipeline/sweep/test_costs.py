"""Cost estimates: expensive runs come first, cheap ones share tasks, and waves keep to their time."""

from __future__ import annotations

from beforehand.pipeline.engine.balance import balanced
from beforehand.pipeline.sweep.costs import by_cost, cost, first_wave
from beforehand.pipeline.sweep.grid import Grid, Point, plan


def points(*processes: int, protocol: str = "hybrid") -> list[Point]:
    """Runs with these numbers of processes."""
    grid = Grid((protocol,), processes=processes, fields={"messages": (10,)})
    return list(plan(grid).points)


def test_expensive_runs_come_first() -> None:
    """Cost grows with the number of processes and with the protocol's cost per message."""
    mixed = [*points(5, 50, 20), *points(20, protocol="ks")]
    sizes = [(p.scenario.protocol, len(p.scenario.names)) for p in by_cost(mixed)]
    assert sizes == [("ks", 20), ("hybrid", 50), ("hybrid", 20), ("hybrid", 5)]


def test_a_large_run_has_a_task_to_itself() -> None:
    """Many small ones share the other tasks, which get about the same load."""
    runs = by_cost(points(*range(2, 60), 1000))
    loads = [(cost(point.scenario) / 1000, point) for point in runs]
    tasks = balanced(loads, slots=2)
    (large, [alone]), *others = sorted(tasks, key=lambda task: task[0], reverse=True)
    assert alone is runs[0] and large == loads[0][0]
    assert len(others) == 3 and sum(len(mine) for _, mine in others) == len(runs) - 1
    others_seconds = [seconds for seconds, _ in others]
    assert max(others_seconds) < 1.1 * min(others_seconds)


def test_a_wave_takes_as_many_runs_as_fit_its_time() -> None:
    """A wave has at least one run per slot, and at most all runs."""
    runs = by_cost(points(*range(10, 20)))
    run_cost = cost(runs[0].scenario)
    assert first_wave(runs, 1.0, 1 / (2.5 * run_cost), 1) == 2
    assert first_wave(runs, 1.0, 1 / (2.5 * run_cost), 2) == 5
    assert first_wave(runs, 1e-9, 1.0, 2) == 2
    assert first_wave(runs, 1e9, 1.0, 2) == 10
    assert first_wave(runs[:1], 1e-9, 1.0, 4) == 1
