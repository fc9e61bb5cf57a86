"""Results for people, for pipes and for programs.

A terminal gets drawn tables that wrap to its width; one that is too wide becomes several, each with
the first column again, so that nothing is cut off. Anything else gets one full line per row, so that
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

EDGES: Final = 2  # characters that the box takes at the left and the right
GAP: Final = 2  # characters between two columns
SHORT: Final = 12  # characters: what is shorter does not wrap, so that 3.68 s stays in one piece
LONG: Final = 30  # characters: what is shorter may wrap after each word if it has to
READABLE: Final = 16  # characters that sentences get at least

Row = Sequence[str]


def print_json(value: Any) -> None:
    """Print a value for programs; what is no number (JSON has neither NaN nor infinity) as null."""
    typer.echo(json.dumps(_finite(value), indent=2))


def print_text(text: str) -> None:
    """Print a sentence or several; terminals get them wrapped between words, under the indentation."""
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
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def print_table(columns: Row, rows: Sequence[Row], *, keys: int = 1, prose: int = 0) -> None:
    """Print rows under their column titles, in the form that suits where the output goes.

    The first `keys` columns tell the rows apart: every table has them, where it takes several. The last
    `prose` columns hold sentences. Terminals are too narrow for those beside the others: there they
    come in a table of their own, unless there are none.
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
    for places in groups:
        chosen = [*range(keys), *places]
        titles = [columns[place] for place in chosen]
        cells = [[row[place] for place in chosen] for row in rows]
        for table in _drawn(titles, cells, keys, console.width):
            console.print(table)


# ---- drawn ----


class _Column:
    """A column, and how wide it would like to be."""

    def __init__(self, cells: Row, most: int) -> None:
        self.cells = cells
        title, *values = cells
        # What stays on one line if there is room for it: words, and short values as a whole.
        parts = title.split()
        for value in values:
            parts += [value] if len(value) <= SHORT else value.split()
        self.full = max(1, *map(cell_len, cells))  # without any wrapping
        self.least = min(max(map(cell_len, parts), default=1), most)
        self.wanted = self.least if self.full <= LONG else min(max(self.least, READABLE), most)


def _drawn(titles: Row, rows: Sequence[Row], keys: int, width: int) -> list[Table]:
    """One table, or as many as it takes for all columns to be there in full."""
    room = width - EDGES
    cells = [[title, *(row[place] for row in rows)] for place, title in enumerate(titles)]
    again = _keys(cells[:keys], room)
    room -= sum(column.wanted for column in again) + GAP * (len(again) - 1)
    others = [_Column(each, max(1, room - GAP)) for each in cells[len(again) :]]
    # As few tables as there is room for, and then as even as can be.
    parts = _parts(others, room)
    if 1 < len(parts) < len(others):
        while len(closer := _parts(others, room - 1)) == len(parts):
            parts, room = closer, room - 1
    return [_table([*again, *part], width) for part in parts]


def _keys(cells: list[list[str]], room: int) -> list[_Column]:
    """The columns of every table: as many as leave a third of the room to the others."""
    # The first column is what one looks for, so it stays whole, unless it leaves no room at all.
    first = _Column(cells[0], room // 2)
    first.least = first.wanted = min(first.full, room // 2)
    found = [first]
    left = 2 * room // 3 - first.wanted
    for each in cells[1:]:
        column = _Column(each, room)
        left -= column.wanted + GAP
        if left < 0:
            break
        found.append(column)
    return found


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
    for place, (column, wide) in enumerate(zip(columns, widths, strict=True)):
        style = None if place else "cyan"
        table.add_column(Text(column.cells[0]), style=style, width=wide, overflow="fold")
    for row in zip(*(column.cells[1:] for column in columns), strict=True):
        table.add_row(*map(Text, row))  # as it is: brackets are no markup here
    return table


def _widths(columns: list[_Column], room: int) -> list[int]:
    """Each as wide as its words; what is left is shared out, and nobody gets more than it needs."""
    widths = [column.least for column in columns]
    missing = {place: column.full - column.least for place, column in enumerate(columns)}
    spare = room - sum(widths)
    for served, place in enumerate(sorted(missing, key=lambda place: missing[place])):
        more = min(missing[place], spare // (len(columns) - served))
        widths[place] += more
        spare -= more
    return widths


# ---- in lines ----


def _plain(columns: Row, rows: Sequence[Row]) -> list[str]:
    # The header is upper case, as in `ps` and `docker ps`: easy to tell from the rows.
    lines = [[column.upper() for column in columns], *rows]
    widths = [max(len(line[place]) for line in lines) for place in range(len(columns))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]
