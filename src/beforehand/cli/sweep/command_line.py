"""The command lines of a sweep: the one for a whole grid, and the one for a single run of it.

A run is identified by its scenario alone. A run on a network that only a grid file names is therefore
the same run on the default network, with each difference given as an option.
"""

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from beforehand.cli.command_lines import line
from beforehand.pipeline.sweep.grid import FIELDS, PREFIX, Grid, Point
from beforehand.pipeline.sweep.networks import DEFAULT, NETWORKS
from beforehand.simulator import Scenario

_DEFAULTS: Final = Scenario().to_dict()
_OF_PROGRAM: Final = ("messages", "interval")  # a replayed program has its own


def sweep_line(out: str, options: Sequence[str], *, traces: bool, audit: bool) -> str:
    """The command with these options of a grid; empty if there are none."""
    if not options:
        return ""
    flags = [*(["--traces"] if traces else []), *(["--audit"] if audit else [])]
    return line("sweep", "--out", out, *options, *flags)


def grid_options(grid: Grid) -> tuple[str, ...]:
    """The options of a whole grid; none if only a file or Python can express it."""
    if grid.programs or any(name in grid.networks for name in grid.network):
        return ()
    options = ["--protocol", ",".join(grid.protocol)]
    for workload in grid.workload:
        options += ["--workload", workload]
    for axis in ("network", "processes", "seed"):
        options += [f"--{axis}", ",".join(map(str, getattr(grid, axis)))]
    for name, values in grid.fields.items():
        if None in values:  # which no option expresses
            return ()
        for value in values:
            options += _option(name, value)
    return tuple(options)


def point_options(point: Point) -> tuple[str, ...]:
    """The options of a single run; none if it replays a program that exists only in Python."""
    scenario = point.scenario.to_dict()
    replays = point.scenario.program is not None
    if replays and not point.workload.startswith(PREFIX):
        return ()
    network = point.network if _is_built_in(point.network, scenario) else DEFAULT
    options = ["--protocol", scenario["protocol"], "--workload", point.workload]
    options += ["--network", network]
    if not replays:
        options += ["--processes", str(scenario["processes"])]
    options += ["--seed", str(scenario["seed"])]
    base = {**_DEFAULTS, **NETWORKS[network]}
    for name in FIELDS:
        if not (replays and name in _OF_PROGRAM) and _text(scenario[name]) != _text(base[name]):
            options += _option(name, scenario[name])
    return tuple(options)


def _is_built_in(network: str, scenario: Mapping[str, Any]) -> bool:
    """Whether the name of the network means the same in every sweep.

    A field that the grid set to None is one that no option could unset.
    """
    return network in NETWORKS and all(scenario[name] is not None for name in NETWORKS[network])


def _option(name: str, value: Any) -> Iterator[str]:
    if name == "messages":
        yield from ("--messages", str(value))
    else:
        yield from ("--set", f"{name}={_argument(value)}")


def _argument(value: Any) -> str:
    """A value as `--set` reads it: TOML, where a string that is not valid TOML needs no quotes."""
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
    return _text(value)  # strings, numbers and booleans are the same in JSON and TOML


def _text(value: Any) -> str:
    """A value as the digest of a scenario has it: 0 and 0.0 differ."""
    return json.dumps(value, ensure_ascii=False)
