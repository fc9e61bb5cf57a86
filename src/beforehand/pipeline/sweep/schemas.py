"""The tables of a sweep as Spark's types: the runs to do, and their results."""

from typing import Final

from pyspark.sql.types import IntegerType, StructType

from beforehand.pipeline.schemas import BOOLEAN, EVENTS, TEXT, optional, required, spark_schema
from beforehand.results.tables import sweep

POINT: Final = spark_schema(sweep.POINT).fields
RESULTS: Final = spark_schema(sweep.RESULTS)

# One row per run to do.
PLANNED: Final = StructType(
    [
        *required(task=IntegerType()),  # the task that does it
        *POINT,
        *optional(program=TEXT),  # digest of the program that it replays
        *required(traced=BOOLEAN),  # whether to keep its events
    ]
)

# What the tasks return when events are kept: each row is one of the two.
BOTH: Final = StructType(optional(result=RESULTS, event=EVENTS))
