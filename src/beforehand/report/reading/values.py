"""From Arrow and JSON to the plain values of a report."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from beforehand.report.model import Provenance, TableView, Value
from beforehand.results.schema import Field, Schema, integer, real, text


def value(cell: Any) -> Value:
    """A cell of a table: lists become text, NaN and infinity are unknown."""
    if isinstance(cell, float) and not math.isfinite(cell):
        return None
    if cell is None or isinstance(cell, (str, int, float)):  # a bool is an int
        return cell
    if isinstance(cell, Sequence) and not isinstance(cell, bytes):
        return "; ".join(map(str, cell))
    return str(cell)


def column(name: str, schema: Schema, found: pa.DataType | None = None) -> Field:
    """The declared column of this name; for one that is not declared, what its type says."""
    declared = schema.find(name)
    if declared is not None:
        return declared
    if found is not None and pa.types.is_integer(found):
        return integer(name)
    return real(name) if found is not None and pa.types.is_floating(found) else text(name)


def table_view(
    name: str,
    title: str,
    columns: Iterable[Field],
    rows: Sequence[Mapping[str, Any]],
    runs: tuple[str | None, ...] = (),
) -> TableView:
    """Some columns of rows; a row may lack some."""
    chosen = tuple(columns)
    cells = tuple(tuple(value(row.get(each.name)) for each in chosen) for row in rows)
    return TableView(name, title, chosen, cells, runs)


def whole_table(name: str, title: str, table: pa.Table, schema: Schema) -> TableView:
    """A table of the pipeline with all of its rows and columns."""
    columns = [column(each.name, schema, each.type) for each in table.schema]
    return table_view(name, title, columns, table.to_pylist())


def provenance_of(note: Mapping[str, Any]) -> Provenance:
    """How an output was made, as its note records it; older notes may not."""
    environment = note.get("environment")
    if not isinstance(environment, dict):
        environment = {}
    return Provenance(
        string(note.get("command")),
        string(note.get("when")),
        {str(name): str(fact) for name, fact in environment.items()},
    )


def string(value: Any) -> str:
    """A string of a note; empty if it is something else."""
    return value if isinstance(value, str) else ""


def strings(value: Any) -> tuple[str, ...]:
    """The strings in a list of a note."""
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()
