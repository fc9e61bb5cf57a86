"""The tables of a study."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, get_type_hints

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.types import BooleanType, DataType, DoubleType, StructType

from beforehand.pipeline.arrow import arrow_schema
from beforehand.pipeline.schemas import NUMBER, TEXT, TEXTS, required
from beforehand.pipeline.study.figures import ProtocolFigures

_KINDS: Final[dict[type, DataType]] = {
    str: TEXT,
    int: NUMBER,
    float: DoubleType(),
    bool: BooleanType(),
}

# One row per protocol and network: the fields of ProtocolFigures.
PROTOCOLS: Final = StructType(
    [required(name, _KINDS[kind]) for name, kind in get_type_hints(ProtocolFigures).items()]
)

# What to choose when, in the order of the rules.
RECOMMENDATION: Final = StructType(
    [
        required("place", NUMBER),
        required("situation", TEXT),
        required("protocols", TEXTS),
        required("sentence", TEXT),
    ]
)


def write_rows(
    spark: SparkSession, rows: Sequence[dict[str, Any]], schema: StructType, path: str
) -> None:
    """Write a table of few rows, over one that is there."""
    # Through Arrow: from a list, Spark would start workers to turn Python into rows.
    table = pa.Table.from_pylist(list(rows), schema=arrow_schema(schema))
    spark.createDataFrame(table, schema).coalesce(1).write.mode("overwrite").parquet(path)
