"""Tables by the names of their columns, as the charts and findings need them."""

from typing import Final, NamedTuple

from beforehand.report.model import TableView, Value
from beforehand.results.schema import Field

MOST: Final = 1e300  # nothing that was measured is larger, and axes would overflow


class Record(NamedTuple):
    """A row of a table."""

    values: dict[str, Value]
    anchor: str | None  # of the run that made it

    def text(self, name: str) -> str:
        """A value as text; empty if there is none."""
        value = self.values.get(name)
        return "" if value is None else str(value)

    def figure(self, name: str) -> float | None:
        """A number that can be drawn; None if there is none."""
        value = self.values.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        return value if value == 0 or 1 / MOST < abs(value) < MOST else None

    @property
    def violated(self) -> bool:
        """Whether the auditor reported violations of this run."""
        return self.text("verdict") == "violated"

    def total(self, name: str) -> int:
        """A count; 0 if there is none."""
        return int(self.figure(name) or 0)


def records(table: TableView | None) -> list[Record]:
    """The rows of a table."""
    if table is None:
        return []
    names = [column.name for column in table.columns]
    anchors = table.runs or (None,) * len(table.rows)
    return [
        Record(dict(zip(names, row, strict=True)), anchor)
        for row, anchor in zip(table.rows, anchors, strict=True)
    ]


def fields(table: TableView | None) -> dict[str, Field]:
    """The columns of a table by name."""
    return {field.name: field for field in table.columns} if table else {}


def distinct(rows: list[Record], name: str) -> list[str]:
    """The values of a column, without repetitions, in the order of the table."""
    return list(dict.fromkeys(row.text(name) for row in rows))
