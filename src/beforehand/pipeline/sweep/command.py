"""The options of `beforehand sweep` that give a grid, and those that give one run of it.

A run is named by its scenario alone. So one on a network that has a name only in a file is the same run
on the usual network, with all that differs said one by one.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, Final

from beforehand.pipeline.sweep.grid import FIELDS, PREFIX, Grid, Point
from beforehand.pipeline.sweep.networks import DEFAULT, NETWORKS
from beforehand.simulator import Scenario

_USUAL: Final = Scenario().to_dict()
_OF_PROGRAM: Final = ("messages", "interval")  # a replay brings its own


def words_of_grid(grid: Grid) -> tuple[str, ...]:
    """For the whole grid; nothing if only a file or Python can say it."""
    if grid.programs or any(name in grid.networks for name in grid.network):
        return ()
    found = ["--protocol", ",".join(grid.protocol)]
    for workload in grid.workload:
        found += ["--workload", workload]
    for axis in ("network", "processes", "seed"):
        found += [f"--{axis}", ",".join(map(str, getattr(grid, axis)))]
    for name, values in grid.fields.items():
        if None in values:  # which cannot be typed
            return ()
        for value in values:
            found += _option(name, value)
    return tuple(found)


def words_of_point(point: Point) -> tuple[str, ...]:
    """For one run; nothing if it replays what only Python has."""
    scenario = point.scenario.to_dict()
    replays = point.scenario.program is not None
    if replays and not point.workload.startswith(PREFIX):
        return ()
    network = point.network if _is_usual(point.network, scenario) else DEFAULT
    found = ["--protocol", scenario["protocol"], "--workload", point.workload, "--network", network]
    if not replays:
        found += ["--processes", str(scenario["processes"])]
    found += ["--seed", str(scenario["seed"])]
    base = {**_USUAL, **NETWORKS[network]}
    for name in FIELDS:
        if not (replays and name in _OF_PROGRAM) and _text(scenario[name]) != _text(base[name]):
            found += _option(name, scenario[name])
    return tuple(found)


def _is_usual(network: str, scenario: Mapping[str, Any]) -> bool:
    """Whether a network has its name everywhere, and nothing of it that options cannot undo."""
    return network in NETWORKS and all(scenario[each] is not None for each in NETWORKS[network])


def _option(name: str, value: Any) -> Iterator[str]:
    if name == "messages":
        yield from ("--messages", str(value))
    else:
        yield from ("--set", f"{name}={_typed(value)}")


def _typed(value: Any) -> str:
    """As `--set` reads it: TOML, but texts that are nothing in TOML stand as they are."""
    if isinstance(value, str):
        try:
            tomllib.loads(f"value = {value}")
        except tomllib.TOMLDecodeError:
            return value
    return _toml(value)


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_toml(k)} = {_toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return _text(value)  # texts, numbers, true and false are the same in JSON and TOML


def _text(value: Any) -> str:
    """As the name of a run has it: 0 and 0.0 differ."""
    return json.dumps(value, ensure_ascii=False)
