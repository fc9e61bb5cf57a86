"""Parquet files on file systems that every task can open itself.

Spark's reader makes a row of every event before Python gets it, and that takes many times as long as all
that the auditor does with it. So where tasks can open the files, they do, and text stays in the
dictionaries that the files have. What comes out is what `stages.pieces` makes of the same events.
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

Wanted = Callable[[str], bool]
T = TypeVar("T")


def chunks(spark: SparkSession, files: Sequence[File], wanted: Wanted) -> DataFrame:
    """The chunks of all runs whose names are wanted."""
    return _in_tasks(spark, files, _COLUMNS, lambda events: _cut(events, wanted), CHUNKS)


def judged(spark: SparkSession, runs: Mapping[str, Sequence[File]], witnesses: int) -> DataFrame:
    """The findings about runs of which all files are given, each run in the task that reads it."""
    dealt = _deal(
        [(sum(file.size for file in files), (run, files)) for run, files in runs.items()],
        _tasks(spark),
    )

    def work(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            for task in batch.column("id").to_pylist():
                for run, files in dealt[task]:
                    parts = [FilePart(file.path.removeprefix(SCHEME), 0, 1) for file in files]
                    chunks = [
                        chunk
                        for part in parts
                        for events in _events(part, _COLUMNS)
                        for name, chunk in cut(_coded(events))
                        if name == run
                    ]
                    yield findings_batch(run, judge(chunks, witnesses=witnesses))

    return spark.range(0, len(dealt), 1, len(dealt)).mapInArrow(work, FINDINGS)


def sizes(spark: SparkSession, files: Sequence[File]) -> DataFrame:
    """How many causal-sends and deliveries of a run there are, in each part of a file."""
    return _in_tasks(spark, files, ["run", "kind"], _count, SIZES)


def only(run: str) -> Wanted:
    """Wants one run."""
    return lambda name: name == run


def all_but(runs: Collection[str]) -> Wanted:
    """Wants all other runs."""
    return lambda name: name not in runs


def _in_tasks(
    spark: SparkSession,
    files: Sequence[File],
    columns: list[str],
    make: Callable[[Any], Any],
    schema: StructType,
) -> DataFrame:
    """What becomes of each batch of events, in tasks that have about as many bytes as each other."""
    parts = []
    for file in files:
        count = 1 + file.size // _PART
        path = file.path.removeprefix(SCHEME)
        parts += [(file.size // count, FilePart(path, part, count)) for part in range(count)]
    dealt = _deal(parts, _tasks(spark))

    def work(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            for task in batch.column("id").to_pylist():
                for part in dealt[task]:
                    yield from map(make, _events(part, columns))

    return spark.range(0, len(dealt), 1, len(dealt)).mapInArrow(work, schema)


def _tasks(spark: SparkSession) -> int:
    return 2 * spark.sparkContext.defaultParallelism


def _deal(loads: Iterable[tuple[int, T]], tasks: int) -> list[list[T]]:
    """Deal things with their sizes to tasks, so that each gets about as much as any other."""
    dealt: list[list[T]] = [[] for _ in range(tasks)]
    heap = [(0, task) for task in range(tasks)]
    for size, each in sorted(loads, key=lambda load: load[0], reverse=True):
        load, task = heap[0]
        dealt[task].append(each)
        heapreplace(heap, (load + 1 + size, task))
    return dealt


class FilePart(NamedTuple):
    """Some row groups of a file: one of so many parts of about the same size."""

    path: str
    part: int
    parts: int


def _events(it: FilePart, columns: list[str]) -> Iterator[Any]:
    with pq.ParquetFile(it.path, read_dictionary=_TEXT, pre_buffer=False) as file:
        groups = file.num_row_groups
        first, last = groups * it.part // it.parts, groups * (it.part + 1) // it.parts
        yield from file.iter_batches(_ROWS, range(first, last), columns=columns, use_threads=False)


def _cut(events: Any, wanted: Wanted) -> Any:
    found = cut(_coded(events))
    rows = [{"run": run, **chunk.pack()} for run, chunk in found if wanted(run)]
    return pa.RecordBatch.from_pylist(rows, schema=arrow_schema(CHUNKS))


def _coded(events: Any) -> Any:
    """The same with numbers for kinds."""
    kind = events.column("kind")
    codes = [CODES.get(name, UNKNOWN) for name in kind.dictionary.to_pylist()]
    coded = np.array([*codes, UNKNOWN], np.int8)[
        kind.indices.fill_null(len(codes)).to_numpy(zero_copy_only=False)
    ]
    place = events.schema.get_field_index("kind")
    return events.set_column(place, "kind", pa.array(coded))


def _count(events: Any) -> Any:
    kind, run = events.column("kind"), events.column("run")
    judged = np.isin(kind.dictionary.to_pylist(), ("send", "deliver"))
    mine = run.indices.to_numpy()[judged[kind.indices.to_numpy()]]
    counts = np.bincount(mine, minlength=len(run.dictionary)).tolist()
    return pa.RecordBatch.from_arrays(
        [run.dictionary, pa.array(counts)], schema=arrow_schema(SIZES)
    )
