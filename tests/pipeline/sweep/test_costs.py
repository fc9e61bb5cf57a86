"""Cost estimates: expensive runs come first, cheap ones share tasks, and waves keep to their time."""

from __future__ import annotations

from beforehand.pipeline.sweep.costs import assign, by_cost, cost, first_wave, tasks_for
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


def test_tasks_have_balanced_loads() -> None:
    """One large run has a task to itself; many small ones share tasks."""
    runs = by_cost(points(*range(2, 60), 1000))
    tasks = assign(runs, 4)
    load = [0.0] * 4
    for task, point in zip(tasks, runs, strict=True):
        load[task] += cost(point.scenario)
    assert tasks.count(tasks[0]) == 1
    assert max(load[1:]) < 1.1 * min(load[1:])


def test_the_number_of_tasks_follows_the_work() -> None:
    """Tiny runs do not take a task each; long runs get some extra tasks for balance."""
    tiny = points(*range(5, 105))
    assert tasks_for(tiny, 1e-9, 2) == 2
    assert tasks_for(tiny, 1.0, 2) == 8
    assert tasks_for(tiny[:1], 1.0, 2) == 1
    assert tasks_for(tiny, 5 / sum(cost(point.scenario) for point in tiny), 2) == 5


def test_a_wave_takes_as_many_runs_as_fit_its_time() -> None:
    """A wave has at least one run per slot, and at most all runs."""
    runs = by_cost(points(*range(10, 20)))
    run_cost = cost(runs[0].scenario)
    assert first_wave(runs, 1.0, 1 / (2.5 * run_cost), 1) == 2
    assert first_wave(runs, 1.0, 1 / (2.5 * run_cost), 2) == 5
    assert first_wave(runs, 1e-9, 1.0, 2) == 2
    assert first_wave(runs, 1e9, 1.0, 2) == 10
    assert first_wave(runs[:1], 1e-9, 1.0, 4) == 1
