"""Cost estimates of runs, and their assignment to waves."""

from collections.abc import Sequence
from typing import Final

from beforehand import protocols
from beforehand.pipeline.sweep.grid import Point
from beforehand.simulator import Scenario

_GROUP: Final = 5  # assumed receivers of a multicast
GUESS: Final = 1e-4  # seconds per unit of cost before anything is measured: an interpreted core


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
