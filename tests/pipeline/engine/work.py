"""Functions for tasks: at the top of a module, so that worker processes can import them."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

from beforehand.errors import TraceError
from beforehand.pipeline.engine import Counter, Source
from beforehand.pipeline.engine.engine import Batches

SCHEMA = pa.schema(
    [
        pa.field("key", pa.string(), nullable=False),
        pa.field("group", pa.string(), nullable=False),
        pa.field("number", pa.int64(), nullable=False),
        pa.field("process", pa.int64(), nullable=False),
    ]
)
WAIT_SECONDS = 60  # that a task waits for its end by others


def batch_of(rows: list[dict[str, Any]]) -> pa.RecordBatch:
    """Rows of SCHEMA, made in this process; numbers are in two groups."""
    complete = [
        {**row, "group": "odd" if row["number"] % 2 else "even", "process": os.getpid()}
        for row in rows
    ]
    return pa.RecordBatch.from_pylist(complete, schema=SCHEMA)


def spread(number: int) -> Batches:
    """Rows with ten keys, each key from every number; two batches in descending order."""
    rows = [{"key": f"k{key}", "number": number} for key in range(10)]
    yield batch_of(rows[5:][::-1])
    yield batch_of(rows[:5][::-1])


def one_row(number: int) -> Batches:
    """A row with the number of its item."""
    yield batch_of([{"key": "k", "number": number}])


def summed(batches: Batches) -> Batches:
    """The numbers of each key, added up in the order of their first row; the process is this one."""
    sums: dict[str, int] = {}
    for batch in batches:
        for row in batch.to_pylist():
            sums[row["key"]] = sums.get(row["key"], 0) + row["number"]
    if sums:
        yield batch_of([{"key": key, "number": number} for key, number in sums.items()])


def summed_by_group(batches: Batches) -> Batches:
    """The numbers of each key and group, added up; all of a group must come to this task."""
    sums: dict[tuple[str, str], int] = {}
    for batch in batches:
        for row in batch.to_pylist():
            both = row["key"], row["group"]
            sums[both] = sums.get(both, 0) + row["number"]
    if sums:
        yield batch_of([{"key": key, "number": number} for (key, _), number in sums.items()])


def numbered(batches: Batches) -> Batches:
    """The rows with this process in place of theirs, as they come."""
    for batch in batches:
        yield batch_of([{"key": r["key"], "number": r["number"]} for r in batch.to_pylist()])


def counted(number: int, counter: Counter) -> Batches:
    """Count the call."""
    counter.add(number)
    yield from one_row(number)


def shared_plus(number: int, value: Callable[[], list[int]]) -> Batches:
    """A number with another that the caller shares."""
    yield from one_row(number + value()[0])


def size_of(source: Source) -> Batches:
    """The path of a file, and its size; -1 if it has a problem."""
    size = -1 if source.problem else Path(source.local).stat().st_size
    yield batch_of([{"key": source.path, "number": size}])


def refuse(number: int) -> Batches:
    """Fail on the number 3 with an error of ours, which has no cause in the machine."""
    if number == 3:
        raise TraceError("line 3: not a trace")
    yield from one_row(number)


def break_down(number: int) -> Batches:
    """Fail on the number 3 with a bug."""
    if number == 3:
        raise ZeroDivisionError("by nothing")
    yield from one_row(number)


def die(number: int) -> Batches:
    """End the process on the number 3 as if the machine were out of memory."""
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    yield from one_row(number)


def wait_for_the_end(number: int, folder: str) -> Batches:
    """Note this process, and wait for its end, which should come from outside."""
    unnamed = Path(folder, f".{number}")
    unnamed.write_text(str(os.getpid()))
    unnamed.rename(Path(folder, f"started-{number}"))
    deadline = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < deadline:
        time.sleep(0.05)
    Path(folder, "waited").touch()
    yield from one_row(number)


def fail_or_wait(number: int, folder: str) -> Batches:
    """Wait on the number 0, and fail on all others once that one waits."""
    if number == 0:
        yield from wait_for_the_end(number, folder)
        return
    while not Path(folder, "started-0").exists():
        time.sleep(0.01)
    raise TraceError("one of the others")
