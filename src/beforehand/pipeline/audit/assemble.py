"""A log from its chunks, in whatever order they come."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from beforehand._kernel import Ints
from beforehand.errors import TraceError
from beforehand.pipeline.audit.kernels import assembly
from beforehand.pipeline.audit.log_chunks import LogChunk
from beforehand.pipeline.audit.run_log import ProcessTable, RunLog, array

_SPARE: Final = 4  # numbers per event that may be unused before they are counted anew


def assemble(chunks: Sequence[LogChunk], *, renumber: bool = True) -> RunLog:
    """The log of a run; TraceError if it contradicts itself.

    With `renumber`, messages may have any numbers; without, they should be 1, 2, 3, ...
    """
    names = sorted({name for chunk in chunks for name in chunk.names})
    places = {name: place for place, name in enumerate(names)}
    known = [np.array([places[name] for name in chunk.names], np.int32) for chunk in chunks]
    table = _table(names, chunks, known)
    _check_count(table)
    start = np.zeros(len(names) + 1, np.int64)
    for chunk, index in zip(chunks, known, strict=True):
        np.add.at(start, index + 1, np.bincount(chunk.process, minlength=len(index)))
    np.cumsum(start, out=start)
    total = int(start[-1])
    numbers = None
    used = float(table.largest.sum(dtype=np.float64))
    if renumber and used > _SPARE * (total + len(names)):
        chunks, table, numbers = _renumbered(chunks, known, table)
    seq = array(total, np.int64)
    events = array(total, np.int32)
    to_size = array(table.messages, np.int32)
    is_sent = array(table.messages, np.uint8)
    position = start[:-1].copy()
    strange = -1
    for chunk, index in zip(chunks, known, strict=True):
        strange = assembly.place(
            index,
            chunk.process,
            chunk.seq,
            chunk.is_send,
            chunk.sender,
            chunk.number,
            chunk.to_size,
            table.base,
            position,
            seq,
            events,
            to_size,
            is_sent,
        )
        if strange >= 0:
            name, whose = (chunk.names[column[strange]] for column in (chunk.process, chunk.sender))
            raise TraceError(
                f"{name} sends a message of {whose} (seq {chunk.seq[strange]}); "
                "a `send` is written at its sender"
            )
    _sort_out(names, start, seq, events)
    _check(names, start, seq, events, table.base, numbers)
    receivers_at = np.cumsum(np.maximum(to_size, 0), dtype=np.int64)
    receivers = array(int(receivers_at[-1]) if len(receivers_at) else 0, np.int32)
    receivers_at -= np.maximum(to_size, 0)
    for chunk, index in zip(chunks, known, strict=True):
        assembly.place_receivers(
            index,
            chunk.is_send,
            chunk.sender,
            chunk.number,
            chunk.to_size,
            chunk.to,
            table.base,
            receivers_at,
            receivers,
        )
    return RunLog(table, start, events, is_sent, to_size, receivers_at, receivers, seq, numbers)


def _check_count(table: ProcessTable) -> None:
    """More events than `seq` counts cannot all have one of their own."""
    for name, rows, last in zip(table.names, table.rows, table.last, strict=True):
        if rows > last:
            raise TraceError(
                f"{name} has {rows} events and its seq goes up to {last}, so their order is not known; "
                "is a file there twice?"
            )


def _table(names: list[str], chunks: Sequence[LogChunk], known: Sequence[Ints]) -> ProcessTable:
    rows, last, largest = (np.zeros(len(names), np.int64) for _ in range(3))
    flags = np.zeros(len(names), np.uint8)
    for chunk, index in zip(chunks, known, strict=True):
        rows[index] += chunk.rows
        last[index] = np.maximum(last[index], chunk.last)
        flags[index] |= chunk.flags
        assembly.largest_numbers(index, chunk.sender, chunk.number, largest)
    return ProcessTable(names, largest, rows, last, flags)


def _renumbered(
    chunks: Sequence[LogChunk], known: Sequence[Ints], table: ProcessTable
) -> tuple[list[LogChunk], ProcessTable, Ints]:
    """Messages counted anew, sender by sender, where most numbers are not in use."""
    s = np.concatenate([index[chunk.sender] for chunk, index in zip(chunks, known, strict=True)])
    number = np.concatenate([chunk.number for chunk in chunks])
    order = np.lexsort((number, s))
    by_sender, by_number = s[order], number[order]
    new = np.ones(len(order), bool)
    new[1:] = (by_sender[1:] != by_sender[:-1]) | (by_number[1:] != by_number[:-1])
    largest = np.bincount(by_sender[new], minlength=len(table.names)).astype(np.int64)
    table = ProcessTable(table.names, largest, table.rows, table.last, table.flags)
    counted = np.empty(len(order), np.int64)
    counted[order] = np.cumsum(new) - table.base[by_sender]
    edges = np.cumsum([0, *(len(chunk.number) for chunk in chunks)])
    made = [
        LogChunk(**{**vars(chunk), "number": counted[begin:end]})
        for chunk, (begin, end) in zip(chunks, pairwise(edges), strict=True)
    ]
    return made, table, by_number[new]


def _sort_out(names: list[str], start: Ints, seq: Ints, events: Ints) -> None:
    """Sort the events of each process by `seq`, where they did not come so."""
    for process in assembly.unsorted(start, seq).nonzero()[0].tolist():
        mine = slice(int(start[process]), int(start[process + 1]))
        order = np.argsort(seq[mine], kind="stable")
        seq[mine] = seq[mine][order]
        events[mine] = events[mine][order]


def _check(
    names: list[str], start: Ints, seq: Ints, events: Ints, base: Ints, numbers: Ints | None
) -> None:
    """Raise TraceError where events are in no order, or sends are not numbered in theirs."""
    twice, unordered, before = (int(each) for each in assembly.contradiction(start, seq, events))
    if twice >= 0:
        name = names[int(np.searchsorted(start, twice, side="right")) - 1]
        raise TraceError(
            f"two events of {name} have the seq {seq[twice]}, so their order is not known; "
            "is a file there twice?"
        )
    if unordered >= 0:
        process = int(np.searchsorted(start, unordered, side="right")) - 1
        later, earlier = (
            int(numbers[each]) if numbers is not None else int(each - base[process] + 1)
            for each in (events[unordered], events[before])
        )
        raise TraceError(
            f"{names[process]} sends number {later} after number {earlier} (seq {seq[unordered]}); "
            "number the sends of a process 1, 2, 3, ... in their order"
        )
