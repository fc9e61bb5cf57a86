"""A progress bar on terminals, and nothing elsewhere: pipes and logs are for results."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text


class Tell(Protocol):
    """To be called with how much is done, out of how much, and what else there is to say."""

    def __call__(self, done: int, total: int, note: str | None = None) -> None: ...


@contextmanager
def progress_bar(what: str) -> Iterator[Tell]:
    """A bar, as a function; a note takes the place of its own guess at the time that is left."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        _Rest(),
    )
    # Not `console.is_terminal`: FORCE_COLOR makes that true for files too.
    hidden = not sys.stderr.isatty()
    with Progress(*columns, console=console, transient=True, disable=hidden) as progress:
        task = progress.add_task(what, total=None, note=None)

        def tell(done: int, total: int, note: str | None = None) -> None:
            progress.update(task, completed=done, total=total or None, note=note)

        yield tell


class _Rest(TimeRemainingColumn):
    """The note, or else the time that is left."""

    def render(self, task: Task) -> Text:
        note = task.fields["note"]
        return super().render(task) if note is None else Text(note)


@contextmanager
def progress_line(what: str) -> Iterator[Callable[[str], None]]:
    """A line that changes, for work of which nobody knows how much there is; as a function."""
    if not sys.stderr.isatty():
        yield lambda text: None
        return
    with Console(stderr=True).status(Text(f"{what} ...")) as status:
        yield lambda text: status.update(Text(f"{what}: {text}"))
