"""Protocols of other distributions, declared in the entry-point group `beforehand.protocols`.

An entry point refers to a `Protocol` value. They are loaded once, when the names of all protocols or a
name that isn't built in are asked for. One that fails is skipped with a warning that names its
distribution, and never affects the others.
"""

import warnings
from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Final

GROUP: Final = "beforehand.protocols"


class PluginLoading:
    """Whether plugins have been loaded in this process, and those that failed."""

    problems: dict[str, str]  # by the name of the entry point

    def __init__(self) -> None:
        self.done: bool = False
        self.problems = {}


_LOADING: Final = PluginLoading()


def load_once(register: Callable[[object], None]) -> None:
    """Load all plugins and register them, unless that has been done."""
    if _LOADING.done:
        return
    _LOADING.done = True
    for entry in entry_points(group=GROUP):
        try:
            register(entry.load())
        except Exception as error:  # whatever a plugin does wrong at its import
            distribution = "?" if entry.dist is None else entry.dist.name
            problem = (
                f"the plugin {entry.name!r} of the distribution {distribution} cannot be used "
                f"({type(error).__name__}: {error})"
            )
            _LOADING.problems[entry.name] = problem
            warnings.warn(
                f"{problem}; update or uninstall {distribution}", RuntimeWarning, stacklevel=3
            )


def problem(name: str) -> str:
    """Why the plugin that should bring a protocol failed; empty if none did."""
    return _LOADING.problems.get(name, "")
