"""From Arrow and JSON to the plain values of a report."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from beforehand.report.model import Provenance, TableView, Value
from beforehand.results.schema import Field, Schema, integer, real, text

Row = Mapping[str, Any]


def value(cell: Any) -> Value:
    """A cell of a table: lists become text, NaN and infinity are unknown."""
    if isinstance(cell, float) and not math.isfinite(cell):
        return None
    if cell is None or isinstance(cell, (str, int, float)):  # a bool is an int
        return cell
    if isinstance(cell, Sequence) and not isinstance(cell, bytes):
        return "; ".join(map(str, cell))
    return str(cell)


def column(name: str, schema: Schema, type_: pa.DataType | None = None) -> Field:
    """The declared column of this name; an undeclared one according to its type."""
    if declared := schema.find(name):
        return declared
    if type_ is not None and pa.types.is_integer(type_):
        return integer(name)
    return real(name) if type_ is not None and pa.types.is_floating(type_) else text(name)


def table_view(
    name: str,
    title: str,
    columns: Iterable[Field],
    rows: Sequence[Row],
    runs: tuple[str | None, ...] = (),
) -> TableView:
    """Some columns of rows; a row may lack some."""
    chosen = tuple(columns)
    cells = tuple(tuple(value(row.get(field.name)) for field in chosen) for row in rows)
    return TableView(name, title, chosen, cells, runs)


def whole_table(name: str, title: str, table: pa.Table, schema: Schema) -> TableView:
    """A table of the pipeline with all of its rows and columns."""
    columns = [column(field.name, schema, field.type) for field in table.schema]
    return table_view(name, title, columns, table.to_pylist())


def provenance_of(note: Row) -> Provenance:
    """How an output was made, as its note records it; older notes may not."""
    recorded = note.get("environment")
    environment = recorded if isinstance(recorded, dict) else {}
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
    return tuple(x for x in value if isinstance(x, str)) if isinstance(value, list) else ()
