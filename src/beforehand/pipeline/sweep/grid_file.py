"""A grid as users write it: a TOML file, or the same names and values from the command line.

protocol = ["hybrid", "rst"]      # one value or several; so for every field of a scenario
network = ["lan", "office"]
processes = [10, 100]
messages = 50

[networks.office]                 # of one's own
delay = "2ms"
loss = 0.01
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from beforehand.errors import PipelineError
from beforehand.pipeline.sweep.grid import AXES, Grid
from beforehand.simulator.scenario import LISTS

_NETWORKS: Final = "networks"


def read(path: str) -> dict[str, Any]:
    """The content of a TOML file, unchecked."""
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as problem:
        raise PipelineError(f"{path}: the grid cannot be read ({problem.strerror})") from None
    except ValueError as problem:  # neither TOML nor text
        raise PipelineError(f"{path}: not a TOML file ({problem}); see docs/sweep.md") from None


def grid_of(values: Mapping[str, Any]) -> Grid:
    """The grid of names and values; each value may be a list."""
    networks = values.get(_NETWORKS, {})
    if not isinstance(networks, dict) or not all(isinstance(n, dict) for n in networks.values()):
        raise PipelineError(
            "networks: write each as a table, [networks.NAME]; to choose some, use network = [...]"
        )
    given = {name: _several(name, value) for name, value in values.items() if name != _NETWORKS}
    if "protocol" not in given:
        raise PipelineError("the grid has no protocol; name at least one")
    if networks:
        given.setdefault("network", list(networks))
    axes: dict[str, Any] = {name: tuple(given.pop(name)) for name in AXES if name in given}
    return Grid(**axes, fields={k: tuple(v) for k, v in given.items()}, networks=networks)


def _several(name: str, value: Any) -> list[Any]:
    """A list of values, also for a field whose values are lists."""
    if not isinstance(value, list):
        return [value]
    if name in LISTS and not any(isinstance(item, list) for item in value):
        return [value]
    return value
