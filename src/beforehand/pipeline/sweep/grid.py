"""A grid: values for each axis, and every combination of them that can be run.

Values that are invalid on their own (an unknown protocol or workload, a payload that isn't a number)
are rejected before anything runs. Combinations that don't fit (a protocol that only broadcasts and a
workload that doesn't) are skipped, each with its reason.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import fields as fields_of
from itertools import product
from typing import Any, Final

from beforehand.errors import PipelineError, ScenarioError
from beforehand.pipeline.sweep.networks import DEFAULT, NETWORK_FIELDS, NETWORKS, Network
from beforehand.simulator import Program, Scenario
from beforehand.simulator.workloads.registry import REPLAY

PREFIX: Final = f"{REPLAY}:"  # of workloads that replay something
AUTO: Final = "auto"  # of split: where a protocol has no multicast and the workload needs it
AXES: Final = ("protocol", "workload", "network", "processes", "seed")
# What else a scenario has: these can have several values too.
FIELDS: Final = tuple(
    f.name for f in fields_of(Scenario) if f.name not in (*AXES, "network", "program")
)
# Depend on the protocol or on process names, so they are checked in combination only.
_TOGETHER: Final = frozenset(
    {"partitions", "stops", "drop_after", "overlay", "churn", "opens", "closes", "reparents"}
    | {"options", "split"}
)
# Determined by the program of a replay: other values would be the same run under another name.
_OF_PROGRAM: Final = frozenset({"messages", "interval"})
_ANY: Final = "raw"  # takes every workload that does not need an overlay


@dataclass(frozen=True)
class Grid:
    """What to run: all combinations of these values, each of which is checked here on its own.

    A workload `replay:PATH` is read when the sweep starts; see programs.py.
    """

    protocol: Sequence[str]
    workload: Sequence[str] = ("uniform",)
    network: Sequence[str] = (DEFAULT,)
    processes: Sequence[int] = (100,)
    seed: Sequence[int] = (1,)
    fields: Mapping[str, Sequence[Any]] = field(default_factory=dict)  # of FIELDS: their values
    networks: Mapping[str, Network] = field(default_factory=dict)  # besides the named ones
    programs: Mapping[str, Program] = field(default_factory=dict)  # workload -> what it replays

    def __post_init__(self) -> None:
        for axis in AXES:
            values = getattr(self, axis)
            _check_values(axis, values)
            kind = int if axis in ("processes", "seed") else str
            for value in values:
                if type(value) is not kind:
                    wanted = "whole numbers" if kind is int else "text"
                    raise PipelineError(f"{axis}: {value!r} is invalid; use {wanted}")
        for name, values in self.fields.items():
            if name not in FIELDS:
                raise PipelineError(f"a grid has no {name!r}; it has {', '.join((*AXES, *FIELDS))}")
            _check_values(name, values)
        for name, network in self.networks.items():
            if name in NETWORKS:
                raise PipelineError(f"network {name!r} exists already; give yours another name")
            for field_name in network:
                if field_name not in NETWORK_FIELDS:
                    raise PipelineError(
                        f"network {name!r} has no {field_name!r}; it has {', '.join(NETWORK_FIELDS)}"
                    )
        for name in self.network:
            if name not in self.all_networks():
                raise PipelineError(
                    f"there is no network {name!r}; the networks: {', '.join(self.all_networks())}"
                )
        _check_alone(self)

    def all_networks(self) -> dict[str, Network]:
        """The built-in networks and the grid's own."""
        return {**NETWORKS, **self.networks}


@dataclass(frozen=True)
class Point:
    """One run of a grid, and its names there."""

    workload: str
    network: str
    setting: str  # the other fields of the grid, like "loss=0.1, messages=50"
    scenario: Scenario
    run: str  # the digest of the scenario

    def describe(self) -> str:
        """The point in a few words."""
        return _described(
            self.scenario.protocol, self.workload, self.network, len(self.scenario.names)
        )


@dataclass(frozen=True)
class Skipped:
    """A combination that cannot be run."""

    what: str
    reason: str


@dataclass(frozen=True)
class SweepPlan:
    """A whole grid: what to run, and what cannot be run."""

    points: tuple[Point, ...]
    skipped: tuple[Skipped, ...]


def plan(grid: Grid) -> SweepPlan:
    """The runs of a grid; the programs of replays must have been read."""
    points: dict[tuple[str, ...], Point] = {}
    skipped: dict[Skipped, None] = {}
    for protocol, workload, network in product(grid.protocol, grid.workload, grid.network):
        program = grid.programs.get(workload)
        for given, processes, seed in _combinations(grid, program):
            chosen = {**grid.all_networks()[network], **given, "protocol": protocol, "seed": seed}
            if program is None:
                chosen |= {"workload": workload, "processes": processes}
            else:
                chosen |= {"workload": REPLAY, "program": program}
            try:
                scenario = _scenario(chosen)
            except ScenarioError as problem:
                size = processes if program is None else len(program.processes)
                skipped[Skipped(_described(protocol, workload, network, size), str(problem))] = None
                continue
            point = Point(workload, network, _setting(given), scenario, scenario.digest())
            points[point.run, workload, network, point.setting] = point
    if not points:
        reason = next(iter(skipped)).reason
        raise PipelineError(f"no combination of the grid can be run; the first: {reason}")
    return SweepPlan(tuple(points.values()), tuple(skipped))


def _combinations(grid: Grid, program: Program | None) -> Iterator[tuple[dict[str, Any], int, int]]:
    """Every combination of the other fields, the size and the seed."""
    names = [name for name in grid.fields if program is None or name not in _OF_PROGRAM]
    sizes = grid.processes if program is None else [0]
    for values in product(*(grid.fields[name] for name in names)):
        for processes, seed in product(sizes, grid.seed):
            yield dict(zip(names, values, strict=True)), processes, seed


def _scenario(chosen: dict[str, Any]) -> Scenario:
    """A scenario; with `split` on auto, multicasts are split only where it doesn't work otherwise."""
    if chosen.get("split", AUTO) != AUTO:
        return Scenario(**chosen)
    try:
        return Scenario(**{**chosen, "split": False})
    except ScenarioError as problem:
        try:
            return Scenario(**{**chosen, "split": True})
        except ScenarioError:
            raise problem from None


def _setting(given: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in given.items())


def _described(protocol: str, workload: str, network: str, processes: int) -> str:
    return f"{protocol}, workload {workload}, network {network}, {processes:,} processes"


# ---- checks of single values ----


def _check_values(name: str, values: Sequence[Any]) -> None:
    if isinstance(values, str) or not values:
        raise PipelineError(f"{name}: list at least one value")
    if any(value in values[:index] for index, value in enumerate(values)):
        raise PipelineError(f"{name}: a value occurs twice; list each once")


def _check_alone(grid: Grid) -> None:
    """Reject what could not run in any combination."""
    for protocol in grid.protocol:
        # Every protocol can broadcast, if need be by one message per receiver.
        Scenario(protocol=protocol, workload="broadcast:1", processes=3, split=True, fifo=True)
    for processes in grid.processes:
        Scenario(protocol=_ANY, processes=processes)
    for workload in grid.workload:
        if workload == REPLAY:
            raise PipelineError("workload replay: say of what, as replay:PATH or replay:PATH#RUN")
        if workload not in grid.programs and not workload.startswith(PREFIX):
            Scenario(protocol=_ANY, workload=workload, processes=max(grid.processes))
    alone: list[tuple[str, Any]] = [("seed", value) for value in grid.seed]
    alone += [(name, value) for name, values in grid.fields.items() for value in values]
    for network in grid.network:
        alone += grid.all_networks()[network].items()
    for name, value in alone:
        if name not in _TOGETHER:
            try:
                Scenario(protocol=_ANY, **{name: value})
            except (TypeError, ValueError, AttributeError):
                raise PipelineError(
                    f"{name}: {value!r} is invalid; see the fields of a scenario in docs/sweep.md"
                ) from None
        if name == "split" and value not in (True, False, AUTO):
            raise PipelineError(f"split is {value!r}; give true, false or {AUTO!r}")
