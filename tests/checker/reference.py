"""The same exploration, done as plainly as possible: worlds are copied whole, and states kept whole.

States are not reduced to hashes, nothing is omitted and nothing is shared. It is slow, and it is
what `explore.check` without any reduction must agree with: on the number of distinct states, of
steps, on the depth, and on what is wrong after how many actions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from copy import copy
from dataclasses import dataclass, field
from typing import Any, cast

from beforehand.checker.actions import Action, Run
from beforehand.checker.setting import Setting
from beforehand.checker.verdict import CheckProblem
from beforehand.checker.world import CheckedWorld, InFlight


@dataclass
class Explored:
    """Everything that can be found in a setting, up to the first problem."""

    states: int = 0  # distinct ones
    transitions: int = 0  # all steps taken, whether their end was new or not
    depth: int = 0  # actions before the deepest state
    ends: set[Hashable] = field(default_factory=set)  # states in which all is over
    problems: dict[CheckProblem, Run] = field(
        default_factory=dict
    )  # after the fewest actions, with a run

    @property
    def outcome(self) -> str:
        """As in a `Verdict`."""
        return "violated" if self.problems else "correct"

    @property
    def kinds(self) -> set[str]:
        """The kinds of problem that can occur first."""
        return {problem.kind for problem in self.problems}

    @property
    def length(self) -> int:
        """How many actions it takes to reach a problem; 0 if there is none."""
        return min((len(run) for run in self.problems.values()), default=0)


def explore(setting: Setting) -> Explored:
    """Visit everything breadth-first; stop at the depth of the first problem, if there is one."""
    explored = Explored()
    start = CheckedWorld(setting)
    seen = {key(start)}
    layer: list[tuple[CheckedWorld, Run]] = [(start, ())]
    while layer:
        for world, run in layer:
            if world.is_over():
                explored.ends.add(key(world))
                if problem := world.problem_at_end():
                    explored.problems.setdefault(problem, run)
        if explored.problems:
            break
        explored.depth = len(layer[0][1])
        following: list[tuple[CheckedWorld, Run]] = []
        for world, run in layer:
            for action in world.enabled():
                explored.transitions += 1
                after = twin(world, action)
                if problem := after.apply(action):
                    explored.problems.setdefault(problem, (*run, action))
                elif (state := key(after)) not in seen:
                    seen.add(state)
                    following.append((after, (*run, action)))
        layer = following
    explored.states = len(seen)
    return explored


def twin(world: CheckedWorld, action: Action) -> CheckedWorld:
    """A copy of the world in which this action can be taken: the cores that act are copied."""
    other = copy(world)
    acting = list(world.cores) if action.kind == "timers" else [action.process]
    other.cores = {**world.cores, **{name: world.cores[name].copy() for name in acting}}
    other.locations = world.locations.copy()
    other.flight = world.flight.copy()
    other.oracle = world.oracle.copy()
    return other


def key(world: CheckedWorld) -> Hashable:
    """Everything that the future depends on, without the deliveries of messages that are complete."""
    _, waiting, clocks, delivered, *_ = cast(tuple[Any, ...], world.oracle.fingerprint())
    return (
        tuple(world.locations.values()),
        tuple(core.fingerprint() for core in world.cores.values()),
        flying(world.flight, world.setting.fifo),
        (waiting, clocks),
        # A delivered clock without a count that matters is the same as an empty one.
        frozenset((process, counts) for process, counts in delivered if counts),
        (world.losses, world.duplicates, world.ticks, world.rounds),
    )


def flying(flight: list[InFlight], fifo: bool) -> Hashable:
    """How many there are of each frame in flight; with FIFO links, which ones in which order."""
    if not fifo:
        return frozenset(Counter(flight).items())
    links: dict[tuple[str, str], list[InFlight]] = {}
    for in_flight in flight:
        links.setdefault((in_flight.sender, in_flight.to), []).append(in_flight)
    return frozenset((link, tuple(frames)) for link, frames in links.items())
