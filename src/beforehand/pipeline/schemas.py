"""The tables of the pipeline: their columns, declared once.

`EVENTS` is the trace schema of `docs/trace-format.md` as Spark says it; a test compares the two.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    LongType,
    StringType,
    StructField,
    StructType,
)

TEXT: Final = StringType()
NUMBER: Final = LongType()
TEXTS: Final = ArrayType(TEXT, containsNull=False)


def required(name: str, kind: DataType) -> StructField:
    """A column that is never null."""
    return StructField(name, kind, nullable=False)


def optional(name: str, kind: DataType) -> StructField:
    """A column that may be null."""
    return StructField(name, kind, nullable=True)


# What happened, as each process saw it.
EVENTS: Final = StructType(
    [
        required("run", TEXT),
        required("process", TEXT),
        required("seq", NUMBER),
        required("kind", TEXT),
        optional("sender", TEXT),
        optional("mid", NUMBER),
        optional("to", TEXTS),
        required("time_ns", NUMBER),
        required("payload_bytes", NUMBER),
        required("meta_bytes", NUMBER),
        required("detail", TEXT),
    ]
)

# Who sent what to whom, when, after which others: what a replay needs.
MESSAGES: Final = StructType(
    [
        required("run", TEXT),
        required("id", TEXT),  # unique in its run
        required("sender", TEXT),
        required("to", TEXTS),  # at least one
        required("time_ns", NUMBER),  # of the causal-send, by the clock of the source
        required("after", TEXTS),  # ids of messages known to the sender: its own, or sent to it
        optional("payload_bytes", NUMBER),
        required("kind", TEXT),  # request, reply or message
        required("flags", TEXTS),  # what is odd about it, like "clock skew"; sorted
        required("file", TEXT),
        required("position", NUMBER),  # of its row in the file, from 1 on
    ]
)

# Every row that could not be used.
REJECTS: Final = StructType(
    [
        required("file", TEXT),
        required("format", TEXT),
        required("position", NUMBER),  # line, or place in the list of the file; 0: the whole file
        required("raw", TEXT),  # the row as it was, shortened if it is very long
        required("reason", TEXT),
    ]
)

# One row per file: nothing is lost between rows and the sum of the three others.
FILES: Final = StructType(
    [
        required("file", TEXT),
        required("format", TEXT),
        required("rows", NUMBER),
        required("accepted", NUMBER),
        required("rejected", NUMBER),
        required("duplicates", NUMBER),
        required("flagged", NUMBER),  # accepted rows with something odd about them
        required("note", TEXT),  # what was decided about the file, such as the layout of a log
    ]
)

# The auditor's verdict on each run.
VERDICTS: Final = StructType(
    [
        required("run", TEXT),
        required("verdict", TEXT),  # clean, violated, or unreadable
        required("complete", BooleanType()),  # false for a log with gaps
        required("processes", NUMBER),
        required("events", NUMBER),
        required("sends", NUMBER),
        required("deliveries", NUMBER),
        required("causal", NUMBER),
        required("fifo", NUMBER),
        required("duplicate", NUMBER),
        required("invented", NUMBER),
        required("lost", NUMBER),
        required("notes", TEXTS),  # what is missing or odd, in sentences
    ]
)

VIOLATIONS: Final = StructType(
    [
        required("run", TEXT),
        required("kind", TEXT),  # causal, fifo, duplicate, invented or lost
        required("process", TEXT),
        required("sender", TEXT),
        required("mid", NUMBER),
        optional("seq", NUMBER),  # of the delivery at that process; null for lost
        optional("early", TEXT),  # the message that was delivered too early
        required("chain", TEXTS),  # from the late message to the early one; empty if not searched
        required("sentence", TEXT),
    ]
)
