"""From Arrow and JSON to the plain values of a report."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from beforehand.report.contents import Made, Table, Value
from beforehand.report.reading.columns import Meanings, column


def value(found: Any) -> Value:
    """As a cell of a table can hold it: lists become text, and what is no number is not known."""
    if isinstance(found, float) and not math.isfinite(found):
        return None
    if found is None or isinstance(found, (str, int, float)):  # a bool is an int
        return found
    if isinstance(found, Sequence) and not isinstance(found, bytes):
        return "; ".join(str(each) for each in found)
    return str(found)


def table_of(
    name: str,
    title: str,
    names: Iterable[str],
    rows: Sequence[Mapping[str, Any]],
    meanings: Meanings,
    *,
    schema: pa.Schema | None = None,
    runs: tuple[str | None, ...] = (),
) -> Table:
    """Some columns of rows, which may lack some."""
    chosen = list(names)
    types = {} if schema is None else {each.name: each.type for each in schema}
    return Table(
        name,
        title,
        tuple(column(each, meanings, types.get(each)) for each in chosen),
        tuple(tuple(value(row.get(each)) for each in chosen) for row in rows),
        runs,
    )


def whole_table(name: str, title: str, found: pa.Table, meanings: Meanings) -> Table:
    """A table of the pipeline with all of its rows and columns."""
    return table_of(
        name, title, found.column_names, found.to_pylist(), meanings, schema=found.schema
    )


def made_of(note: Mapping[str, Any]) -> Made:
    """How something came about, as its note tells; nothing if it is an old one."""
    environment = note.get("environment")
    if not isinstance(environment, dict):
        environment = {}
    return Made(
        text(note.get("command")),
        text(note.get("when")),
        {str(name): str(told) for name, told in environment.items()},
    )


def text(found: Any) -> str:
    """A text of a note; empty if it is something else."""
    return found if isinstance(found, str) else ""


def texts(found: Any) -> tuple[str, ...]:
    """The texts in a list of a note."""
    return tuple(each for each in found if isinstance(each, str)) if isinstance(found, list) else ()
