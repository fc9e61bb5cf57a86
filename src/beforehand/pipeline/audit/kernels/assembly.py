"""Events and receivers from chunks to where they belong in a log."""

from __future__ import annotations

import numpy as np

from beforehand._kernel import Ints, compiled


@compiled
def largest_numbers(index: Ints, sender: Ints, number: Ints, largest: Ints) -> None:
    """The greatest number of a message of each sender."""
    for each in range(len(sender)):
        i = index[sender[each]]
        largest[i] = max(largest[i], number[each])


@compiled
def place(
    index: Ints,
    process: Ints,
    its_seq: Ints,
    is_send: Ints,
    sender: Ints,
    number: Ints,
    its_to_size: Ints,
    base: Ints,
    position: Ints,
    seq: Ints,
    events: Ints,
    to_size: Ints,
    is_sent: Ints,
) -> int:
    """Put the events of a chunk where they belong; the place of one that sends for another, or -1."""
    sends = 0
    for each in range(len(process)):
        p = index[process[each]]
        m = base[index[sender[each]]] + number[each] - 1
        at = position[p]
        position[p] = at + 1
        seq[at] = its_seq[each]
        if is_send[each]:
            if sender[each] != process[each]:
                return each
            events[at] = m
            is_sent[m] = 1
            to_size[m] = its_to_size[sends]
            sends += 1
        else:
            events[at] = ~m
    return -1


@compiled
def place_receivers(
    index: Ints,
    is_send: Ints,
    sender: Ints,
    number: Ints,
    to_size: Ints,
    to: Ints,
    base: Ints,
    receivers_at: Ints,
    receivers: Ints,
) -> None:
    """Put the receivers of a chunk where they belong, sorted for each message."""
    sends = 0
    given = 0
    for each in range(len(is_send)):
        if not is_send[each]:
            continue
        size = max(0, to_size[sends])
        sends += 1
        begin = receivers_at[base[index[sender[each]]] + number[each] - 1]
        for some in range(given, given + size):
            receivers[begin + some - given] = index[to[some]]
        given += size
        if size > 1:
            receivers[begin : begin + size].sort()


@compiled
def unsorted(start: Ints, seq: Ints) -> Ints:
    """Which processes do not have their events in order."""
    found = np.zeros(len(start) - 1, np.uint8)
    for p in range(len(start) - 1):
        for event in range(start[p] + 1, start[p + 1]):
            if seq[event] < seq[event - 1]:
                found[p] = 1
                break
    return found


@compiled
def contradiction(start: Ints, seq: Ints, events: Ints) -> tuple[int, int, int]:
    """The first event with the `seq` of another, and the first send that has not a higher number than
    the one before, with that one; -1 where there is none.
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
    """Where the copies of each message begin; see `RunLog.copies_at`."""
    total = 0
    for m in range(len(to_size)):
        if is_sent[m]:
            total += processes if to_size[m] < 0 else to_size[m]
        elif has_gaps[sender[m]]:
            total += processes
        copies_at[m + 1] = total
