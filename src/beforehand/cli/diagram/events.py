"""The events for a diagram: of a file, a folder of files, or any folder above, such as a study's.

A folder of results has other tables next to traces. They are skipped, unless they are named.
"""

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Final

from beforehand import trace
from beforehand.errors import TraceError
from beforehand.report.diagram.logs import check_run
from beforehand.trace.jsonlines import COMPRESSED, PLAIN
from beforehand.trace.parquet import ENDING, problem_of_parquet

REPORT_EVERY: Final = 50_000  # events: several times a second


def events(source: Path, run: str | None, report: Callable[[str], None]) -> Iterator[trace.Event]:
    """All events that may be of the run, from files that have it; without a name, of the only run."""
    files = _files(source)
    if all(file.name.endswith(ENDING) for file in files):
        has = {file: _runs_in(file) for file in files}
        names = dict.fromkeys(name for runs in has.values() for name in runs)
        check_run(run, list(names))
        files = [file for file in files if run is None or run in has[file]]
    counted = count(1)
    for file in files:
        for event in trace.read(file):
            number = next(counted)
            if number % REPORT_EVERY == 0:
                report(f"{number:,} events")
            yield event


def check_source(source: Path) -> None:
    """Raise an error if there is no trace."""
    _files(source)


def runs(source: Path) -> list[str]:
    """The names of all runs in Parquet files, which are quick to read."""
    by_file = (_runs_in(file) for file in _files(source) if file.name.endswith(ENDING))
    return sorted({name for names in by_file for name in names})


def _files(source: Path) -> list[Path]:
    if not source.is_dir():
        trace.read(source)  # raises an error if it is not a trace
        return [source]
    here = [path for path in sorted(source.iterdir()) if _may_be_trace(path)]
    below = [] if here else [path for path in sorted(source.rglob("*")) if _may_be_trace(path)]
    traces = here or [path for path in below if _is_trace(path)]
    if not traces:
        raise TraceError(
            f"{source}: there is no trace in this folder or below, no file of events that ends in "
            f"{ENDING}, {PLAIN} or {COMPRESSED}; check the path, or whether the run has finished"
        )
    return traces


def _may_be_trace(path: Path) -> bool:
    """Judged by its name; unfinished files and Spark's notes start with a dot or an underscore."""
    endings = (ENDING, PLAIN, COMPRESSED)
    return path.is_file() and not path.name.startswith((".", "_")) and path.name.endswith(endings)


def _is_trace(path: Path) -> bool:
    """Judged by its content."""
    if path.name.endswith(ENDING):
        return problem_of_parquet(path) is None
    try:
        next(trace.read(path), None)
    except TraceError:
        return False
    return True


def _runs_in(path: Path) -> list[str]:
    """The runs of a Parquet file, from a single column, which is cheap."""
    import pyarrow.parquet as pq

    problem = problem_of_parquet(path)
    if problem is not None:
        raise TraceError(f"{path}: {problem}")
    column = pq.read_table(path, columns=["run"], read_dictionary=["run"]).column("run")
    return [str(name) for name in column.unique().to_pylist()]
