"""Progress on standard error: a bar on terminals, a line every few seconds elsewhere.

Results go to standard output and are the same either way. A terminal is cleared at the end; logs get a
line after a moment and then every few seconds, from a thread, so that work which reports nothing for
long is seen to be alive too.
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

FIRST_LINE: Final = 2.0  # seconds: quicker work needs no progress
NEXT_LINE: Final = 5.0  # seconds between two lines, so that the log of an hour stays readable
BAR_WIDTH: Final = 20  # characters, so that the text next to it fits on 80 columns


class ProgressCallback(Protocol):
    """Called with how much is done, the total (0: unknown), and a note."""

    def __call__(self, done: int, total: int, note: str | None = None) -> None: ...


def is_drawn() -> bool:
    """Whether standard error is a terminal that can be drawn on.

    Not `Console.is_terminal`: FORCE_COLOR makes that true for files too.
    """
    return sys.stderr.isatty() and os.environ.get("TERM", "") not in ("dumb", "unknown")


@contextmanager
def progress_bar(what: str) -> Iterator[ProgressCallback]:
    """Progress of work that can be counted, now or later."""
    with (
        _standard_error() as stream,
        (_drawn if is_drawn() else _log_lines)(what, stream) as update,
    ):
        yield update


@contextmanager
def progress_line(what: str) -> Iterator[Callable[[str], None]]:
    """Progress of work without a known total, as text."""
    with progress_bar(what) as update:
        yield lambda text: update(0, 0, text)


@contextmanager
def progress_steps(names: Sequence[str]) -> Iterator[ProgressSteps]:
    """Progress of work in steps: a line for each that stays, and its progress below."""
    with ExitStack() as shown:
        yield ProgressSteps(names, shown)


class ProgressSteps:
    """The steps of some work, one after the other."""

    def __init__(self, names: Sequence[str], shown: ExitStack) -> None:
        self.current = ""
        self._names = list(names)
        self._shown = shown
        self._update: ProgressCallback | None = None

    def begin(self, name: str, text: str) -> None:
        """Begin a step, which ends the one before."""
        self._shown.close()
        self.current = name
        position = f"[{self._names.index(name) + 1}/{len(self._names)}]"
        typer.echo(f"{position} {name}: {text}", err=True)
        self._update = self._shown.enter_context(progress_bar(name))

    def update(self, done: int, total: int, note: str | None = None) -> None:
        """Show how far the current step is."""
        if self._update is not None:
            self._update(done, total, note)


@contextmanager
def _standard_error() -> Iterator[TextIO]:
    """A copy of standard error, since descriptor 2 is redirected while Spark's JVM starts."""
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
def _drawn(what: str, stream: TextIO) -> Iterator[ProgressCallback]:
    console = Console(file=stream)  # which honours NO_COLOR
    spinner = "dots" if console.encoding.startswith("utf") else "line"
    columns = (
        SpinnerColumn(spinner, style=""),
        TextColumn("{task.description}", markup=False),
        _Bar(),
        _Status(table_column=Column(no_wrap=True, overflow="ellipsis")),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(what, total=None, note="")
        (row,) = progress.tasks

        def update(done: int, total: int, note: str | None = None) -> None:
            row.total = total or None  # `Progress.update` cannot reset a known total
            progress.update(task, completed=done, note=note or "")

        yield update


class _Bar(ProgressColumn):
    """A bar, once there is something to count."""

    def render(self, task: Task) -> RenderableType:
        if task.total is None:
            return Text()
        return ProgressBar(total=task.total, completed=task.completed, width=BAR_WIDTH)


class _Status(ProgressColumn):
    """The counts, the note or else the estimated remaining time, and the elapsed time."""

    def render(self, task: Task) -> Text:
        note = task.fields["note"]
        if not note and task.time_remaining:
            note = f"about {task.time_remaining:.0f} s left"
        total = 0 if task.total is None else round(task.total)
        text = _status(round(task.completed), total, note) or "..."
        return Text(f"{text} ").append(f"({task.elapsed or 0:.0f} s)", style="dim")


# ---- in a log ----


@contextmanager
def _log_lines(what: str, stream: TextIO) -> Iterator[ProgressCallback]:
    last = ""
    over = threading.Event()
    began = time.monotonic()

    def update(done: int, total: int, note: str | None = None) -> None:
        nonlocal last
        last = _status(done, total, note or "")

    def write_lines() -> None:
        pause = FIRST_LINE
        while not over.wait(pause):
            text = f"{what}: {last}" if last else f"{what} ..."
            print(f"{text} ({time.monotonic() - began:.0f} s)", file=stream, flush=True)
            pause = NEXT_LINE

    thread = threading.Thread(target=write_lines, name="progress", daemon=True)
    thread.start()
    try:
        yield update
    finally:
        over.set()
        thread.join()


def _status(done: int, total: int, note: str) -> str:
    """As in `12 of 120, 3 failed`."""
    counted = f"{done:,} of {total:,}" if total else ""
    return ", ".join(part for part in (counted, note) if part)
