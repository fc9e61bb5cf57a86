"""Cost estimates of runs, and their assignment to waves and to the tasks of a wave."""

import heapq
from collections.abc import Sequence
from typing import Final

from beforehand import protocols
from beforehand.pipeline.sweep.grid import Point
from beforehand.simulator import Scenario

_GROUP: Final = 5  # assumed receivers of a multicast
GUESS: Final = 1e-4  # seconds per unit of cost before anything is measured: an interpreted core
MOST_TASKS: Final = 4  # per slot, so that wrong estimates even out
LEAST_TASK: Final = 1.0  # seconds; less isn't worth starting a task


def cost(scenario: Scenario) -> float:
    """In units of a message to one receiver."""
    processes = len(scenario.names)
    if scenario.program is not None:
        copies = sum(len(send.to) for send in scenario.program.sends)
    else:
        kind = scenario.workload.partition(":")[0]
        receivers = {"broadcast": processes, "groups": _GROUP}.get(kind, 1)
        copies = processes * scenario.messages * receivers
    growth = protocols.registration(scenario.protocol).cost_per_process
    return (1 + copies) * (1 + processes * growth)


def by_cost(points: Sequence[Point]) -> list[Point]:
    """The most expensive first, so that no long run is left for the end."""
    costs = {point.run: cost(point.scenario) for point in points}
    return sorted(points, key=lambda point: (-costs[point.run], point.run))


def first_wave(points: Sequence[Point], seconds: float, per_unit: float, slots: int) -> int:
    """How many of these fit into a wave of this length: at least one for each slot."""
    room = seconds * slots / per_unit
    for count, point in enumerate(points):
        room -= cost(point.scenario)
        if room < 0:
            return min(len(points), max(count, slots))
    return len(points)


def tasks_for(points: Sequence[Point], per_unit: float, slots: int) -> int:
    """How many tasks to start: one per slot, and more if there is enough work."""
    seconds = per_unit * sum(cost(point.scenario) for point in points)
    return min(max(slots, round(seconds / LEAST_TASK)), slots * MOST_TASKS, len(points))


def assign(points: Sequence[Point], tasks: int) -> list[int]:
    """A task for each point, given the most expensive first, so that all tasks have similar loads."""
    load = [(0.0, task) for task in range(tasks)]
    assigned = []
    for point in points:
        least, task = heapq.heappop(load)
        assigned.append(task)
        heapq.heappush(load, (least + cost(point.scenario), task))
    return assigned
