"""Bounds that look as if they could not finish are told of before the work starts."""

from __future__ import annotations

from typing import Final

import typer

from beforehand.checker.explore import free_memory
from beforehand.checker.search.estimate import Estimate, estimate
from beforehand.checker.setting import Setting
from beforehand.cli.check.options import Search
from beforehand.cli.ui.progress import progress_line
from beforehand.results.format import NANOSECONDS, duration

LONG: Final = 3600.0  # seconds: more than people wait for without having been told


def warn(explored: Setting, search: Search) -> None:
    """Say on the error stream what to expect, if it is more than an hour or than the memory holds."""
    with progress_line("looking ahead"):
        found = estimate(
            explored, reduce=search.reduction, symmetry=search.symmetry, workers=search.workers
        )
    if found is None:
        return
    memory = free_memory()
    if found.seconds > (search.seconds or LONG) or found.bytes > memory:
        typer.echo(f"beforehand: {_sentence(found, memory)}", err=True)


def _sentence(found: Estimate, memory: int) -> str:
    return (
        f"this may not finish: about {rounded(found.states)} states, which take about "
        f"{duration(found.seconds * NANOSECONDS, rounded)} and {rounded(found.bytes / 2**30)} GiB of "
        f"memory (free: {memory / 2**30:.1f}); give smaller bounds, perhaps uneven ones with --sends, a "
        "--time-limit, or a cluster with --master"
    )


def rounded(number: float) -> str:
    """Two digits of a guess are enough, and beyond a million of millions its size is."""
    if number < 10:
        return f"{number:.1f}"
    if number < 1e12:
        digits = len(str(int(number))) - 2
        return f"{round(number, -digits):,.0f}"
    return f"{number:.0e}".replace("e+", " x 10^")
