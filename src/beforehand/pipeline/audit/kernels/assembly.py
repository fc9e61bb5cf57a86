"""Moving the events and receivers of chunks to their places in a log."""

from typing import NamedTuple

import numpy as np

from beforehand._kernel import Ints, compiled


class ChunkEvents(NamedTuple):
    """The causal-sends and deliveries of a chunk; processes are indices into its names."""

    process: Ints  # int32
    seq: Ints  # int64
    is_send: Ints  # uint8
    sender: Ints  # int32
    number: Ints  # int64
    to_size: Ints  # int32: of each causal-send, how many receivers it has; -1: all processes
    to: Ints  # int32: the receivers of all of them


class LogColumns(NamedTuple):
    """The columns of a log while it is filled."""

    position: Ints  # of each process, where its next event goes
    seq: Ints
    events: Ints
    to_size: Ints
    is_sent: Ints


@compiled
def largest_numbers(index: Ints, sender: Ints, number: Ints, largest: Ints) -> None:
    """Raise `largest` to the greatest message number of each sender."""
    for event in range(len(sender)):
        i = index[sender[event]]
        largest[i] = max(largest[i], number[event])


@compiled
def copy_events(index: Ints, chunk: ChunkEvents, base: Ints, log: LogColumns) -> int:
    """Copy a chunk's events into the log. Returns the index of a send by a process other than its
    sender, or -1 if there is none.
    """
    sends = 0
    for event in range(len(chunk.process)):
        p = index[chunk.process[event]]
        m = base[index[chunk.sender[event]]] + chunk.number[event] - 1
        at = log.position[p]
        log.position[p] = at + 1
        log.seq[at] = chunk.seq[event]
        if chunk.is_send[event]:
            if chunk.sender[event] != chunk.process[event]:
                return event
            log.events[at] = m
            log.is_sent[m] = 1
            log.to_size[m] = chunk.to_size[sends]
            sends += 1
        else:
            log.events[at] = ~m
    return -1


@compiled
def copy_receivers(
    index: Ints, chunk: ChunkEvents, base: Ints, receivers_at: Ints, receivers: Ints
) -> None:
    """Copy the receivers of a chunk's messages into the log, sorted for each message."""
    sends = 0
    copied = 0
    for event in range(len(chunk.is_send)):
        if not chunk.is_send[event]:
            continue
        size = max(0, chunk.to_size[sends])
        sends += 1
        begin = receivers_at[base[index[chunk.sender[event]]] + chunk.number[event] - 1]
        for offset in range(size):
            receivers[begin + offset] = index[chunk.to[copied + offset]]
        copied += size
        if size > 1:
            receivers[begin : begin + size].sort()


@compiled
def unsorted(start: Ints, seq: Ints) -> Ints:
    """Which processes don't have their events in order."""
    flags = np.zeros(len(start) - 1, np.uint8)
    for p in range(len(start) - 1):
        for event in range(start[p] + 1, start[p + 1]):
            if seq[event] < seq[event - 1]:
                flags[p] = 1
                break
    return flags


@compiled
def contradiction(start: Ints, seq: Ints, events: Ints) -> tuple[int, int, int]:
    """The first event that repeats a `seq`; or the first send whose number isn't greater than that of
    the send before it, followed by that send; -1 where there is none.
    """
    for p in range(len(start) - 1):
        before = -1
        for event in range(start[p], start[p + 1]):
            if event > start[p] and seq[event] == seq[event - 1]:
                return event, -1, -1
            if events[event] >= 0:
                if before >= 0 and events[event] <= events[before]:
                    return -1, event, before
                before = event
    return -1, -1, -1


@compiled
def count_copies(
    to_size: Ints, is_sent: Ints, sender: Ints, has_gaps: Ints, processes: int, copies_at: Ints
) -> None:
    """Fill in where the copies of each message begin; see `RunLog.copies_at`."""
    total = 0
    for m in range(len(to_size)):
        if is_sent[m]:
            total += processes if to_size[m] < 0 else to_size[m]
        elif has_gaps[sender[m]]:
            total += processes
        copies_at[m + 1] = total
