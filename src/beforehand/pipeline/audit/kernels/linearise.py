"""An order in which every message is sent before it is delivered."""

from __future__ import annotations

from typing import Final

from beforehand._kernel import Ints, compiled

# What is the matter with an event.
FINE: Final = 0
DUPLICATE: Final = 1
NEVER_SENT: Final = 2
NOT_FOR_IT: Final = 3  # the message was sent, but to others
TOO_SOON: Final = 4  # delivered before it can have been sent

# How the search for an order stands, in an array of this shape.
FREE: Final = 0  # how many numbers of slots are free to be used again
SLOTS: Final = 1  # how many were ever in use at once
HEAPED: Final = 2  # processes that may send
DEPTH: Final = 3  # processes on the stack: they may have something to deliver
STATE: Final = 4


@compiled
def classify(
    start: Ints,
    events: Ints,
    is_sent: Ints,
    has_gaps: Ints,
    sender: Ints,
    copies_at: Ints,
    to_size: Ints,
    receivers_at: Ints,
    receivers: Ints,
    seen: Ints,
    remaining: Ints,
    matter: Ints,
) -> None:
    """Say what is the matter with each delivery by itself: duplicates and inventions.

    Each copy of a message has a bit in `seen`. Messages for everybody, and those whose sending is not in
    a log with gaps, have one for each process.
    """
    for process in range(len(start) - 1):
        for event in range(start[process], start[process + 1]):
            if events[event] >= 0:
                continue
            m = ~events[event]
            if not is_sent[m] and not has_gaps[sender[m]]:
                matter[event] = NEVER_SENT
                continue
            copy = copies_at[m]
            if to_size[m] < 0 or not is_sent[m]:
                copy += process
            else:
                low = receivers_at[m]
                high = low + to_size[m]
                end = high
                while low < high:  # receivers are sorted
                    middle = (low + high) // 2
                    if receivers[middle] < process:
                        low = middle + 1
                    else:
                        high = middle
                if low == end or receivers[low] != process:
                    matter[event] = NOT_FOR_IT
                    continue
                copy += low - receivers_at[m]
            if seen[copy >> 3] & (1 << (copy & 7)):
                matter[event] = DUPLICATE
                continue
            seen[copy >> 3] |= 1 << (copy & 7)
            remaining[m] += 1


@compiled
def _push(heap_key: Ints, heap: Ints, size: int, key: float, process: int) -> None:
    place = size
    while place > 0:
        above = (place - 1) >> 1
        if heap_key[above] <= key:
            break
        heap_key[place] = heap_key[above]
        heap[place] = heap[above]
        place = above
    heap_key[place] = key
    heap[place] = process


@compiled
def _pop(heap_key: Ints, heap: Ints, size: int) -> int:
    """Take the least away from a heap of this size, which is then one smaller."""
    least = heap[0]
    key = heap_key[size - 1]
    last = heap[size - 1]
    place = 0
    while True:
        below = 2 * place + 1
        if below >= size - 1:
            break
        if below + 1 < size - 1 and heap_key[below + 1] < heap_key[below]:
            below += 1
        if heap_key[below] >= key:
            break
        heap_key[place] = heap_key[below]
        heap[place] = heap[below]
        place = below
    heap_key[place] = key
    heap[place] = last
    return int(least)


@compiled
def _take(free: Ints, state: Ints) -> int:
    """A slot that nobody uses."""
    if state[FREE] > 0:
        state[FREE] -= 1
        return int(free[state[FREE]])
    state[SLOTS] += 1
    return int(state[SLOTS] - 1)


@compiled
def order(
    start: Ints,
    events: Ints,
    base: Ints,
    is_sent: Ints,
    sender: Ints,
    remaining: Ints,
    matter: Ints,
    position: Ints,
    awaited: Ints,
    waiting: Ints,
    next_waiting: Ints,
    slot: Ints,
    free: Ints,
    heap_key: Ints,
    heap: Ints,
    stack: Ints,
    state: Ints,
    step_process: Ints,
    step_slot: Ints,
    step_number: Ints,
    step_event: Ints,
) -> int:
    """The next steps, as many as there is room for; their number, which is 0 at the end.

    A process goes on while it can deliver; whoever is furthest behind sends next. So few messages are
    under way at a time, whatever the clocks said: each needs a slot for its clock from its sending to
    its last delivery. A send has its slot in `step_slot`, a delivery the complement of it. A message
    whose sending is not in the log is sent as a step of its own, with a negative number.

    If nobody can go on, deliveries wait for each other in a circle: one of them is TOO_SOON.
    """
    processes = len(start) - 1
    room = len(step_process) - 2  # a delivery may need two steps
    found = 0
    depth = state[DEPTH]
    while found < room:
        # Advance whoever may have something to deliver.
        if depth > 0:
            p = stack[depth - 1]
            e = position[p]
            while e < start[p + 1] and matter[e] != FINE:
                e += 1
            position[p] = e
            if e == start[p + 1]:
                depth -= 1
                continue
            m = events[e]
            if m >= 0:
                depth -= 1
                key = (e - start[p]) / (start[p + 1] - start[p])
                _push(heap_key, heap, state[HEAPED], key, p)
                state[HEAPED] += 1
                continue
            m = ~m
            if slot[m] < 0:
                if is_sent[m]:
                    awaited[p] = m
                    next_waiting[p] = waiting[m]
                    waiting[m] = p
                    depth -= 1
                    continue
                slot[m] = _take(free, state)
                step_process[found] = sender[m]
                step_slot[found] = slot[m]
                step_number[found] = -(m - base[sender[m]] + 1)
                step_event[found] = -1
                found += 1
            step_process[found] = p
            step_slot[found] = ~slot[m]
            step_number[found] = m - base[sender[m]] + 1
            step_event[found] = e
            found += 1
            remaining[m] -= 1
            if remaining[m] == 0:
                free[state[FREE]] = slot[m]
                state[FREE] += 1
            position[p] = e + 1
            continue
        if state[HEAPED] > 0:
            p = _pop(heap_key, heap, state[HEAPED])
            state[HEAPED] -= 1
            e = position[p]
            m = events[e]
            position[p] = e + 1
            if remaining[m] > 0:
                slot[m] = _take(free, state)
                step_process[found] = p
                step_slot[found] = slot[m]
                step_number[found] = m - base[p] + 1
                step_event[found] = e
                found += 1
            stack[0] = p
            depth = 1
            q = waiting[m]
            waiting[m] = -1
            while q >= 0:
                stack[depth] = q
                depth += 1
                awaited[q] = -1
                q = next_waiting[q]
            continue
        # Nobody can go on: let the one that is furthest behind deliver what cannot be.
        worst = -1
        least = 2.0
        for p in range(processes):
            if awaited[p] >= 0:
                key = (position[p] - start[p]) / (start[p + 1] - start[p])
                if key < least:
                    least = key
                    worst = p
        if worst < 0:
            break
        m = awaited[worst]
        awaited[worst] = -1
        if waiting[m] == worst:
            waiting[m] = next_waiting[worst]
        else:
            q = waiting[m]
            while next_waiting[q] != worst:
                q = next_waiting[q]
            next_waiting[q] = next_waiting[worst]
        matter[position[worst]] = TOO_SOON
        remaining[m] -= 1
        stack[0] = worst
        depth = 1
    state[DEPTH] = depth
    return found
