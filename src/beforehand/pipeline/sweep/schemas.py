"""The tables of a sweep: the runs to do, and what they gave."""

from __future__ import annotations

from typing import Final

from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DoubleType,
    IntegerType,
    StructField,
    StructType,
)

from beforehand.pipeline.schemas import EVENTS, NUMBER, TEXT, optional, required
from beforehand.pipeline.sweep.columns import METRICS, MOMENT

REAL: Final = DoubleType()
_KINDS: Final = {int: NUMBER, float: REAL}


# What a run is, known before it is done.
POINT: Final = [
    required("run", TEXT),  # the digest of its scenario
    required("protocol", TEXT),
    required("workload", TEXT),  # as the grid calls it
    required("network", TEXT),  # as the grid calls it
    required("setting", TEXT),  # the other fields of the grid
    required("processes", NUMBER),
    optional("messages", NUMBER),  # each sends of its own accord; null for a replay
    required("seed", NUMBER),
    optional("degree", REAL),  # how many others a process sends to; see columns.py
    required("scenario", TEXT),  # JSON
]

# One row per run to do.
PLANNED: Final = StructType(
    [
        required("task", IntegerType()),  # which of the tasks does it
        *POINT,
        optional("program", TEXT),  # the digest of what it replays
        required("traced", BooleanType()),  # whether its events are wanted
    ]
)

SERIES: Final = ArrayType(
    StructType([required(name, _KINDS[kind]) for name, kind in MOMENT.items()]), containsNull=False
)

# One row per run that was done; of a run that failed, only the point and the error.
RESULTS: Final = StructType(
    [
        *POINT,
        required("wave", TEXT),  # in which it was done; see waves.py
        optional("outcome", TEXT),
        optional("violations", NUMBER),  # null if it was not audited
        *(optional(name, _KINDS[kind]) for name, kind in METRICS.items()),
        optional("series", SERIES),
        optional("seconds", REAL),  # that the simulator took: the only column that is not exact
        optional("error", TEXT),  # null if there was none
    ]
)

# What comes out of the tasks when events are wanted: each row is one of the two.
BOTH: Final = StructType([StructField("result", RESULTS), StructField("event", EVENTS)])
