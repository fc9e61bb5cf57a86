"""The output of ingest: its layout, and reading it back."""

from typing import Any

from pyspark.sql import DataFrame, SparkSession

from beforehand.errors import PipelineError
from beforehand.pipeline.schemas import EVENTS, MESSAGES
from beforehand.pipeline.storage import Storage, join, literal
from beforehand.results.layout import IngestFolder


def read_summary(spark: SparkSession, folder: str) -> dict[str, Any]:
    """The summary of an ingest; raise PipelineError if the folder doesn't hold a finished one."""
    storage = Storage(spark)
    if not storage.exists(folder):
        raise PipelineError(
            f"{folder}: there is no such folder; check the path, or run ingest first"
        )
    note = storage.read_note(folder, IngestFolder.NOTE)
    if note is not None and not storage.exists(join(folder, IngestFolder.UNFINISHED)):
        return note
    if storage.exists(join(folder, IngestFolder.UNFINISHED)):
        raise PipelineError(f"{folder}: an ingest into it did not finish; run ingest again")
    raise PipelineError(
        f"{folder}: not the output of ingest: it has no {IngestFolder.NOTE}; give the folder that "
        "ingest wrote"
    )


def read_messages(spark: SparkSession, folder: str) -> DataFrame:
    """The messages of a finished ingest."""
    read_summary(spark, folder)
    return _read(spark, folder, IngestFolder.MESSAGES).select(MESSAGES.names)


def read_events(spark: SparkSession, folder: str) -> DataFrame:
    """The events of a finished ingest; none if its sources had none."""
    if not read_summary(spark, folder)["events"]:
        return spark.createDataFrame([], EVENTS)
    return _read(spark, folder, IngestFolder.EVENTS).select(EVENTS.names)


def _read(spark: SparkSession, folder: str, table: str) -> DataFrame:
    return spark.read.parquet(literal(join(folder, table)))
