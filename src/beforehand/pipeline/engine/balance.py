"""How much work is worth how many tasks, and which task does what."""

from collections.abc import Iterable
from heapq import heapreplace
from typing import Final, TypeVar

T = TypeVar("T")

SMALL: Final = 2.0  # seconds of work that one task does sooner than several would start
LONG: Final = 30.0  # seconds of work of one task, at most: it holds its rows in memory
PER_SLOT: Final = 2  # tasks, so that wrong estimates even out


def task_count(seconds: float, slots: int, small: float = SMALL) -> int:
    """How many tasks to make of this much work."""
    return 1 if seconds < small else max(PER_SLOT * slots, int(seconds / LONG))


def balanced(
    items: Iterable[tuple[float, T]], slots: int, small: float = SMALL
) -> list[tuple[float, list[T]]]:
    """Items in tasks of about the same work, with the work of each; at least one task, none empty."""
    loads = sorted(items, key=lambda load: load[0], reverse=True)
    total = sum(seconds for seconds, _ in loads)
    count = min(task_count(total, slots, small), max(1, len(loads)))
    tasks: list[list[T]] = [[] for _ in range(count)]
    heap = [(0.0, task) for task in range(count)]
    for seconds, item in loads:
        load, task = heap[0]
        tasks[task].append(item)
        heapreplace(heap, (load + seconds, task))
    totals = dict.fromkeys(range(count), 0.0) | {task: load for load, task in heap}
    return [(totals[task], tasks[task]) for task in range(count)]
