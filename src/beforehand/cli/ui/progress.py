"""How far the work is, on standard error: drawn on terminals, a line now and then elsewhere.

Results go to standard output and are the same either way. What a terminal shows is gone at the end;
logs get a line after a moment and then every few seconds, from a thread, so that work which says
nothing for long is seen to live too.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Final, Protocol, TextIO

import typer
from rich.console import Console, RenderableType
from rich.progress import Progress, ProgressColumn, SpinnerColumn, Task, TextColumn
from rich.progress_bar import ProgressBar
from rich.table import Column
from rich.text import Text

FIRST_LINE: Final = 2.0  # seconds: what is quicker than that needs no words
NEXT_LINE: Final = 5.0  # seconds between two lines: the log of an hour stays readable
BAR_WIDTH: Final = 20  # characters, so that the words beside it have room on 80 columns


class Tell(Protocol):
    """To be called with how much is done, of how much (0: unknown), and what else there is to say."""

    def __call__(self, done: int, total: int, note: str | None = None) -> None: ...


def is_drawn() -> bool:
    """Whether standard error is a terminal that can be drawn on.

    Not `Console.is_terminal`: FORCE_COLOR makes that true for files too.
    """
    return sys.stderr.isatty() and os.environ.get("TERM", "") not in ("dumb", "unknown")


@contextmanager
def progress_bar(what: str) -> Iterator[Tell]:
    """Work that can be counted, or turns out to be; as a function to tell how far it is."""
    with _standard_error() as stream, (_drawn if is_drawn() else _lines)(what, stream) as tell:
        yield tell


@contextmanager
def progress_line(what: str) -> Iterator[Callable[[str], None]]:
    """Work of which nobody knows how much there is; as a function to say something about it."""
    with progress_bar(what) as tell:
        yield lambda text: tell(0, 0, text)


@contextmanager
def progress_steps(names: Sequence[str]) -> Iterator[Steps]:
    """Work in steps: each is told with a line that stays, and how far it is below that."""
    with ExitStack() as shown:
        yield Steps(names, shown)


class Steps:
    """The steps of some work, one after the other."""

    def __init__(self, names: Sequence[str], shown: ExitStack) -> None:
        self.now = ""
        self._names = list(names)
        self._shown = shown
        self._tell: Tell | None = None

    def begin(self, name: str, text: str) -> None:
        """The next step."""
        self._shown.close()
        self.now = name
        place = f"[{self._names.index(name) + 1}/{len(self._names)}]"
        typer.echo(f"{place} {name}: {text}", err=True)
        self._tell = self._shown.enter_context(progress_bar(name))

    def tell(self, done: int, total: int, note: str | None = None) -> None:
        """How far this step is."""
        if self._tell is not None:
            self._tell(done, total, note)


@contextmanager
def _standard_error() -> Iterator[TextIO]:
    """Standard error, also while Spark starts: then descriptor 2 belongs to the greetings of its JVM."""
    try:
        copy = os.dup(sys.stderr.fileno())
    except (OSError, ValueError):  # not a real file, or closed
        yield sys.stderr
        return
    encoding = sys.stderr.encoding
    with open(copy, "w", buffering=1, encoding=encoding, errors="backslashreplace") as stream:
        yield stream


# ---- on a terminal ----


@contextmanager
def _drawn(what: str, stream: TextIO) -> Iterator[Tell]:
    console = Console(file=stream)  # which knows about NO_COLOR
    spinner = "dots" if console.encoding.startswith("utf") else "line"
    columns = (
        SpinnerColumn(spinner, style=""),
        TextColumn("{task.description}", markup=False),
        _Bar(),
        _Words(table_column=Column(no_wrap=True, overflow="ellipsis")),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(what, total=None, note="")
        (row,) = progress.tasks

        def tell(done: int, total: int, note: str | None = None) -> None:
            row.total = total or None  # which `update` could not take back once it was known
            progress.update(task, completed=done, note=note or "")

        yield tell


class _Bar(ProgressColumn):
    """A bar, once there is something to count."""

    def render(self, task: Task) -> RenderableType:
        if task.total is None:
            return Text()
        return ProgressBar(total=task.total, completed=task.completed, width=BAR_WIDTH)


class _Words(ProgressColumn):
    """The figures, the note or else a guess at the time that is left, and the time so far."""

    def render(self, task: Task) -> Text:
        note = task.fields["note"]
        if not note and task.time_remaining:
            note = f"about {task.time_remaining:.0f} s left"
        total = 0 if task.total is None else round(task.total)
        words = _words(round(task.completed), total, note) or "..."
        return Text(f"{words} ").append(f"({task.elapsed or 0:.0f} s)", style="dim")


# ---- in a log ----


@contextmanager
def _lines(what: str, stream: TextIO) -> Iterator[Tell]:
    last = ""
    over = threading.Event()
    began = time.monotonic()

    def tell(done: int, total: int, note: str | None = None) -> None:
        nonlocal last
        last = _words(done, total, note or "")

    def speak() -> None:
        pause = FIRST_LINE
        while not over.wait(pause):
            words = f"{what}: {last}" if last else f"{what} ..."
            print(f"{words} ({time.monotonic() - began:.0f} s)", file=stream, flush=True)
            pause = NEXT_LINE

    thread = threading.Thread(target=speak, name="progress", daemon=True)
    thread.start()
    try:
        yield tell
    finally:
        over.set()
        thread.join()


def _words(done: int, total: int, note: str) -> str:
    """As in `12 of 120, 3 failed`."""
    counted = f"{done:,} of {total:,}" if total else ""
    return ", ".join(part for part in (counted, note) if part)
