"""The stages of ingest as Spark sees them: files -> rows -> outcomes -> tables."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import StructType

from beforehand.pipeline import schemas
from beforehand.pipeline.ingest import tasks
from beforehand.pipeline.ingest.read.options import Options
from beforehand.pipeline.schemas import (
    EVENTS,
    MESSAGES,
    NUMBER,
    TEXT,
    arrow_schema,
    optional,
    required,
)
from beforehand.pipeline.storage import literal

# A row of a file, to be resolved with the others of its run and group; or a rejected row with its
# reason; or the end of a file with the number of its rows.
ROWS: Final = StructType(
    required(run=TEXT, group=TEXT, part=TEXT, order=NUMBER)
    + required(file=TEXT, format=TEXT, position=NUMBER, digest=TEXT, raw=TEXT)
    + optional(body=TEXT, reason=TEXT, rows=NUMBER)
)

# Counts; see summary.py.
TALLIES: Final = StructType(
    required(run=TEXT, file=TEXT, format=TEXT, what=TEXT, number=NUMBER, note=TEXT)
)

# Exactly one of these isn't null.
OUTCOMES: Final = StructType(
    optional(message=MESSAGES, event=EVENTS, reject=schemas.REJECTS, tally=TALLIES)
)


def rows_of_files(spark: SparkSession, paths: Sequence[str], options: Options) -> DataFrame:
    """The rows of files, each read by one task."""
    read = partial(tasks.read_batches, options=options, schema=arrow_schema(ROWS))
    files = spark.read.format("binaryFile").load([literal(path) for path in paths])
    return files.select("path", "content").mapInArrow(read, ROWS)


def outcomes(rows: DataFrame) -> DataFrame:
    """The outcomes of rows; those of one run and group are resolved in one task."""
    resolve = partial(tasks.resolve_batches, schema=arrow_schema(OUTCOMES))
    grouped = rows.repartition("run", "group")
    ordered = grouped.sortWithinPartitions("run", "group", "part", "order", "file", "position")
    return ordered.mapInArrow(resolve, OUTCOMES)


def messages(resolved: DataFrame, names: Mapping[str, str]) -> DataFrame:
    """The messages, with the names of their runs."""
    return _named(_table(resolved, "message"), names, MESSAGES)


def events(resolved: DataFrame, names: Mapping[str, str]) -> DataFrame:
    """The events, with the names of their runs."""
    return _named(_table(resolved, "event"), names, EVENTS)


def rejects(resolved: DataFrame) -> DataFrame:
    """The rows that could not be used."""
    return _table(resolved, "reject")


def tallies(resolved: DataFrame) -> DataFrame:
    """All counts, added up: few rows for each file and run."""
    grouped = _table(resolved, "tally").groupBy("run", "file", "format", "what")
    added = grouped.agg(f.sum("number").alias("number"), f.max("note").alias("note"))
    return added.select(TALLIES.names)


def _table(resolved: DataFrame, name: str) -> DataFrame:
    return resolved.where(f.col(name).isNotNull()).select(f"{name}.*")


def _named(table: DataFrame, names: Mapping[str, str], schema: StructType) -> DataFrame:
    if not names:
        return table
    pairs = table.sparkSession.createDataFrame(list(names.items()), "run string, name string")
    joined = table.join(f.broadcast(pairs), "run")
    return joined.withColumn("run", f.col("name")).select(schema.names)
