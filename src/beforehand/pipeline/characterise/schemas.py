"""The tables of `results.tables.characteristics` as Spark's types, and those between the stages."""

from typing import Final

from beforehand.pipeline.characterise.causal_order import ORDER_ROW
from beforehand.pipeline.schemas import spark_schema
from beforehand.results.schema import Schema
from beforehand.results.tables import characteristics

TABLES: Final = {name: spark_schema(table) for name, table in characteristics.TABLES.items()}
RUNS, PROCESSES = TABLES["runs"], TABLES["processes"]
DISTRIBUTIONS, SUMMARIES = TABLES["distributions"], TABLES["summaries"]
FLAGS, TABLE1 = TABLES["flags"], TABLES["table1"]

# The part of RUNS that one pass over the messages computes.
_OTHERS: Final = {"processes", "note", *ORDER_ROW.names} - {"run"}
COUNTS: Final = spark_schema(
    Schema(*(field for field in characteristics.RUNS if field.name not in _OTHERS))
)

# What the tasks of `causal_order.py` return, one row per run.
ORDER: Final = spark_schema(ORDER_ROW)
