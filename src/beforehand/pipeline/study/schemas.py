"""The tables of a study as Spark's types."""

from collections.abc import Sequence
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from beforehand.pipeline.schemas import arrow_schema, spark_schema
from beforehand.results.tables import study

PROTOCOLS: Final = spark_schema(study.PROTOCOLS)  # one row per ProtocolFigures
RECOMMENDATION: Final = spark_schema(study.RECOMMENDATION)


def write_rows(
    spark: SparkSession, rows: Sequence[dict[str, Any]], schema: StructType, path: str
) -> None:
    """Write a table of few rows, over one that is there."""
    # Through Arrow: from a list, Spark would start workers to turn Python into rows.
    table = pa.Table.from_pylist(list(rows), schema=arrow_schema(schema))
    spark.createDataFrame(table, schema).coalesce(1).write.mode("overwrite").parquet(path)
