"""Estimates: dear runs come first, cheap ones share tasks, and waves keep to their time."""

from __future__ import annotations

from beforehand.pipeline.sweep.costs import assign, by_cost, cost, first_wave, tasks_for
from beforehand.pipeline.sweep.grid import Grid, Point, plan


def points(*processes: int, protocol: str = "hybrid") -> list[Point]:
    """Runs of these sizes."""
    grid = Grid((protocol,), processes=processes, fields={"messages": (10,)})
    return list(plan(grid).points)


def test_the_dear_ones_first() -> None:
    """More processes, and what costs more per message."""
    mixed = [*points(5, 50, 20), *points(20, protocol="ks")]
    sizes = [(p.scenario.protocol, len(p.scenario.names)) for p in by_cost(mixed)]
    assert sizes == [("ks", 20), ("hybrid", 50), ("hybrid", 20), ("hybrid", 5)]


def test_tasks_have_about_as_much_to_do() -> None:
    """One large run has a task of its own; many small ones do not."""
    found = by_cost(points(*range(2, 60), 1000))
    tasks = assign(found, 4)
    load = [0.0] * 4
    for task, point in zip(tasks, found, strict=True):
        load[task] += cost(point.scenario)
    assert tasks.count(tasks[0]) == 1
    assert max(load[1:]) < 1.1 * min(load[1:])


def test_tasks_are_worth_their_start() -> None:
    """Ten thousand tiny runs do not cost a task each; long ones have some to even out."""
    tiny = points(*range(5, 105))
    assert tasks_for(tiny, 1e-9, 2) == 2
    assert tasks_for(tiny, 1.0, 2) == 8
    assert tasks_for(tiny[:1], 1.0, 2) == 1
    assert tasks_for(tiny, 5 / sum(cost(point.scenario) for point in tiny), 2) == 5


def test_a_wave_takes_what_fits_its_time() -> None:
    """But a run for each slot at least, and not more than there are."""
    found = by_cost(points(*range(10, 20)))
    each = cost(found[0].scenario)
    assert first_wave(found, 1.0, 1 / (2.5 * each), 1) == 2
    assert first_wave(found, 1.0, 1 / (2.5 * each), 2) == 5
    assert first_wave(found, 1e-9, 1.0, 2) == 2
    assert first_wave(found, 1e9, 1.0, 2) == 10
    assert first_wave(found[:1], 1e-9, 1.0, 4) == 1
