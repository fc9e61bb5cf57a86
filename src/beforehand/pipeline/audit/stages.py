"""The auditor's stages on Spark: events to chunks, chunks to findings, many runs at a time."""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType, StructType

from beforehand.pipeline import schemas
from beforehand.pipeline.audit.findings import RunFindings
from beforehand.pipeline.audit.judge import judge
from beforehand.pipeline.audit.log_chunks import ARRAYS, CODES, UNKNOWN, LogChunk, cut
from beforehand.pipeline.schemas import TEXT, TEXTS, arrow_schema, optional, required

CHUNKS: Final = StructType(required(run=TEXT, names=TEXTS, **dict.fromkeys(ARRAYS, BinaryType())))

# One task yields both verdicts and violations, so they share a table: one of the two is null.
FINDINGS: Final = StructType(optional(verdict=schemas.VERDICTS, violation=schemas.VIOLATIONS))


def chunks(events: DataFrame) -> DataFrame:
    """Events packed into chunks, one per batch and run."""
    kind = F.coalesce(
        *(F.when(F.col("kind") == name, F.lit(code)) for name, code in CODES.items()),
        F.lit(UNKNOWN),
    )
    return events.select(
        "run",
        "process",
        "seq",
        kind.cast("byte").alias("kind"),
        "sender",
        "mid",
        F.when(F.col("kind") == "send", F.col("to")).alias("to"),
        F.when(F.col("kind").isin("start", "stop"), F.col("detail")).alias("detail"),
    ).mapInArrow(_cut, CHUNKS)


def judged(chunks: DataFrame, partitions: int, witnesses: int) -> DataFrame:
    """The findings about each run; runs are distributed over this many tasks."""
    judge_runs = partial(_judge, witnesses=witnesses)
    return chunks.repartition(partitions, "run").mapInArrow(judge_runs, FINDINGS)


def _cut(batches: Iterable[Any]) -> Iterator[Any]:
    schema = arrow_schema(CHUNKS)
    for batch in batches:
        rows = [{"run": run, **chunk.pack()} for run, chunk in cut(batch)]
        if rows:
            yield pa.RecordBatch.from_pylist(rows, schema=schema)


def _judge(batches: Iterable[Any], *, witnesses: int) -> Iterator[Any]:
    # Sorting by run would copy everything; the input of a task fits into memory anyway.
    runs: dict[str, list[LogChunk]] = {}
    for batch in batches:
        for row in unpacked(batch):
            runs.setdefault(row["run"], []).append(LogChunk.unpack(row))
    while runs:
        run, mine = runs.popitem()
        yield findings_batch(run, judge(mine, witnesses=witnesses))


def unpacked(batch: Any) -> Iterator[dict[str, Any]]:
    """The rows of a batch, without copying bytes."""
    for row in range(batch.num_rows):
        yield {
            name: column[row].as_buffer()
            if pa.types.is_binary(column.type)
            else column[row].as_py()
            for name, column in zip(batch.schema.names, batch.columns, strict=True)
        }


def findings_batch(run: str, outcome: RunFindings) -> Any:
    """The findings about a run as rows of FINDINGS."""
    rows: list[dict[str, Any]] = [{"verdict": outcome.row(run)}]
    rows += [{"violation": finding.row(run)} for finding in outcome.violations]
    return pa.RecordBatch.from_pylist(rows, schema=arrow_schema(FINDINGS))
