"""Spark's schemas as Arrow's."""

from __future__ import annotations

from functools import cache
from typing import Any

from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType


@cache
def arrow_schema(table: StructType) -> Any:
    """The Arrow schema of a table, for the batches that a task returns."""
    return to_arrow_schema(table, timezone="UTC")
