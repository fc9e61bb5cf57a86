"""A warning before the search starts, if the bounds look too large to finish."""

from typing import Final

import typer

from beforehand.checker.explore import free_memory
from beforehand.checker.search.estimate import Estimate, estimate
from beforehand.checker.setting import Setting
from beforehand.cli.check.request import SearchOptions
from beforehand.cli.ui.progress import progress_line
from beforehand.results.format import NANOSECONDS, duration

LONG: Final = 3600.0  # seconds: more than people wait for without a warning


def warn(setting: Setting, search: SearchOptions) -> None:
    """Print the estimate on standard error if it exceeds the time limit, an hour or the memory."""
    with progress_line("estimating"):
        expected = estimate(
            setting, reduce=search.reduction, symmetry=search.symmetry, workers=search.workers
        )
    if expected is None:
        return
    memory = free_memory()
    if expected.seconds > (search.seconds or LONG) or expected.bytes > memory:
        typer.echo(f"beforehand: {_sentence(expected, memory)}", err=True)


def _sentence(expected: Estimate, memory: int) -> str:
    return (
        f"this may not finish: about {rounded(expected.states)} states, which take about "
        f"{duration(expected.seconds * NANOSECONDS, rounded)} and "
        f"{rounded(expected.bytes / 2**30)} GiB of memory ({memory / 2**30:.1f} GiB are free); "
        "reduce the bounds, for example with uneven --sends, set a --time-limit, or use a cluster "
        "with --master"
    )


def rounded(number: float) -> str:
    """An estimate with two significant digits; a power of ten beyond a trillion."""
    if number < 10:
        return f"{number:.1f}"
    if number < 1e12:
        digits = len(str(int(number))) - 2
        return f"{round(number, -digits):,.0f}"
    return f"{number:.0e}".replace("e+", " x 10^")
