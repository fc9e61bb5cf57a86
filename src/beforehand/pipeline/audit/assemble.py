"""A run's log, assembled from its chunks in whatever order they come."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

import numpy as np

from beforehand._kernel import Ints
from beforehand.errors import TraceError
from beforehand.pipeline.audit.kernels import assembly
from beforehand.pipeline.audit.log_chunks import LogChunk
from beforehand.pipeline.audit.run_log import ProcessTable, RunLog, array

_SPARE: Final = 4  # unused message numbers per event beyond which messages are renumbered

_Indexed = Sequence[tuple[LogChunk, Ints]]  # chunks, each with the process of each of its names


def assemble(chunks: Sequence[LogChunk], *, renumber: bool = True) -> RunLog:
    """The log of a run; TraceError if it contradicts itself.

    With `renumber`, messages may have any numbers; without, they should be 1, 2, 3, ...
    """
    names = sorted({name for chunk in chunks for name in chunk.names})
    position = {name: index for index, name in enumerate(names)}
    indexed = [(c, np.array([position[name] for name in c.names], np.int32)) for c in chunks]
    table = _table(names, indexed)
    _check_count(table)
    start = np.zeros(len(names) + 1, np.int64)
    for chunk, index in indexed:
        counts = np.bincount(chunk.events.process, minlength=len(index))
        np.add.at(start, index + 1, counts)
    np.cumsum(start, out=start)
    total = int(start[-1])
    numbers = None
    used = float(table.largest.sum(dtype=np.float64))
    if renumber and used > _SPARE * (total + len(names)):
        indexed, table, numbers = _renumbered(indexed, table)
    columns = assembly.LogColumns(
        position=start[:-1].copy(),
        seq=array(total, np.int64),
        events=array(total, np.int32),
        to_size=array(table.messages, np.int32),
        is_sent=array(table.messages, np.uint8),
    )
    for chunk, index in indexed:
        foreign = assembly.copy_events(index, chunk.events, table.base, columns)
        if foreign >= 0:
            raise _foreign_send(chunk, foreign)
    _sort(start, columns)
    _check_order(table, start, columns, numbers)
    receivers_at, receivers = _receivers(indexed, table, columns.to_size)
    return RunLog(
        table=table,
        start=start,
        events=columns.events,
        is_sent=columns.is_sent,
        to_size=columns.to_size,
        receivers_at=receivers_at,
        receivers=receivers,
        seq=columns.seq,
        numbers=numbers,
    )


def _foreign_send(chunk: LogChunk, event: int) -> TraceError:
    events = chunk.events
    process, sender = chunk.names[events.process[event]], chunk.names[events.sender[event]]
    return TraceError(
        f"{process} sends a message of {sender} (seq {events.seq[event]}); "
        "record a `send` at its sender"
    )


def _receivers(indexed: _Indexed, table: ProcessTable, to_size: Ints) -> tuple[Ints, Ints]:
    """Where the receivers of each message begin, and all receivers."""
    receivers_at = np.cumsum(np.maximum(to_size, 0), dtype=np.int64)
    receivers = array(int(receivers_at[-1]) if len(receivers_at) else 0, np.int32)
    receivers_at -= np.maximum(to_size, 0)
    for chunk, index in indexed:
        assembly.copy_receivers(index, chunk.events, table.base, receivers_at, receivers)
    return receivers_at, receivers


def _check_count(table: ProcessTable) -> None:
    """More events than the greatest `seq` cannot all have one of their own."""
    for name, rows, last in zip(table.names, table.rows, table.last, strict=True):
        if rows > last:
            raise TraceError(
                f"{name} has {rows} events but its seq only goes up to {last}, so their order is "
                "unknown; is a file there twice?"
            )


def _table(names: list[str], indexed: _Indexed) -> ProcessTable:
    rows, last, largest = (np.zeros(len(names), np.int64) for _ in range(3))
    flags = np.zeros(len(names), np.uint8)
    for chunk, index in indexed:
        rows[index] += chunk.rows
        last[index] = np.maximum(last[index], chunk.last)
        flags[index] |= chunk.flags
        assembly.largest_numbers(index, chunk.events.sender, chunk.events.number, largest)
    return ProcessTable(names, largest, rows, last, flags)


def _renumbered(
    indexed: _Indexed, table: ProcessTable
) -> tuple[list[tuple[LogChunk, Ints]], ProcessTable, Ints]:
    """Messages numbered anew, sender by sender, where most numbers aren't in use."""
    s = np.concatenate([index[chunk.events.sender] for chunk, index in indexed])
    number = np.concatenate([chunk.events.number for chunk, _ in indexed])
    order = np.lexsort((number, s))
    by_sender, by_number = s[order], number[order]
    new = np.ones(len(order), bool)
    new[1:] = (by_sender[1:] != by_sender[:-1]) | (by_number[1:] != by_number[:-1])
    largest = np.bincount(by_sender[new], minlength=len(table.names)).astype(np.int64)
    table = ProcessTable(table.names, largest, table.rows, table.last, table.flags)
    renumbered = np.empty(len(order), np.int64)
    renumbered[order] = np.cumsum(new) - table.base[by_sender]
    edges = pairwise(np.cumsum([0, *(len(chunk.events.number) for chunk, _ in indexed)]))
    chunks = [
        (replace(chunk, events=chunk.events._replace(number=renumbered[begin:end])), index)
        for (chunk, index), (begin, end) in zip(indexed, edges, strict=True)
    ]
    return chunks, table, by_number[new]


def _sort(start: Ints, columns: assembly.LogColumns) -> None:
    """Sort the events of each process by `seq`, where they aren't yet."""
    for process in assembly.unsorted(start, columns.seq).nonzero()[0].tolist():
        mine = slice(int(start[process]), int(start[process + 1]))
        order = np.argsort(columns.seq[mine], kind="stable")
        columns.seq[mine] = columns.seq[mine][order]
        columns.events[mine] = columns.events[mine][order]


def _check_order(
    table: ProcessTable, start: Ints, columns: assembly.LogColumns, numbers: Ints | None
) -> None:
    """Raise TraceError where events share a `seq`, or sends aren't numbered in their order."""
    seq, events = columns.seq, columns.events
    twice, unordered, before = map(int, assembly.contradiction(start, seq, events))
    if twice >= 0:
        name = table.names[int(np.searchsorted(start, twice, side="right")) - 1]
        raise TraceError(
            f"two events of {name} have the seq {seq[twice]}, so their order is unknown; "
            "is a file there twice?"
        )
    if unordered >= 0:
        process = int(np.searchsorted(start, unordered, side="right")) - 1
        later, earlier = (
            int(numbers[message]) if numbers is not None else int(message - table.base[process] + 1)
            for message in (events[unordered], events[before])
        )
        raise TraceError(
            f"{table.names[process]} sends number {later} after number {earlier} "
            f"(seq {seq[unordered]}); number the sends of a process 1, 2, 3, ... in their order"
        )
