"""Parquet files on file systems that every task can open itself.

Spark's reader makes a row of every event before Python gets it, and that takes many times as long as all
that the auditor does with it. So where tasks can open the files, they do, and text stays in the
dictionaries that the files have. What comes out is what `stages.pieces` makes of the same events.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import IntegerType, LongType, StringType, StructType

from beforehand.pipeline.arrow import arrow_schema
from beforehand.pipeline.audit.pieces import CODES, UNKNOWN, cut
from beforehand.pipeline.audit.stages import PIECES
from beforehand.pipeline.schemas import required
from beforehand.pipeline.storage import File

SCHEME: Final = "file:"

_PART: Final = 2**23  # bytes of a file for one task, if it has several row groups
_ROWS: Final = 1 << 16
_TEXT: Final = ["run", "process", "kind", "sender", "detail"]
_COLUMNS: Final = ["run", "process", "seq", "kind", "sender", "mid", "to", "detail"]

PARTS: Final = StructType(
    [
        required("task", IntegerType()),
        required("path", StringType()),
        required("part", IntegerType()),
        required("parts", IntegerType()),
    ]
)
SIZES: Final = StructType([required("run", StringType()), required("events", LongType())])

Wanted = Callable[[str], bool]


def pieces(spark: SparkSession, files: Sequence[File], wanted: Wanted) -> DataFrame:
    """The pieces of all runs whose names are wanted."""
    return _parts(spark, files).mapInArrow(_cut(wanted), PIECES)


def sizes(spark: SparkSession, files: Sequence[File]) -> DataFrame:
    """How many causal-sends and deliveries of a run there are, in each part of a file."""
    return _parts(spark, files).mapInArrow(_count, SIZES)


def only(run: str) -> Wanted:
    """Wants one run."""
    return lambda name: name == run


def all_but(runs: Collection[str]) -> Wanted:
    """Wants all other runs."""
    return lambda name: name not in runs


def _parts(spark: SparkSession, files: Sequence[File]) -> DataFrame:
    """Parts of files, dealt to tasks so that each has about as many bytes as any other."""
    tasks = 2 * spark.sparkContext.defaultParallelism
    loads = [0] * tasks
    rows = []
    for file in sorted(files, key=lambda file: file.size, reverse=True):
        parts = 1 + file.size // _PART
        for part in range(parts):
            task = loads.index(min(loads))
            loads[task] += 1 + file.size // parts
            rows.append((task, file.path.removeprefix(SCHEME), part, parts))
    return spark.createDataFrame(rows, PARTS).repartitionById(tasks, "task")


def _cut(wanted: Wanted) -> Callable[[Iterable[Any]], Iterator[Any]]:
    def cut_files(batches: Iterable[Any]) -> Iterator[Any]:
        schema = arrow_schema(PIECES)
        for events in _events(batches, _COLUMNS):
            kind = events.column("kind")
            codes = [CODES.get(name, UNKNOWN) for name in kind.dictionary.to_pylist()]
            coded = np.array([*codes, UNKNOWN], np.int8)[
                kind.indices.fill_null(len(codes)).to_numpy(zero_copy_only=False)
            ]
            place = events.schema.get_field_index("kind")
            events = events.set_column(place, "kind", pa.array(coded))
            rows = [{"run": run, **piece.pack()} for run, piece in cut(events) if wanted(run)]
            if rows:
                yield pa.RecordBatch.from_pylist(rows, schema=schema)

    return cut_files


def _count(batches: Iterable[Any]) -> Iterator[Any]:
    schema = arrow_schema(SIZES)
    for events in _events(batches, ["run", "kind"]):
        kind, run = events.column("kind"), events.column("run")
        judged = np.isin(kind.dictionary.to_pylist(), ("send", "deliver"))
        mine = run.indices.to_numpy()[judged[kind.indices.to_numpy()]]
        counts = np.bincount(mine, minlength=len(run.dictionary)).tolist()
        yield pa.RecordBatch.from_arrays([run.dictionary, pa.array(counts)], schema=schema)


def _events(batches: Iterable[Any], columns: list[str]) -> Iterator[Any]:
    """The events of the parts that a task was dealt."""
    for batch in batches:
        for row in batch.to_pylist():
            with pq.ParquetFile(row["path"], read_dictionary=_TEXT, pre_buffer=False) as file:
                groups = file.num_row_groups
                first, last = (
                    groups * edge // row["parts"] for edge in (row["part"], row["part"] + 1)
                )
                yield from file.iter_batches(
                    _ROWS, range(first, last), columns=columns, use_threads=False
                )
