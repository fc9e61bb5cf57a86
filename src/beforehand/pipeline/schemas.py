"""The tables of `beforehand.results.tables` as Spark's types, and helpers for intermediate ones."""

from functools import cache
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as f
from pyspark.sql import types as t
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import DataType, StructField, StructType

from beforehand.results.schema import Field, Schema
from beforehand.results.tables import audit, ingest

TEXT: Final = t.StringType()
NUMBER: Final = t.LongType()
REAL: Final = t.DoubleType()
BOOLEAN: Final = t.BooleanType()
TEXTS: Final = t.ArrayType(TEXT, containsNull=False)
_TYPES: Final[dict[str, DataType]] = {
    "text": TEXT,
    "texts": TEXTS,
    "integer": NUMBER,
    "real": REAL,
    "boolean": BOOLEAN,
}


def required(**columns: DataType) -> list[StructField]:
    """Columns that are never null."""
    return [StructField(name, kind, nullable=False) for name, kind in columns.items()]


def optional(**columns: DataType) -> list[StructField]:
    """Columns that may be null."""
    return [StructField(name, kind) for name, kind in columns.items()]


def spark_schema(table: Schema) -> StructType:
    """A table on disk as Spark declares it."""
    return StructType([StructField(field.name, _type(field), field.nullable) for field in table])


def _type(field: Field) -> DataType:
    if isinstance(field.type, Schema):
        return t.ArrayType(spark_schema(field.type), containsNull=False)
    return _TYPES[field.type]


@cache
def arrow_schema(table: StructType) -> Any:
    """The Arrow schema of a table, for the batches that a task returns."""
    return to_arrow_schema(table, timezone="UTC")


def shaped(table: DataFrame, schema: StructType) -> DataFrame:
    """The columns of a schema, in its order and with its types."""
    return table.select([f.col(field.name).cast(field.dataType) for field in schema.fields])


EVENTS: Final = spark_schema(ingest.EVENTS)
MESSAGES: Final = spark_schema(ingest.MESSAGES)
REJECTS: Final = spark_schema(ingest.REJECTS)
FILES: Final = spark_schema(ingest.FILES)
VERDICTS: Final = spark_schema(audit.VERDICTS)
VIOLATIONS: Final = spark_schema(audit.VIOLATIONS)
