"""The events for a diagram: of a file, a folder of files, or any folder above, such as a study's.

A folder of results has other tables beside traces. They are passed over, unless they were asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Final

from beforehand import trace
from beforehand.errors import TraceError
from beforehand.report.diagram.logs import check_run
from beforehand.trace.jsonlines import COMPRESSED, PLAIN
from beforehand.trace.parquet import ENDING, problem_of_parquet

TOLD_EVERY: Final = 50_000  # events: several times a second

Told = Callable[[str], None]


def events(place: Path, run: str | None, tell: Told) -> Iterator[trace.Event]:
    """All events that may be of the run, from files that have it; without a name, of the only run."""
    files = _files(place)
    if all(file.name.endswith(ENDING) for file in files):
        has = {file: _runs_in(file) for file in files}
        names = dict.fromkeys(name for found in has.values() for name in found)
        check_run(run, list(names))
        files = [file for file in files if run is None or run in has[file]]
    counted = count(1)
    for file in files:
        for event in trace.read(file):
            number = next(counted)
            if number % TOLD_EVERY == 0:
                tell(f"{number:,} events")
            yield event


def runs(place: Path) -> list[str]:
    """The names of all runs, where it does not take long to say: in Parquet files."""
    found = (_runs_in(file) for file in _files(place) if file.name.endswith(ENDING))
    return sorted({name for names in found for name in names})


def _files(place: Path) -> list[Path]:
    if not place.is_dir():
        trace.read(place)  # which says what is wrong with the name, if something is
        return [place]
    here = [each for each in sorted(place.iterdir()) if _may_be_trace(each)]
    below = [each for each in sorted(place.rglob("*")) if _may_be_trace(each)] if not here else []
    found = here or [each for each in below if _is_trace(each)]
    if not found:
        raise TraceError(
            f"{place}: there is no trace in this folder or below, no file of events that ends in "
            f"{ENDING}, {PLAIN} or {COMPRESSED}; check the path, or whether the run has finished"
        )
    return found


def _may_be_trace(path: Path) -> bool:
    """By its name; what is not finished, and Spark's notes, begin with other characters."""
    endings = (ENDING, PLAIN, COMPRESSED)
    return path.is_file() and not path.name.startswith((".", "_")) and path.name.endswith(endings)


def _is_trace(path: Path) -> bool:
    """By what is in it."""
    if path.name.endswith(ENDING):
        return problem_of_parquet(path) is None
    try:
        next(trace.read(path), None)
    except TraceError:
        return False
    return True


def _runs_in(path: Path) -> list[str]:
    """The runs of a Parquet file, from one column, which costs next to nothing."""
    import pyarrow.parquet as pq

    found = problem_of_parquet(path)
    if found is not None:
        raise TraceError(f"{path}: {found}")
    column = pq.read_table(path, columns=["run"], read_dictionary=["run"]).column("run")
    return [str(name) for name in column.unique().to_pylist()]
