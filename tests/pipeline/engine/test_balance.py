"""How work is divided into tasks."""

from __future__ import annotations

import random

import pytest

from beforehand.pipeline.engine.balance import LONG, PER_SLOT, SMALL, balanced, task_count


def test_the_number_of_tasks_follows_the_work() -> None:
    """Little work is one task, more of it a few for each slot, and no task is too long."""
    assert task_count(0.0, 8) == task_count(SMALL * 0.99, 8) == 1
    assert task_count(SMALL, 8) == PER_SLOT * 8
    assert task_count(1000 * LONG, 2) == 1000
    assert task_count(0.0, 3, small=0.0) == PER_SLOT * 3


def test_little_work_is_one_task_however_many_items() -> None:
    """Ten thousand tiny files do not take ten thousand tasks."""
    [(seconds, items)] = balanced([(SMALL / 20_000, n) for n in range(10_000)], 4)
    assert seconds == pytest.approx(SMALL / 2) and sorted(items) == list(range(10_000))


def test_no_item_is_lost_and_loads_are_even() -> None:
    """Each item is in exactly one task, and the loads are those of their items."""
    rng = random.Random(3)
    work = {n: rng.random() for n in range(200)}
    tasks = balanced([(seconds, n) for n, seconds in work.items()], 3)
    assert len(tasks) == PER_SLOT * 3
    assert sorted(n for _, mine in tasks for n in mine) == list(work)
    for seconds, mine in tasks:
        assert seconds == pytest.approx(sum(work[n] for n in mine))
    loads = [seconds for seconds, _ in tasks]
    assert max(loads) < 1.05 * min(loads)


def test_there_is_a_task_even_without_items_and_none_is_empty() -> None:
    """Engines can rely on both."""
    assert balanced([], 4) == [(0.0, [])]
    tasks = balanced([(SMALL, "a"), (SMALL, "b"), (0.0, "c")], 8)
    assert sorted(mine for _, mine in tasks) == [["a"], ["b"], ["c"]]


def test_the_assignment_is_reproducible() -> None:
    """Equal items give equal tasks, so that outputs are the same files."""
    items = [(1.0, name) for name in "hgfedcba"]
    assert balanced(items, 2) == balanced(items, 2)
