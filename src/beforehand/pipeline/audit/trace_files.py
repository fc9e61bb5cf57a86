"""Trace files, wherever they are, as a table of events.

Spark reads Parquet itself; lines of JSON are read in the tasks by the reader of `beforehand.trace`. An
unreadable file doesn't stop the others.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from beforehand.errors import PipelineError, TraceError
from beforehand.pipeline.arrow import record_batches
from beforehand.pipeline.audit.local_files import SCHEME
from beforehand.pipeline.schemas import EVENTS, TEXT, arrow_schema, required
from beforehand.pipeline.storage import File, Storage, literal
from beforehand.trace import files as trace_files
from beforehand.trace.parquet import ENDING as PARQUET
from beforehand.trace.parquet import problem_of_parquet

JSON: Final = (".jsonl", ".jsonl.gz")
_ROWS: Final = 10_000  # events per batch that a task returns
_WHOLE_VALUE: Final = 64  # characters up to which min/max statistics aren't truncated

PROBLEMS: Final = StructType(required(file=TEXT, problem=TEXT))


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

    def near_and_far(self) -> tuple[list[File], TraceFiles]:
        """The Parquet files that every task can open directly, and the rest."""
        near = [file for file in self.parquet if file.path.startswith(SCHEME)]
        far = [file for file in self.parquet if not file.path.startswith(SCHEME)]
        return near, TraceFiles(far, self.json, self.unreadable, self.footers)

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


def find(spark: SparkSession, sources: Sequence[str]) -> TraceFiles:
    """The traces in files, in folders at any depth, and in patterns."""
    storage = Storage(spark)
    files: dict[str, File] = {}
    for source in sources:
        matching = storage.glob(source) or storage.glob(literal(source))
        if not matching:
            raise PipelineError(f"{source}: there is no such file or folder; check the path")
        for match in matching:
            inside = storage.files_under(match.path) if match.is_folder else [match]
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
        footer = _footer(file.path.removeprefix(SCHEME))
        if isinstance(footer, Footer):
            traces.footers[file.path] = footer
        else:
            broken[file.path] = footer
    return traces.without(broken | _problems(spark, traces.json))


def events(spark: SparkSession, traces: TraceFiles) -> DataFrame:
    """All events of all files."""
    tables = []
    if traces.parquet:
        paths = [literal(file.path) for file in traces.parquet]
        tables.append(spark.read.schema(EVENTS).parquet(*paths))
    if traces.json:
        tables.append(_in_tasks(spark, traces.json, _read, EVENTS))
    if not tables:
        return spark.createDataFrame([], EVENTS)
    return tables[0] if len(tables) == 1 else tables[0].union(tables[1])


def problems(spark: SparkSession, traces: TraceFiles) -> dict[str, str]:
    """The invalid files and their problems. Reads every row, which takes long: only after a failure."""
    return _problems(spark, [*traces.parquet, *traces.json])


def _problems(spark: SparkSession, files: Sequence[File]) -> dict[str, str]:
    rows = _in_tasks(spark, files, _check, PROBLEMS).collect() if files else ()
    return {row.file: row.problem for row in rows}


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


# ---- in tasks ----


def _in_tasks(
    spark: SparkSession, files: Sequence[File], reader: Any, schema: StructType
) -> DataFrame:
    paths = [literal(file.path) for file in files]
    table = spark.read.format("binaryFile").load(paths)
    return table.select(F.col("path"), F.col("content")).mapInArrow(reader, schema)


def _contents(batches: Iterable[Any]) -> Iterator[tuple[str, str]]:
    """Each file by its path in Spark, with the path of a local copy with the same extension."""
    for batch in batches:
        for path, content in zip(batch.column("path"), batch.column("content"), strict=True):
            name = unquote(path.as_py()).rpartition("/")[2]
            with tempfile.TemporaryDirectory() as folder:
                local = os.path.join(folder, name[-100:].lstrip("._") or PARQUET)
                Path(local).write_bytes(memoryview(content.as_buffer()))
                yield path.as_py(), local


def _read(batches: Iterable[Any]) -> Iterator[Any]:
    for _, local in _contents(batches):
        rows = (event._asdict() for event in trace_files.read(local))
        yield from record_batches(rows, arrow_schema(EVENTS), _ROWS)


def _check(batches: Iterable[Any]) -> Iterator[Any]:
    for path, local in _contents(batches):
        try:
            for _ in trace_files.read(local):
                pass
        except TraceError as problem:
            text = str(problem).removeprefix(f"{local}: ")
            yield pa.RecordBatch.from_pylist(
                [{"file": path, "problem": text}], schema=arrow_schema(PROBLEMS)
            )
