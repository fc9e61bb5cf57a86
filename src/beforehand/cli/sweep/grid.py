"""From the options of `beforehand sweep` to a grid: a file, and the options that override it."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

from beforehand.errors import PipelineError

if TYPE_CHECKING:
    from beforehand.cli.sweep.options import SweepOptions
    from beforehand.pipeline.sweep import Grid


def grid_of(options: SweepOptions) -> Grid | None:
    """The grid that the options describe; None if they describe none."""
    from beforehand.pipeline.sweep import grid_file

    values: dict[str, Any] = {} if options.grid is None else grid_file.read(options.grid)
    for name in ("protocol", "network"):
        if given := getattr(options, name):
            values[name] = _split(given)
    for name in ("processes", "seed", "messages"):
        if given := getattr(options, name):
            values[name] = [_integer(name, text) for text in _split(given)]
    if options.workload:
        values["workload"] = options.workload
    values |= _other_values(options.values or [])
    return grid_file.grid_of(values) if values else None


def _other_values(texts: list[str]) -> dict[str, list[Any]]:
    values: dict[str, list[Any]] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise PipelineError(f"--set {text!r}: write it like payload=1kB")
        values.setdefault(name.replace("-", "_"), []).append(_value(value))
    return values


def _split(texts: list[str]) -> list[str]:
    return [part.strip() for text in texts for part in text.split(",")]


def _integer(name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise PipelineError(f"--{name} {text!r}: give whole numbers") from None


def _value(text: str) -> Any:
    """A value of TOML, except that strings need no quotes: 0.1, true, 50kB/s."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
