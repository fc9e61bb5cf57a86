"""The tables that characterise a traffic: their columns, declared once.

Whatever has a distribution is counted, as rows (run, what, value, count), and quantiles come from the
counts. So a run of any size leaves small tables.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as f
from pyspark.sql.types import ArrayType, DoubleType, StructType

from beforehand.pipeline.schemas import NUMBER, TEXT, optional, required

REAL: Final = DoubleType()

# One row per run; what the source does not tell is null.
RUNS: Final = StructType(
    [
        required("run", TEXT),
        required("processes", NUMBER),
        required("messages", NUMBER),
        required("copies", NUMBER),  # receivers, counted
        required("requests", NUMBER),
        required("replies", NUMBER),
        optional("answered", NUMBER),  # requests that have a reply
        required("payload_known", NUMBER),  # messages of known size
        required("flagged", NUMBER),  # messages with something odd about them
        optional("before_cause", NUMBER),  # messages whose time is before that of a cause
        required("span_ns", NUMBER),  # from the first send to the last
        optional("rate", REAL),  # messages per second of the span
        optional("window_ns", NUMBER),
        optional("peak_rate", REAL),  # messages per second in the busiest window
        optional("gap_cv", REAL),  # coefficient of variation of the times between sends
        optional("burstiness", REAL),  # (sigma - mu) / (sigma + mu) of the same
        optional("edges", NUMBER),  # entries of `after`, all together
        optional("pairs", NUMBER),  # of messages that were compared
        optional("concurrent_share", REAL),  # of these pairs
        optional("standard_error", REAL),  # of that share; 0 where all pairs were compared
        required("note", TEXT),  # why something is missing; empty if nothing is
    ]
)

# One row per process that sends or receives.
PROCESSES: Final = StructType(
    [
        required("run", TEXT),
        required("process", TEXT),
        required("in_degree", NUMBER),  # i: other processes that send to it
        required("out_degree", NUMBER),  # o: other processes that it sends to
        required("sent", NUMBER),  # messages
        required("received", NUMBER),  # copies
        optional("rate", REAL),  # messages that it sends per second of the span of the run
        optional("gap_cv", REAL),  # as for the run, of the times between its own sends
        optional("burstiness", REAL),
    ]
)

DISTRIBUTIONS: Final = StructType(
    [
        required("run", TEXT),
        required("what", TEXT),
        required("value", NUMBER),
        required("count", NUMBER),
    ]
)

SUMMARIES: Final = StructType(
    [
        required("run", TEXT),
        required("what", TEXT),
        required("count", NUMBER),
        required("min", NUMBER),
        required("median", REAL),
        required("mean", REAL),
        required("p90", REAL),
        required("p99", REAL),
        required("max", NUMBER),
    ]
)

FLAGS: Final = StructType(
    [required("run", TEXT), required("flag", TEXT), required("count", NUMBER)]
)

TABLE1: Final = StructType(
    [
        required("run", TEXT),
        required("place", NUMBER),  # in the order of the paper
        required("algorithm", TEXT),  # as the paper calls it
        required("protocol", TEXT),  # its name here
        required("quantity", TEXT),
        required("formula", TEXT),
        required("n", NUMBER),
        required("i_mean", REAL),
        required("i_max", NUMBER),
        required("o_mean", REAL),
        required("o_max", NUMBER),
        required("mean", REAL),  # of the formula over the processes
        required("max", NUMBER),
    ]
)

# The part of RUNS that one pass over the messages tells.
COUNTS: Final = StructType(
    [
        each
        for each in RUNS.fields
        if each.name
        in (
            *("run", "messages", "copies", "requests", "replies", "payload_known", "flagged"),
            *("span_ns", "rate", "window_ns", "peak_rate", "gap_cv", "burstiness"),
        )
    ]
)

_COUNTED: Final = ArrayType(StructType([optional("value", NUMBER), optional("count", NUMBER)]))

# What the tasks of `order.py` give, one row per run: its `FOUND` as Spark says it.
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
    return table.select([f.col(each.name).cast(each.dataType) for each in schema.fields])
