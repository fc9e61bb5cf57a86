"""What reading a file gives: rows that make sense, and rows that do not.

A row is read on its own here. Whether it fits the others (its parent exists, its id is not taken) is
decided later, where all rows of one trace or run are together: see `order/`.
"""

from typing import Any, NamedTuple


class Row(NamedTuple):
    """A row of a file that makes sense by itself."""

    position: int  # line, or index in the list of the file, from 1 on
    raw: str
    fields: tuple[Any, ...]  # plain JSON values, as the resolver of the format expects them
    group: str = ""  # rows of one run with equal groups are resolved together: the trace of a span
    part: str = ""  # in a group, rows are sorted by part, then by order
    order: int = 0
    label: str = ""  # which of several runs in a file: an execution, or the run of our own traces


class BadRow(NamedTuple):
    """A row that cannot be used; position 0 is the whole file."""

    position: int
    raw: str
    reason: str


class RowError(Exception):
    """What is wrong with a row, and the remedy."""


class FileError(Exception):
    """What is wrong with a whole file, and the remedy."""
