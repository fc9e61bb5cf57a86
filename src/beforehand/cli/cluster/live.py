"""A cluster while it runs: a table that changes on terminals, and now and then a line elsewhere."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from beforehand.cli.ui import progress

if TYPE_CHECKING:
    from beforehand.runtime.cluster.child import Child
    from beforehand.runtime.cluster.supervisor import Observer

COLUMNS: Final = (
    *("process", "sent", "delivered", "held"),
    *("lost", "doubled", "late", "resent", "round trip"),
)


@contextmanager
def watching() -> Iterator[Observer]:
    """Something to be told of the processes again and again."""
    if not progress.is_drawn():
        yield _Lines().watch
        return
    console = Console(stderr=True)  # which knows about NO_COLOR
    with Live(console=console, transient=True, auto_refresh=False) as live:

        def watch(children: list[Child], step: str) -> None:
            live.update(Group(table(children), Text(f"{step} ...", style="dim")), refresh=True)

        yield watch


def table(children: Sequence[Child]) -> Table:
    """One row for each process."""
    drawn = Table(
        box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, header_style="bold", highlight=False
    )
    for place, column in enumerate(COLUMNS):
        drawn.add_column(
            column,
            justify="right" if place else "left",
            style=None if place else "cyan",
            no_wrap=True,
        )
    for child in children:
        style = "dim" if child.killed else None
        drawn.add_row(*map(Text, row(child)), style=style)
    return drawn


def row(child: Child) -> tuple[str, ...]:
    """The figures of a process, as text."""
    figures = child.figures
    return (
        f"{child.label}, killed" if child.killed else child.label,
        f"{figures.sent:,}",
        f"{figures.delivered:,}",
        f"{figures.held:,}",
        f"{figures.lost:,}",
        f"{figures.doubled:,}",
        f"{figures.held_back:,}",
        f"{figures.resent:,}",
        f"{figures.round_trip_ms:.1f} ms",
    )


class _Lines:
    """A line now and then, for logs."""

    def __init__(self) -> None:
        self._next = time.monotonic() + progress.FIRST_LINE

    def watch(self, children: list[Child], step: str) -> None:
        """Tell how far they are, if it is time."""
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + progress.NEXT_LINE
        sent = sum(child.figures.sent for child in children)
        delivered = sum(child.figures.delivered for child in children)
        typer.echo(f"{step}: {sent:,} sent, {delivered:,} deliveries", err=True)
