"""Trace files, wherever they are: which there are, and what is wrong with the others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from beforehand.errors import PipelineError, TraceError
from beforehand.pipeline.engine import PipelineEngine, Source
from beforehand.pipeline.engine.engine import Batches
from beforehand.pipeline.storage import File, Storage, is_near, local_path
from beforehand.results.schema import Schema, text
from beforehand.trace import files as trace_files
from beforehand.trace.parquet import ENDING as PARQUET
from beforehand.trace.parquet import problem_of_parquet

JSON: Final = (".jsonl", ".jsonl.gz")
_WHOLE_VALUE: Final = 64  # characters up to which min/max statistics aren't truncated
_CHECK_RATE: Final = 2e6  # bytes per second of one core

PROBLEMS: Final = Schema(text("file"), text("problem")).arrow()


class Footer(NamedTuple):
    """What the footer of a Parquet file contains."""

    rows: int
    run: str | None  # if the file holds only one


@dataclass(frozen=True)
class TraceFiles:
    """The readable files of a trace folder, and why the others are unreadable."""

    parquet: list[File]
    json: list[File]
    unreadable: dict[str, str]
    footers: dict[str, Footer]  # of the Parquet files on this machine

    @property
    def size(self) -> int:
        """Bytes of all readable files."""
        return sum(file.size for file in (*self.parquet, *self.json))

    def near_and_far(self) -> tuple[list[File], list[File]]:
        """The Parquet files that every task can open directly, and the others."""
        near = [file for file in self.parquet if is_near(file.path)]
        return near, [file for file in self.parquet if not is_near(file.path)]

    def without(self, unreadable: dict[str, str]) -> TraceFiles:
        """The same without some files that turned out to be unreadable."""
        return TraceFiles(
            [file for file in self.parquet if file.path not in unreadable],
            [file for file in self.json if file.path not in unreadable],
            {**self.unreadable, **unreadable},
            {path: f for path, f in self.footers.items() if path not in unreadable},
        )

    def by_run(self) -> dict[str, list[File]] | None:
        """The files of each run, if every file is known to hold a single run."""
        runs: dict[str, list[File]] = {}
        for file in (*self.parquet, *self.json):
            run = self.footers[file.path].run if file.path in self.footers else None
            if run is None:
                return None
            runs.setdefault(run, []).append(file)
        return runs

    def rows(self, files: Iterable[File]) -> int:
        """How many rows these files have; an upper bound where the footer is unknown."""
        return sum(
            self.footers[file.path].rows if file.path in self.footers else file.size
            for file in files
        )


def find(storage: Storage, sources: Sequence[str]) -> TraceFiles:
    """The traces in files, in folders at any depth, and in patterns."""
    files: dict[str, File] = {}
    for source in sources:
        if not storage.find(source):
            raise PipelineError(f"{source}: there is no such file or folder; check the path")
        inside = storage.files_of([source])
        files |= {file.path: file for file in inside if file.path.endswith((PARQUET, *JSON))}
    if not files:
        raise PipelineError(
            f"{', '.join(sources)}: no traces here, that is, no files that end in "
            f"{', '.join((PARQUET, *JSON))}; check the path, or whether the run has finished"
        )
    traces = TraceFiles(
        [file for file in files.values() if file.path.endswith(PARQUET)],
        [file for file in files.values() if file.path.endswith(JSON)],
        {},
        {},
    )
    broken: dict[str, str] = {}
    for file in traces.near_and_far()[0]:
        footer = _footer(local_path(file.path))
        if isinstance(footer, Footer):
            traces.footers[file.path] = footer
        else:
            broken[file.path] = footer
    return traces.without(broken)


def problems(engine: PipelineEngine, traces: TraceFiles) -> dict[str, str]:
    """The invalid files and their problems. Reads every row, which takes long: only after a failure."""
    files = [*traces.parquet, *traces.json]
    rows = engine.files(files, _check, PROBLEMS, _CHECK_RATE).collect().to_pylist()
    return {row["file"]: row["problem"] for row in rows}


def _footer(path: str) -> Footer | str:
    """The footer of a Parquet file on this machine, or what is wrong with the file."""
    try:
        return problem_of_parquet(Path(path)) or _footer_of(pq.read_metadata(path))
    except OSError as error:
        return f"cannot be read ({error.strerror}); check its permissions"


def _footer_of(metadata: Any) -> Footer:
    column = metadata.schema.to_arrow_schema().get_field_index("run")
    runs: set[object] = set()
    for group in range(metadata.num_row_groups):
        stats = metadata.row_group(group).column(column).statistics
        known = stats is not None and stats.has_min_max and stats.min == stats.max
        # Statistics of long values may be truncated, and then equal though the values differ.
        runs.add(stats.min if known and len(stats.min) <= _WHOLE_VALUE else None)
    run = runs.pop() if len(runs) == 1 else None
    return Footer(metadata.num_rows, run if isinstance(run, str) else None)


def _check(source: Source) -> Batches:
    """In a task: read the whole file, and report the problem if there is one."""
    try:
        for _ in trace_files.read(source.local):
            pass
    except TraceError as problem:
        reason = str(problem).removeprefix(f"{source.local}: ")
        row = {"file": source.path, "problem": reason}
        yield pa.RecordBatch.from_pylist([row], schema=PROBLEMS)
