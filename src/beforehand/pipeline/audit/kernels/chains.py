"""Shortest chains of messages."""

from __future__ import annotations

from beforehand._kernel import Ints, compiled


@compiled
def name_messages(step_slot: Ints, slot_message: Ints, message: Ints) -> int:
    """Number the messages that are sent in some steps; -1 for those sent before. How many there are."""
    found = 0
    for step in range(len(step_slot)):
        s = step_slot[step]
        if s >= 0:
            slot_message[s] = found
            message[step] = found
            found += 1
        else:
            message[step] = slot_message[~s]
    return found


@compiled
def search(
    process: Ints,
    message: Ints,
    is_send: Ints,
    by_process: Ints,
    process_at: Ints,
    by_message: Ints,
    message_at: Ints,
    late: int,
    receiver: int,
    end: int,
    reached: Ints,
    before: Ints,
    is_target: Ints,
    queue: Ints,
) -> int:
    """A shortest chain from a late message to one that `receiver` delivered before the step `end`.

    Gives the early message; `before` leads back from it to the late one. As in `History`: a process
    once reached has all its later steps reached, so each step is looked at once.
    """
    for place in range(process_at[receiver], process_at[receiver + 1]):
        step = by_process[place]
        if step >= end:
            break
        if not is_send[step]:
            is_target[message[step]] = 1
    reached[:] = process_at[1:]
    head = 0
    tail = 1
    queue[0] = late
    before[late] = -1
    while head < tail:
        m = queue[head]
        head += 1
        for known in range(message_at[m], message_at[m + 1]):
            step = by_message[known]
            p = process[step]
            low = process_at[p]
            high = reached[p]
            while low < high:  # the first step of that process after this one
                middle = (low + high) // 2
                if by_process[middle] <= step:
                    low = middle + 1
                else:
                    high = middle
            for place in range(low, reached[p]):
                following = by_process[place]
                if is_send[following]:
                    each = message[following]
                    before[each] = m
                    if is_target[each]:
                        return int(each)
                    queue[tail] = each
                    tail += 1
            reached[p] = min(reached[p], low)
    return -1
