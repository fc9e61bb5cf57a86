"""Results for people, for pipes and for programs.

A terminal gets drawn tables that wrap to its width; one that is too wide becomes several, each with
the first column again, so that nothing is truncated. Anything else gets one full line per row, so that
grep, awk and less work as expected. Programs get JSON.
"""

import json
import math
import textwrap
from collections.abc import Sequence
from typing import Any, Final

import typer
from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

EDGES: Final = 2  # characters of the box at the left and the right
GAP: Final = 2  # characters between two columns
SHORT: Final = 12  # characters: shorter values do not wrap, so that 3.68 s stays in one piece
LONG: Final = 30  # characters: shorter values may wrap after each word
READABLE: Final = 16  # characters: the least width of sentences

Row = Sequence[str]


def print_json(value: Any) -> None:
    """Print a value for programs; NaN and infinity, which JSON lacks, become null."""
    typer.echo(json.dumps(_finite(value), indent=2))


def print_text(text: str) -> None:
    """Print sentences; on terminals wrapped between words, and indented like the first line."""
    console = Console()
    if not console.is_terminal:
        typer.echo(text)
        return
    indent = " " * (len(text) - len(text.lstrip(" ")))
    typer.echo(
        textwrap.fill(
            text.strip(),
            console.width,
            initial_indent=indent,
            subsequent_indent=indent,
            break_long_words=False,  # paths stay whole
            break_on_hyphens=False,
        )
    )


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def print_table(columns: Row, rows: Sequence[Row], *, keys: int = 1, prose: int = 0) -> None:
    """Print rows under their column titles, in the form that suits where the output goes.

    The first `keys` columns identify the rows: if a table is split, every part has them. The last
    `prose` columns hold sentences. Terminals are too narrow to show them next to the others, so there
    they get a table of their own, unless they are all empty.
    """
    console = Console()
    if not console.is_terminal:
        for line in _plain(columns, rows):
            typer.echo(line)
        return
    short = len(columns) - prose
    groups = [range(keys, short)]
    if any(cell for row in rows for cell in row[short:]):
        groups.append(range(short, len(columns)))
    for group in groups:
        chosen = [*range(keys), *group]
        titles = [columns[index] for index in chosen]
        cells = [[row[index] for index in chosen] for row in rows]
        for table in _drawn(titles, cells, keys, console.width):
            console.print(table)


# ---- drawn ----


class _Column:
    """A column and the widths it can take."""

    def __init__(self, cells: Row, most: int) -> None:
        self.cells = cells
        title, *values = cells
        # The parts that do not wrap if there is room: words, and short values as a whole.
        parts = title.split()
        for value in values:
            parts += [value] if len(value) <= SHORT else value.split()
        self.full = max(1, *map(cell_len, cells))  # without any wrapping
        self.least = min(max(map(cell_len, parts), default=1), most)
        self.wanted = self.least if self.full <= LONG else min(max(self.least, READABLE), most)


def _drawn(titles: Row, rows: Sequence[Row], keys: int, width: int) -> list[Table]:
    """One table, or as many as it takes to show every column in full."""
    room = width - EDGES
    cells = [[title, *(row[index] for row in rows)] for index, title in enumerate(titles)]
    again = _keys(cells[:keys], room)
    room -= sum(column.wanted for column in again) + GAP * (len(again) - 1)
    others = [_Column(values, max(1, room - GAP)) for values in cells[len(again) :]]
    # As few tables as possible, and then of widths as even as possible.
    parts = _parts(others, room)
    if 1 < len(parts) < len(others):
        while len(closer := _parts(others, room - 1)) == len(parts):
            parts, room = closer, room - 1
    return [_table([*again, *part], width) for part in parts]


def _keys(cells: list[list[str]], room: int) -> list[_Column]:
    """The columns of every table: as many as leave a third of the room to the others."""
    # The first column is what a reader looks for, so it stays whole, unless it leaves no room.
    first = _Column(cells[0], room // 2)
    first.least = first.wanted = min(first.full, room // 2)
    columns = [first]
    left = 2 * room // 3 - first.wanted
    for values in cells[1:]:
        column = _Column(values, room)
        left -= column.wanted + GAP
        if left < 0:
            break
        columns.append(column)
    return columns


def _parts(columns: list[_Column], room: int) -> list[list[_Column]]:
    """Columns in their order, in groups that fit."""
    parts: list[list[_Column]] = [[]]
    left = room
    for column in columns:
        if column.wanted + GAP > left and parts[-1]:
            parts.append([])
            left = room
        parts[-1].append(column)
        left -= column.wanted + GAP
    return parts


def _table(columns: list[_Column], width: int) -> Table:
    table = Table(
        box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, header_style="bold", highlight=False
    )
    widths = _widths(columns, width - EDGES - GAP * (len(columns) - 1))
    for index, (column, width) in enumerate(zip(columns, widths, strict=True)):
        style = None if index else "cyan"
        table.add_column(Text(column.cells[0]), style=style, width=width, overflow="fold")
    for row in zip(*(column.cells[1:] for column in columns), strict=True):
        table.add_row(*map(Text, row))  # verbatim: brackets are not markup here
    return table


def _widths(columns: list[_Column], room: int) -> list[int]:
    """Each at least as wide as its words; the rest is shared, and no column gets more than it needs."""
    widths = [column.least for column in columns]
    missing = [column.full - column.least for column in columns]
    spare = room - sum(widths)
    for served, index in enumerate(sorted(range(len(columns)), key=missing.__getitem__)):
        more = min(missing[index], spare // (len(columns) - served))
        widths[index] += more
        spare -= more
    return widths


# ---- in lines ----


def _plain(columns: Row, rows: Sequence[Row]) -> list[str]:
    # The header is upper case, as in `ps` and `docker ps`, to set it off from the rows.
    lines = [[column.upper() for column in columns], *rows]
    widths = [max(len(line[index]) for line in lines) for index in range(len(columns))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]
