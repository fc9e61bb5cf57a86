"""The tables of `beforehand.results.tables` as Spark's types, and helpers for intermediate ones."""

from __future__ import annotations

from typing import Final

from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DoubleType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from beforehand.results.schema import Field, Schema
from beforehand.results.tables import audit, traffic

TEXT: Final = StringType()
NUMBER: Final = LongType()
REAL: Final = DoubleType()
TEXTS: Final = ArrayType(TEXT, containsNull=False)
_TYPES: Final[dict[str, DataType]] = {
    "text": TEXT,
    "texts": TEXTS,
    "integer": NUMBER,
    "real": REAL,
    "boolean": BooleanType(),
}


def required(name: str, kind: DataType) -> StructField:
    """A column that is never null."""
    return StructField(name, kind, nullable=False)


def optional(name: str, kind: DataType) -> StructField:
    """A column that may be null."""
    return StructField(name, kind, nullable=True)


def spark_schema(table: Schema) -> StructType:
    """A table on disk as Spark declares it."""
    return StructType([StructField(field.name, _type(field), field.nullable) for field in table])


def _type(field: Field) -> DataType:
    if isinstance(field.type, Schema):
        return ArrayType(spark_schema(field.type), containsNull=False)
    return _TYPES[field.type]


EVENTS: Final = spark_schema(traffic.EVENTS)
MESSAGES: Final = spark_schema(traffic.MESSAGES)
REJECTS: Final = spark_schema(traffic.REJECTS)
FILES: Final = spark_schema(traffic.FILES)
VERDICTS: Final = spark_schema(audit.VERDICTS)
VIOLATIONS: Final = spark_schema(audit.VIOLATIONS)
