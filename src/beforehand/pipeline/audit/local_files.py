"""Parquet files that every task can open directly.

Spark's reader makes a row of every event before Python gets it, which takes many times as long as the
audit itself. So where tasks can open the files, they do, and text stays dictionary-encoded as in the
files. The chunks are the same as those of `stages.chunks`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from heapq import heapreplace
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import LongType, StringType, StructType

from beforehand.pipeline.arrow import arrow_schema
from beforehand.pipeline.audit.judge import judge
from beforehand.pipeline.audit.log_chunks import CODES, UNKNOWN, cut
from beforehand.pipeline.audit.stages import CHUNKS, FINDINGS, findings_batch
from beforehand.pipeline.schemas import required
from beforehand.pipeline.storage import File

SCHEME: Final = "file:"

_PART: Final = 2**23  # bytes of a file for one task, if it has several row groups
_ROWS: Final = 1 << 16
_TEXT: Final = ["run", "process", "kind", "sender", "detail"]
_COLUMNS: Final = ["run", "process", "seq", "kind", "sender", "mid", "to", "detail"]

SIZES: Final = StructType([required("run", StringType()), required("events", LongType())])

RunFilter = Callable[[str], bool]
T = TypeVar("T")


def chunks(spark: SparkSession, files: Sequence[File], selected: RunFilter) -> DataFrame:
    """The chunks of all runs whose names are selected."""
    return _in_tasks(spark, files, _COLUMNS, lambda events: _cut(events, selected), CHUNKS)


def judged(spark: SparkSession, runs: Mapping[str, Sequence[File]], witnesses: int) -> DataFrame:
    """The findings about runs, given all their files; each run is judged by the task that reads it."""
    assigned = _assign(
        [(sum(file.size for file in files), (run, files)) for run, files in runs.items()],
        _tasks(spark),
    )

    def work(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            for task in batch.column("id").to_pylist():
                for run, files in assigned[task]:
                    parts = [FilePart(file.path.removeprefix(SCHEME), 0, 1) for file in files]
                    chunks = [
                        chunk
                        for part in parts
                        for events in _events(part, _COLUMNS)
                        for name, chunk in cut(_coded(events))
                        if name == run
                    ]
                    yield findings_batch(run, judge(chunks, witnesses=witnesses))

    return spark.range(0, len(assigned), 1, len(assigned)).mapInArrow(work, FINDINGS)


def sizes(spark: SparkSession, files: Sequence[File]) -> DataFrame:
    """The causal-sends and deliveries of each run, counted per part of a file."""
    return _in_tasks(spark, files, ["run", "kind"], _count, SIZES)


def only(run: str) -> RunFilter:
    """Selects one run."""
    return lambda name: name == run


def all_but(runs: Collection[str]) -> RunFilter:
    """Selects all other runs."""
    return lambda name: name not in runs


def _in_tasks(
    spark: SparkSession,
    files: Sequence[File],
    columns: list[str],
    convert: Callable[[Any], Any],
    schema: StructType,
) -> DataFrame:
    """Apply a function to each batch of events, in tasks of about equal numbers of bytes."""
    parts = []
    for file in files:
        count = 1 + file.size // _PART
        path = file.path.removeprefix(SCHEME)
        parts += [(file.size // count, FilePart(path, part, count)) for part in range(count)]
    assigned = _assign(parts, _tasks(spark))

    def work(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            for task in batch.column("id").to_pylist():
                for part in assigned[task]:
                    yield from map(convert, _events(part, columns))

    return spark.range(0, len(assigned), 1, len(assigned)).mapInArrow(work, schema)


def _tasks(spark: SparkSession) -> int:
    return 2 * spark.sparkContext.defaultParallelism


def _assign(loads: Iterable[tuple[int, T]], tasks: int) -> list[list[T]]:
    """Assign items to tasks, so that all have about the same total size."""
    assigned: list[list[T]] = [[] for _ in range(tasks)]
    heap = [(0, task) for task in range(tasks)]
    for size, item in sorted(loads, key=lambda load: load[0], reverse=True):
        load, task = heap[0]
        assigned[task].append(item)
        heapreplace(heap, (load + 1 + size, task))
    return assigned


class FilePart(NamedTuple):
    """Some row groups of a file: one of several parts of about the same size."""

    path: str
    part: int
    parts: int


def _events(part: FilePart, columns: list[str]) -> Iterator[Any]:
    with pq.ParquetFile(part.path, read_dictionary=_TEXT, pre_buffer=False) as file:
        groups = file.num_row_groups
        first, last = (groups * n // part.parts for n in (part.part, part.part + 1))
        yield from file.iter_batches(_ROWS, range(first, last), columns=columns, use_threads=False)


def _cut(events: Any, selected: RunFilter) -> Any:
    rows = [{"run": run, **chunk.pack()} for run, chunk in cut(_coded(events)) if selected(run)]
    return pa.RecordBatch.from_pylist(rows, schema=arrow_schema(CHUNKS))


def _coded(events: Any) -> Any:
    """The same events with numeric kinds."""
    kind = events.column("kind")
    codes = [CODES.get(name, UNKNOWN) for name in kind.dictionary.to_pylist()]
    coded = np.array([*codes, UNKNOWN], np.int8)[
        kind.indices.fill_null(len(codes)).to_numpy(zero_copy_only=False)
    ]
    index = events.schema.get_field_index("kind")
    return events.set_column(index, "kind", pa.array(coded))


def _count(events: Any) -> Any:
    kind, run = events.column("kind"), events.column("run")
    judged = np.isin(kind.dictionary.to_pylist(), ("send", "deliver"))
    mine = run.indices.to_numpy()[judged[kind.indices.to_numpy()]]
    counts = np.bincount(mine, minlength=len(run.dictionary)).tolist()
    return pa.RecordBatch.from_arrays(
        [run.dictionary, pa.array(counts)], schema=arrow_schema(SIZES)
    )
