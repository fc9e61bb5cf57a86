"""A cluster while it runs: a table that is redrawn on terminals, a line every few seconds elsewhere."""

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

_COUNTS: Final = ("sent", "delivered", "held", "lost", "doubled", "held_back", "resent")
COLUMNS: Final = ("process", *(name.replace("held_back", "late") for name in _COUNTS), "round trip")


@contextmanager
def live_view() -> Iterator[Observer]:
    """A callback that shows the state of the processes, to be called repeatedly."""
    if not progress.is_drawn():
        yield _LogLines().watch
        return
    console = Console(stderr=True)  # which honours NO_COLOR
    with Live(console=console, transient=True, auto_refresh=False) as live:

        def watch(children: list[Child], step: str) -> None:
            live.update(Group(table(children), Text(f"{step} ...", style="dim")), refresh=True)

        yield watch


def table(children: Sequence[Child]) -> Table:
    """One row for each process."""
    drawn = Table(
        box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, header_style="bold", highlight=False
    )
    for index, column in enumerate(COLUMNS):
        drawn.add_column(
            column,
            justify="right" if index else "left",
            style=None if index else "cyan",
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
        *(f"{getattr(figures, name):,}" for name in _COUNTS),
        f"{figures.round_trip_ms:.1f} ms",
    )


class _LogLines:
    """A line every few seconds, for logs."""

    def __init__(self) -> None:
        self._next = time.monotonic() + progress.FIRST_LINE

    def watch(self, children: list[Child], step: str) -> None:
        """Print how far they are, if a line is due."""
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + progress.NEXT_LINE
        sent = sum(child.figures.sent for child in children)
        delivered = sum(child.figures.delivered for child in children)
        typer.echo(f"{step}: {sent:,} sent, {delivered:,} deliveries", err=True)
