"""The thread that writes the trace of a node: groups of events come in, files come out.

A part is a file of its own, `<process>-00001.parquet` and so on, written under another name and
renamed when it is complete. Where pyarrow is missing, it is `.jsonl`. This module is not compiled:
compiled code would keep the node's thread out for as long as it runs.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any, Final, cast
from urllib.parse import quote

from beforehand.errors import TraceError
from beforehand.runtime.recording.event_group import Group
from beforehand.trace import Event, check, create
from beforehand.trace.checks import Table
from beforehand.trace.sinks import FileSink

# Characters of a file name that come from the process; with the rest it stays below 255.
MOST_NAME: Final = 120


class PartWriter:
    """Writes groups to parts in a thread of its own, and ends at the first trouble."""

    def __init__(
        self,
        folder: str | os.PathLike[str],
        run: str,
        process: str,
        failed: Callable[[str], None],
    ) -> None:
        self.ended = False  # nothing is written any more
        self._folder = _prepared(folder)
        self._run = run
        self._process = process
        self._failed = failed
        self._told = Lock()  # taken by whoever calls `failed`, and never given back
        self._stem = stem(process)
        self._ending = "parquet" if find_spec("pyarrow") else "jsonl"
        part = re.compile(rf"{re.escape(self._stem)}-\d+\.(parquet|jsonl)")
        if any(part.fullmatch(each.name) for each in self._folder.iterdir()):
            raise TraceError(
                f"{self._folder}: it holds a trace of {process!a} already, and two lives of a process "
                "cannot be told apart; choose another folder, or remove that trace"
            )
        self._queue: SimpleQueue[Group | None] = SimpleQueue()
        self._put = 0  # rows, counted by those who call
        self._taken = 0  # rows, counted by the thread
        self._sink: FileSink | None = None
        self._parts = 0
        self._worker = Thread(target=self._work, name=f"trace of {process}", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._worker.start()

    def put(self, group: Group) -> None:
        """Take a group; it is the thread's from now on."""
        self._put += len(group)
        self._queue.put(group)

    def waiting(self) -> int:
        """Rows that were taken and are not yet written."""
        return self._put - self._taken

    def give_up(self) -> None:
        """Write what was taken, and no more: the disk does not keep up."""
        self._queue.put(None)
        self._tell(f"{self.waiting():,} events wait for a disk that is too slow; use a faster one")

    def close(self, timeout: float) -> None:
        """Write what was taken, and wait for that."""
        self._queue.put(None)
        self._worker.join(timeout)
        if self._worker.is_alive():
            self._tell(f"the disk did not take the rest within {timeout} s; use a faster one")

    def _work(self) -> None:
        try:
            if self._ending == "parquet":
                # These take long, so before the first events come.
                import_module("pyarrow.compute")
                import_module("pyarrow.parquet")
            while (group := self._queue.get()) is not None:
                self._write(group)
                self._taken += len(group)
            self._finish()
        except Exception as error:  # of the disk, of Arrow, of a node that records nonsense
            self.ended = True
            if self._sink is not None:
                with suppress(OSError):
                    self._sink.abort()
            self._tell(_reason(error))

    def _write(self, group: Group) -> None:
        if self._sink is None:
            self._parts += 1
            name = f"{self._stem}-{self._parts:05}.{self._ending}"
            self._sink = create(self._folder / name)
        if group.codes:  # else it only says that the part is complete
            self._sink.append(_table(group, self._run, self._process))
        if group.end_of_part:
            self._finish()

    def _finish(self) -> None:
        if self._sink is not None:
            self._sink.close()
            self._sink = None

    def _tell(self, reason: str) -> None:
        if self._told.acquire(blocking=False):
            self._failed(
                f"the trace of {self._process} in {self._folder} ends here, "
                f"and the node goes on without: {reason}"
            )


class Places:
    """Which value of a short list each row has, shared by the columns that were coded together."""

    def __init__(self, codes: list[int]) -> None:
        self.codes = codes

    @cached_property
    def arrow(self) -> Any:
        """The same for Arrow."""
        arrow = import_module("pyarrow")
        return arrow.array(self.codes, arrow.int32())


class Coded:
    """A column in which few values repeat; Arrow takes it without looking at each row."""

    def __init__(self, values: list[Any], places: Places) -> None:
        self._values = values
        self._places = places

    def __len__(self) -> int:
        return len(self._places.codes)

    def __iter__(self) -> Iterator[Any]:
        return map(self._values.__getitem__, self._places.codes)

    def __arrow_array__(self, type: Any = None) -> Any:
        """What pyarrow calls to turn this into a column."""
        return import_module("pyarrow").array(self._values, type).take(self._places.arrow)


def stem(process: str) -> str:
    """How the names of the parts of a process begin: safe on any file system, and not hidden."""
    name = quote(process, safe="")
    if name.startswith((".", "_")):  # readers of folders pass over such files
        name = f"%{ord(name[0]):02X}{name[1:]}"
    if len(name) > MOST_NAME:
        name = f"{name[: MOST_NAME - 17]}-{hashlib.sha256(process.encode()).hexdigest()[:16]}"
    return name


def _table(group: Group, run: str, process: str) -> Table:
    """The columns of a trace, in their order; what is wrong with the events is a TraceError."""
    # Rows with the same words are right or wrong together, so it is enough to look at the first.
    for words, row in zip(group.words, group.rows, strict=True):
        kind, sender, _, to, detail = words
        numbers = (group.times[row], group.payloads[row], group.metas[row])
        mid = group.mids[row]
        check(Event(run, process, group.first + row, kind, sender, mid, to, *numbers, detail))
    places = Places(group.codes)
    kinds, senders, _, receivers, details = (
        Coded(list(each), places) for each in zip(*group.words, strict=True)
    )
    table = (
        Coded([run] * len(group.words), places),
        Coded([process] * len(group.words), places),
        list(range(group.first, group.first + len(group))),
        kinds,
        senders,
        group.mids,
        receivers,
        group.times,
        group.payloads,
        group.metas,
        details,
    )
    return cast(Table, table)


def _prepared(folder: str | os.PathLike[str]) -> Path:
    """The folder, which is there and can be written to."""
    path = Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
        writable = os.access(path, os.W_OK | os.X_OK)
        reason = "no right to write"
    except OSError as error:
        writable = False
        reason = error.strerror or str(error)
    if not writable:
        raise TraceError(
            f"{path}: no trace can be written there ({reason}); choose a folder that you may write to"
        )
    return path


def _reason(error: Exception) -> str:
    if isinstance(error, OSError):
        return f"{error.strerror or error}; see to the disk"
    return str(error) or type(error).__name__
