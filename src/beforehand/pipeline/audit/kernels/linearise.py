"""A linear order of events in which every message is sent before it is delivered."""

from typing import Final, NamedTuple

from beforehand._kernel import Ints, bare, compiled
from beforehand.pipeline.audit.kernels.arrays import LogArrays, StepBatch

# What is wrong with an event.
FINE: Final = 0
DUPLICATE: Final = 1
NEVER_SENT: Final = 2
NOT_A_RECEIVER: Final = 3  # the message was sent, but to other processes
BEFORE_SEND: Final = 4  # delivered before it can have been sent

# The counters of a search, as indices into `Search.counters`.
FREE: Final = 0  # slots that can be reused
SLOTS: Final = 1  # slots that were ever in use at once
HEAPED: Final = 2  # processes on the heap: their next event is a send
DEPTH: Final = 3  # processes on the stack: their next event may be a delivery
COUNTERS: Final = 4


class Search(NamedTuple):
    """The state of the search for an order."""

    remaining: Ints  # int32: of each message, deliveries still to come
    fault: Ints  # uint8: of each event, what is wrong with it
    position: Ints  # int64: of each process, its next event
    awaited: Ints  # int64: of each process, the message whose send it waits for, or -1
    waiting: Ints  # int32: of each message, the first of the processes that wait for it, or -1
    next_waiting: Ints  # int32: of each process, the next one that waits for the same message
    slot: Ints  # int32: of each message, or -1
    free: Ints  # int32: a stack of slots
    heap_key: Ints  # float64: how far a process has come, as a share of its events
    heap: Ints  # int32: processes
    stack: Ints  # int32: processes
    counters: Ints  # int64


@compiled
def classify(log: LogArrays, seen: Ints, remaining: Ints, fault: Ints) -> None:
    """Find the deliveries that are wrong on their own: duplicates, and messages never sent there.

    Every copy of a message has a bit in `seen`. Broadcasts, and messages whose send is missing in a log
    with gaps, have one for each process.
    """
    for process in range(len(log.start) - 1):
        for event in range(log.start[process], log.start[process + 1]):
            if log.events[event] >= 0:
                continue
            m = ~log.events[event]
            if not log.is_sent[m] and not log.has_gaps[log.sender[m]]:
                fault[event] = NEVER_SENT
                continue
            copy = log.copies_at[m]
            if log.to_size[m] < 0 or not log.is_sent[m]:
                copy += process
            else:
                low = log.receivers_at[m]
                high = low + log.to_size[m]
                end = high
                while low < high:  # receivers are sorted
                    middle = (low + high) // 2
                    if log.receivers[middle] < process:
                        low = middle + 1
                    else:
                        high = middle
                if low == end or log.receivers[low] != process:
                    fault[event] = NOT_A_RECEIVER
                    continue
                copy += low - log.receivers_at[m]
            if seen[copy >> 3] & (1 << (copy & 7)):
                fault[event] = DUPLICATE
                continue
            seen[copy >> 3] |= 1 << (copy & 7)
            remaining[m] += 1


@bare
def _push(heap_key: Ints, heap: Ints, size: int, key: float, process: int) -> None:
    at = size
    while at > 0:
        above = (at - 1) >> 1
        if heap_key[above] <= key:
            break
        heap_key[at] = heap_key[above]
        heap[at] = heap[above]
        at = above
    heap_key[at] = key
    heap[at] = process


@bare
def _pop(heap_key: Ints, heap: Ints, size: int) -> int:
    """Remove the least from a heap of this size."""
    least = heap[0]
    key = heap_key[size - 1]
    last = heap[size - 1]
    at = 0
    while True:
        below = 2 * at + 1
        if below >= size - 1:
            break
        if below + 1 < size - 1 and heap_key[below + 1] < heap_key[below]:
            below += 1
        if heap_key[below] >= key:
            break
        heap_key[at] = heap_key[below]
        heap[at] = heap[below]
        at = below
    heap_key[at] = key
    heap[at] = last
    return int(least)


@bare
def _take_slot(free: Ints, counters: Ints) -> int:
    if counters[FREE] > 0:
        counters[FREE] -= 1
        return int(free[counters[FREE]])
    counters[SLOTS] += 1
    return int(counters[SLOTS] - 1)


@compiled
def order(log: LogArrays, search: Search, steps: StepBatch) -> int:
    """Fill in the next steps, as many as there is room for; returns how many, which is 0 at the end.

    A process goes on while it can deliver; the one that is furthest behind sends next. So few messages
    are in flight at a time, whatever the clocks show: each needs a slot for its clock from its send to
    its last delivery. A message whose send isn't in the log is sent in a step of its own, with a
    negative number. If no process can go on, deliveries wait for each other in a cycle: one of them is
    BEFORE_SEND.
    """
    room = len(steps.process) - 2  # a delivery may need two steps
    counters = search.counters
    count = 0
    while count < room:
        if counters[DEPTH] > 0:
            count = _advance(log, search, steps, count)
        elif counters[HEAPED] > 0:
            count = _send_next(log, search, steps, count)
        elif not _break_cycle(log, search):
            break
    return count


@bare
def _advance(log: LogArrays, search: Search, steps: StepBatch, count: int) -> int:
    """Let the process on top of the stack deliver until it has to send or wait, or room runs out."""
    counters, room = search.counters, len(steps.process) - 2
    p = search.stack[counters[DEPTH] - 1]
    e = search.position[p]
    while count < room:
        while e < log.start[p + 1] and search.fault[e] != FINE:
            e += 1
        search.position[p] = e
        if e == log.start[p + 1]:
            counters[DEPTH] -= 1
            break
        m = log.events[e]
        if m >= 0:
            counters[DEPTH] -= 1
            key = (e - log.start[p]) / (log.start[p + 1] - log.start[p])
            _push(search.heap_key, search.heap, counters[HEAPED], key, p)
            counters[HEAPED] += 1
            break
        m = ~m
        sender = log.sender[m]
        if search.slot[m] < 0:
            if log.is_sent[m]:
                search.awaited[p] = m
                search.next_waiting[p] = search.waiting[m]
                search.waiting[m] = p
                counters[DEPTH] -= 1
                break
            search.slot[m] = _take_slot(search.free, counters)
            steps.process[count] = sender
            steps.slot[count] = search.slot[m]
            steps.number[count] = -(m - log.base[sender] + 1)
            steps.event[count] = -1
            count += 1
        steps.process[count] = p
        steps.slot[count] = ~search.slot[m]
        steps.number[count] = m - log.base[sender] + 1
        steps.event[count] = e
        count += 1
        search.remaining[m] -= 1
        if search.remaining[m] == 0:
            search.free[counters[FREE]] = search.slot[m]
            counters[FREE] += 1
        e += 1
        search.position[p] = e
    return count


@bare
def _send_next(log: LogArrays, search: Search, steps: StepBatch, count: int) -> int:
    """Let the process that is furthest behind send, and wake those that waited for the message."""
    counters = search.counters
    p = _pop(search.heap_key, search.heap, counters[HEAPED])
    counters[HEAPED] -= 1
    e = search.position[p]
    m = log.events[e]
    search.position[p] = e + 1
    if search.remaining[m] > 0:
        search.slot[m] = _take_slot(search.free, counters)
        steps.process[count] = p
        steps.slot[count] = search.slot[m]
        steps.number[count] = m - log.base[p] + 1
        steps.event[count] = e
        count += 1
    search.stack[0] = p
    depth = 1
    q = search.waiting[m]
    search.waiting[m] = -1
    while q >= 0:
        search.stack[depth] = q
        depth += 1
        search.awaited[q] = -1
        q = search.next_waiting[q]
    counters[DEPTH] = depth
    return count


@bare
def _break_cycle(log: LogArrays, search: Search) -> bool:
    """Of the processes that wait, let the one furthest behind skip its delivery; False if none waits."""
    worst = -1
    least = 2.0
    for p in range(len(log.start) - 1):
        if search.awaited[p] >= 0:
            key = (search.position[p] - log.start[p]) / (log.start[p + 1] - log.start[p])
            if key < least:
                least = key
                worst = p
    if worst < 0:
        return False
    m = search.awaited[worst]
    search.awaited[worst] = -1
    if search.waiting[m] == worst:
        search.waiting[m] = search.next_waiting[worst]
    else:
        q = search.waiting[m]
        while search.next_waiting[q] != worst:
            q = search.next_waiting[q]
        search.next_waiting[q] = search.next_waiting[worst]
    search.fault[search.position[worst]] = BEFORE_SEND
    search.remaining[m] -= 1
    search.stack[0] = worst
    search.counters[DEPTH] = 1
    return True
