"""The thread that writes the trace of a node: groups of events in, files out.

A part is a file of its own, `<process>-00001.parquet` and so on, written under another name and
renamed when complete; without pyarrow it is `.jsonl`. This module is not compiled: compiled code
would not yield the interpreter lock to the node's thread.
"""

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
from beforehand.runtime.recording.event_group import EventGroup
from beforehand.trace import Event, check, create
from beforehand.trace.checks import Table
from beforehand.trace.sinks import FileSink

# Characters of a file name that come from the process; with the rest it stays below 255.
MAX_NAME: Final = 120


class TraceWriter:
    """Writes groups to parts in its own thread; stops at the first error."""

    def __init__(
        self, folder: str | os.PathLike[str], run: str, process: str, failed: Callable[[str], None]
    ) -> None:
        self.ended = False  # nothing more will be written
        self._folder = _prepared(folder)
        self._run = run
        self._process = process
        self._failed = failed
        self._reported = Lock()  # taken by whoever calls `failed`, and never released
        self._stem = stem(process)
        self._ending = "parquet" if find_spec("pyarrow") else "jsonl"
        part = re.compile(rf"{re.escape(self._stem)}-\d+\.(parquet|jsonl)")
        if any(part.fullmatch(file.name) for file in self._folder.iterdir()):
            raise TraceError(
                f"{self._folder}: already holds a trace of {process!a}, and two incarnations of a "
                "process would be mixed up; choose another folder, or remove that trace"
            )
        self._queue: SimpleQueue[EventGroup | None] = SimpleQueue()
        self._put = 0  # rows, counted by callers
        self._taken = 0  # rows, counted by the thread
        self._sink: FileSink | None = None
        self._parts = 0
        self._worker = Thread(target=self._work, name=f"trace of {process}", daemon=True)
        self._worker.start()

    def put(self, group: EventGroup) -> None:
        """Queue a group, which now belongs to the thread."""
        self._put += len(group)
        self._queue.put(group)

    def backlog(self) -> int:
        """Rows that are queued and not yet written."""
        return self._put - self._taken

    def give_up(self) -> None:
        """Write what is queued, and no more: the disk does not keep up."""
        self._queue.put(None)
        self._report(f"{self.backlog():,} events are waiting for the disk; use a faster one")

    def close(self, timeout: float) -> None:
        """Write what is queued, and wait for that."""
        self._queue.put(None)
        self._worker.join(timeout)
        if self._worker.is_alive():
            self._report(f"the disk did not take the rest within {timeout} s; use a faster one")

    def _work(self) -> None:
        try:
            if self._ending == "parquet":
                # Slow imports, done before the first events arrive.
                import_module("pyarrow.compute")
                import_module("pyarrow.parquet")
            while (group := self._queue.get()) is not None:
                self._write(group)
                self._taken += len(group)
            self._finish()
        except Exception as error:  # the disk, Arrow, or invalid events
            self.ended = True
            if self._sink is not None:
                with suppress(OSError):
                    self._sink.abort()
            self._report(_reason(error))

    def _write(self, group: EventGroup) -> None:
        if self._sink is None:
            self._parts += 1
            name = f"{self._stem}-{self._parts:05}.{self._ending}"
            self._sink = create(self._folder / name)
        if group.codes:  # an empty group only completes the part
            self._sink.append(_table(group, self._run, self._process))
        if group.end_of_part:
            self._finish()

    def _finish(self) -> None:
        if self._sink is not None:
            self._sink.close()
            self._sink = None

    def _report(self, reason: str) -> None:
        if self._reported.acquire(blocking=False):
            self._failed(
                f"the trace of {self._process} in {self._folder} ends here, "
                f"and the node carries on without it: {reason}"
            )


class DictionaryIndexes:
    """For each row its index into a short list of values, shared by columns coded together."""

    def __init__(self, codes: list[int]) -> None:
        self.codes = codes

    @cached_property
    def arrow(self) -> Any:
        """The indexes as an Arrow array."""
        arrow = import_module("pyarrow")
        return arrow.array(self.codes, arrow.int32())


class DictionaryColumn:
    """A dictionary-encoded column, which Arrow converts without a Python loop."""

    def __init__(self, values: list[Any], indexes: DictionaryIndexes) -> None:
        self._values = values
        self._indexes = indexes

    def __len__(self) -> int:
        return len(self._indexes.codes)

    def __iter__(self) -> Iterator[Any]:
        return map(self._values.__getitem__, self._indexes.codes)

    def __arrow_array__(self, type: Any = None) -> Any:
        """Called by pyarrow to convert this into an array."""
        return import_module("pyarrow").array(self._values, type).take(self._indexes.arrow)


def stem(process: str) -> str:
    """The file-name prefix of a process's parts: safe on any file system, and not hidden."""
    name = quote(process, safe="")
    if name.startswith((".", "_")):  # readers of folders skip such files
        name = f"%{ord(name[0]):02X}{name[1:]}"
    if len(name) > MAX_NAME:
        name = f"{name[: MAX_NAME - 17]}-{hashlib.sha256(process.encode()).hexdigest()[:16]}"
    return name


def _table(group: EventGroup, run: str, process: str) -> Table:
    """The columns of a trace, in order; invalid events raise TraceError."""
    # Rows with the same labels are valid or invalid together, so checking the first is enough.
    for labels, row in zip(group.labels, group.rows, strict=True):
        kind, sender, _, to, detail = labels
        numbers = (group.times[row], group.payloads[row], group.metas[row])
        mid = group.mids[row]
        check(Event(run, process, group.first + row, kind, sender, mid, to, *numbers, detail))
    indexes = DictionaryIndexes(group.codes)
    kinds, senders, _, receivers, details = (
        DictionaryColumn(list(values), indexes) for values in zip(*group.labels, strict=True)
    )
    table = (
        DictionaryColumn([run] * len(group.labels), indexes),
        DictionaryColumn([process] * len(group.labels), indexes),
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
    """The folder, created if necessary and writable."""
    path = Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
        writable = os.access(path, os.W_OK | os.X_OK)
        reason = "permission denied"
    except OSError as error:
        writable = False
        reason = error.strerror or str(error)
    if not writable:
        raise TraceError(f"{path}: cannot write a trace here ({reason}); choose a writable folder")
    return path


def _reason(error: Exception) -> str:
    if isinstance(error, OSError):
        return f"{error.strerror or error}; check the disk"
    return str(error) or type(error).__name__
