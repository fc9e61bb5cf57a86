"""Parquet files that every task can open directly.

Spark's reader makes a row of every event before Python gets it, which takes many times as long as the
audit itself. So where tasks can open the files, they do, and text stays dictionary-encoded as in the
files. The chunks are the same as those of `stages.chunks`.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from heapq import heapreplace
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from beforehand.pipeline.audit.judge import judge
from beforehand.pipeline.audit.log_chunks import CODES, UNKNOWN, cut
from beforehand.pipeline.audit.stages import CHUNKS, FINDINGS, findings_batch
from beforehand.pipeline.schemas import NUMBER, TEXT, arrow_schema, required
from beforehand.pipeline.storage import File

SCHEME: Final = "file:"

_PART: Final = 2**23  # bytes of a file for one task, if it has several row groups
_ROWS: Final = 1 << 16
_TEXT: Final = ["run", "process", "kind", "sender", "detail"]
_COLUMNS: Final = ["run", "process", "seq", "kind", "sender", "mid", "to", "detail"]

SIZES: Final = StructType(required(run=TEXT, events=NUMBER))

RunFilter = Callable[[str], bool]
T = TypeVar("T")


def chunks(spark: SparkSession, files: Sequence[File], selected: RunFilter) -> DataFrame:
    """The chunks of all runs whose names are selected."""

    def cut_part(part: FilePart) -> Iterator[Any]:
        return (_cut(events, selected) for events in _events(part, _COLUMNS))

    return _in_tasks(spark, _parts(files), cut_part, CHUNKS)


def judged(spark: SparkSession, runs: Mapping[str, Sequence[File]], witnesses: int) -> DataFrame:
    """The findings about runs, given all their files; each run is judged by the task that reads it."""

    def judge_run(files_of_run: tuple[str, Sequence[File]]) -> Iterator[Any]:
        run, files = files_of_run
        chunks = [
            chunk
            for file in files
            for events in _events(FilePart(file.path.removeprefix(SCHEME), 0, 1), _COLUMNS)
            for name, chunk in cut(_coded(events))
            if name == run
        ]
        yield findings_batch(run, judge(chunks, witnesses=witnesses))

    loads = [(sum(file.size for file in files), (run, files)) for run, files in runs.items()]
    return _in_tasks(spark, loads, judge_run, FINDINGS)


def sizes(spark: SparkSession, files: Sequence[File]) -> DataFrame:
    """The causal-sends and deliveries of each run, counted per part of a file."""

    def count_part(part: FilePart) -> Iterator[Any]:
        return map(_count, _events(part, ["run", "kind"]))

    return _in_tasks(spark, _parts(files), count_part, SIZES)


def only(run: str) -> RunFilter:
    """Selects one run."""
    return lambda name: name == run


def all_but(runs: Collection[str]) -> RunFilter:
    """Selects all other runs."""
    return lambda name: name not in runs


def _in_tasks(
    spark: SparkSession,
    loads: Iterable[tuple[int, T]],
    work: Callable[[T], Iterator[Any]],
    schema: StructType,
) -> DataFrame:
    """Apply a function to items, given with their sizes, in tasks of about the same total size."""
    tasks = 2 * spark.sparkContext.defaultParallelism
    assigned: list[list[T]] = [[] for _ in range(tasks)]
    heap = [(0, task) for task in range(tasks)]
    for size, item in sorted(loads, key=lambda load: load[0], reverse=True):
        load, task = heap[0]
        assigned[task].append(item)
        heapreplace(heap, (load + 1 + size, task))

    def work_off(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            for task in batch.column("id").to_pylist():
                for item in assigned[task]:
                    yield from work(item)

    return spark.range(0, tasks, 1, tasks).mapInArrow(work_off, schema)


class FilePart(NamedTuple):
    """Some row groups of a file: one of several parts of about the same size."""

    path: str
    part: int
    parts: int


def _parts(files: Sequence[File]) -> Iterator[tuple[int, FilePart]]:
    """The parts of files, each with its size in bytes."""
    for file in files:
        count = 1 + file.size // _PART
        path = file.path.removeprefix(SCHEME)
        yield from ((file.size // count, FilePart(path, part, count)) for part in range(count))


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
