"""The tables of `results.tables.characteristics` as Spark's types, and those between the stages."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as f
from pyspark.sql.types import ArrayType, StructType

from beforehand.pipeline.schemas import NUMBER, REAL, TEXT, optional, spark_schema
from beforehand.results.tables import characteristics

TABLES: Final = {name: spark_schema(table) for name, table in characteristics.TABLES.items()}
RUNS, PROCESSES = TABLES["runs"], TABLES["processes"]
DISTRIBUTIONS, SUMMARIES = TABLES["distributions"], TABLES["summaries"]
FLAGS, TABLE1 = TABLES["flags"], TABLES["table1"]

# The part of RUNS that one pass over the messages computes.
COUNTS: Final = spark_schema(
    characteristics.RUNS.select(
        *[
            "run",
            "messages",
            "copies",
            "requests",
            "replies",
            "payload_known",
            "flagged",
            "span_ns",
            "rate",
            "window_ns",
            "peak_rate",
            "gap_cv",
            "burstiness",
        ]
    )
)

_COUNTED: Final = ArrayType(StructType([optional("value", NUMBER), optional("count", NUMBER)]))

# What the tasks of `causal_order.py` return, one row per run: its `ORDER_ROW` as Spark's types.
ORDER: Final = StructType(
    [
        optional("run", TEXT),
        optional("problem", TEXT),
        optional("edges", NUMBER),
        optional("before_cause", NUMBER),
        optional("answered", NUMBER),
        optional("pairs", NUMBER),
        optional("concurrent_share", REAL),
        optional("standard_error", REAL),
        optional("depths", _COUNTED),
        optional("calls", _COUNTED),
    ]
)


def shaped(table: DataFrame, schema: StructType) -> DataFrame:
    """The columns of a schema, in its order and with its types."""
    return table.select([f.col(field.name).cast(field.dataType) for field in schema.fields])
