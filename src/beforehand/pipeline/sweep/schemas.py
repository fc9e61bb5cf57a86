"""The tables of a sweep as Spark's types: the runs to do, and their results."""

from __future__ import annotations

from typing import Final

from pyspark.sql.types import BooleanType, IntegerType, StructField, StructType

from beforehand.pipeline.schemas import EVENTS, TEXT, optional, required, spark_schema
from beforehand.results.tables import sweep

POINT: Final = spark_schema(sweep.POINT).fields
RESULTS: Final = spark_schema(sweep.RESULTS)

# One row per run to do.
PLANNED: Final = StructType(
    [
        required("task", IntegerType()),  # the task that does it
        *POINT,
        optional("program", TEXT),  # digest of the program that it replays
        required("traced", BooleanType()),  # whether to keep its events
    ]
)

# What the tasks return when events are kept: each row is one of the two.
BOTH: Final = StructType([StructField("result", RESULTS), StructField("event", EVENTS)])
