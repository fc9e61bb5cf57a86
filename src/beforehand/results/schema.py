"""Columns of tables: name, type, unit and meaning, declared once.

The pipeline derives Spark's types from a `Schema`, the report checks files against it and takes titles
and units from it. Neither Spark nor Arrow is needed to declare one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import pyarrow as pa

# Plain types; a Schema stands for a list of rows.
PlainType = Literal["text", "texts", "integer", "real", "boolean"]

# How people read a value: nanoseconds, seconds, bytes, a fraction of 1, the exponent of a power law
Unit = Literal["text", "count", "number", "time", "seconds", "bytes", "share", "exponent"]


@dataclass(frozen=True)
class Field:
    """A column."""

    name: str
    meaning: str = ""  # a sentence
    title: str = ""  # for people; the name, if that is enough
    unit: Unit = "text"
    type: PlainType | Schema = "text"
    nullable: bool = False

    @property
    def heading(self) -> str:
        """What people call it."""
        return self.title or self.name.replace("_", " ")


@dataclass(frozen=True, init=False)
class Schema:
    """The columns of a table, in order."""

    fields: tuple[Field, ...]

    def __init__(self, *fields: Field) -> None:
        object.__setattr__(self, "fields", fields)

    def __iter__(self) -> Iterator[Field]:
        return iter(self.fields)

    @property
    def names(self) -> list[str]:
        """The names of all columns."""
        return [field.name for field in self.fields]

    def find(self, name: str) -> Field | None:
        """A column by its name."""
        return next((field for field in self.fields if field.name == name), None)

    def select(self, *names: str) -> Schema:
        """Some of the columns, in the order of the table."""
        assert set(names) <= set(self.names), sorted(set(names) - set(self.names))
        return Schema(*(field for field in self.fields if field.name in names))

    def without(self, *names: str) -> Schema:
        """All other columns."""
        return self.select(*(name for name in self.names if name not in names))

    def arrow(self) -> pa.Schema:
        """The same for Arrow."""
        import pyarrow as pa

        return pa.schema([_arrow_field(field) for field in self.fields])


text = Field
texts = partial(Field, type="texts")
boolean = partial(Field, type="boolean")


def integer(name: str, meaning: str = "", title: str = "", unit: Unit = "count") -> Field:
    """An integer of 64 bits."""
    return Field(name, meaning, title, unit, "integer")


def real(name: str, meaning: str = "", title: str = "", unit: Unit = "number") -> Field:
    """A floating-point number of 64 bits."""
    return Field(name, meaning, title, unit, "real")


def optional(field: Field) -> Field:
    """The same column, where it may be null."""
    return replace(field, nullable=True)


def _arrow_field(field: Field) -> pa.Field:
    import pyarrow as pa

    types: dict[str, pa.DataType] = {
        "text": pa.string(),
        "texts": pa.list_(pa.field("element", pa.string(), nullable=False)),
        "integer": pa.int64(),
        "real": pa.float64(),
        "boolean": pa.bool_(),
    }
    if isinstance(field.type, Schema):
        row = pa.struct(list(field.type.arrow()))
        return pa.field(
            field.name, pa.list_(pa.field("element", row, nullable=False)), field.nullable
        )
    return pa.field(field.name, types[field.type], field.nullable)
