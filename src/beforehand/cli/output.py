"""Tables for people and for pipes.

A terminal gets drawn tables that wrap to its width. Anything else gets one full line per row, so
that nothing is cut off and grep, awk and less work as expected.
"""

from collections.abc import Sequence

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

Row = Sequence[str]


def print_table(columns: Row, rows: Sequence[Row], *, prose: int = 0) -> None:
    """Print rows under their column titles, in the form that suits where the output goes.

    The last `prose` columns hold sentences. Terminals are too narrow for those beside the others:
    there they come in a second table, with the first column again.
    """
    console = Console()
    if not console.is_terminal:
        for line in _plain(columns, rows):
            typer.echo(line)
        return
    short = len(columns) - prose
    console.print(_drawn(columns[:short], [row[:short] for row in rows]))
    if prose:
        below = [(row[0], *row[short:]) for row in rows]
        console.print(_drawn((columns[0], *columns[short:]), below))


def _drawn(columns: Row, rows: Sequence[Row]) -> Table:
    table = Table(
        box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, header_style="bold", highlight=False
    )
    for place, column in enumerate(columns):
        words = " ".join([column, *(row[place] for row in rows)]).split()
        table.add_column(
            column,
            # The first column is what one looks for, so it stays whole; elsewhere words do.
            no_wrap=place == 0,
            style="cyan" if place == 0 else None,
            min_width=max(map(len, words)),
            overflow="fold",
        )
    for row in rows:
        table.add_row(*map(Text, row))  # as it is: brackets are no markup here
    return table


def _plain(columns: Row, rows: Sequence[Row]) -> list[str]:
    # The header is upper case, as in `ps` and `docker ps`: easy to tell from the rows.
    lines = [[column.upper() for column in columns], *rows]
    widths = [max(len(line[place]) for line in lines) for place in range(len(columns))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]
