"""Shortest chains of messages."""

from typing import NamedTuple

from beforehand._kernel import Ints, compiled


class StepIndex(NamedTuple):
    """Steps, and indices to find those of a process and those of a message."""

    process: Ints
    message: Ints  # numbered by `number_messages`
    is_send: Ints
    by_process: Ints  # steps, sorted by process
    process_at: Ints  # where those of each process begin
    by_message: Ints
    message_at: Ints


class SearchBuffers(NamedTuple):
    """Scratch memory of a search; `is_target` is all zero before and holds targets after it."""

    reached: Ints  # of each process, the first of its steps (in `by_process`) that was visited
    before: Ints  # of each message, the one before it in the chain
    is_target: Ints
    queue: Ints


@compiled
def number_messages(step_slot: Ints, slot_message: Ints, message: Ints) -> int:
    """Number the messages that some steps send, -1 for those sent earlier; returns their count."""
    count = 0
    for step in range(len(step_slot)):
        s = step_slot[step]
        if s >= 0:
            slot_message[s] = count
            message[step] = count
            count += 1
        else:
            message[step] = slot_message[~s]
    return count


@compiled
def search(steps: StepIndex, late: int, receiver: int, end: int, buffers: SearchBuffers) -> int:
    """Find a shortest chain from a late message to one that `receiver` delivered before the step `end`.

    Returns the early message; `before` leads back from it to the late one. As in `History`: once a
    process is reached, all its later steps are, so every step is visited once.
    """
    reached, before, queue = buffers.reached, buffers.before, buffers.queue
    for at in range(steps.process_at[receiver], steps.process_at[receiver + 1]):
        step = steps.by_process[at]
        if step >= end:
            break
        if not steps.is_send[step]:
            buffers.is_target[steps.message[step]] = 1
    reached[:] = steps.process_at[1:]
    head = 0
    tail = 1
    queue[0] = late
    before[late] = -1
    while head < tail:
        m = queue[head]
        head += 1
        for known in range(steps.message_at[m], steps.message_at[m + 1]):
            step = steps.by_message[known]
            p = steps.process[step]
            low = steps.process_at[p]
            high = reached[p]
            while low < high:  # the first step of that process after this one
                middle = (low + high) // 2
                if steps.by_process[middle] <= step:
                    low = middle + 1
                else:
                    high = middle
            for at in range(low, reached[p]):
                following = steps.by_process[at]
                if steps.is_send[following]:
                    sent = steps.message[following]
                    before[sent] = m
                    if buffers.is_target[sent]:
                        return int(sent)
                    queue[tail] = sent
                    tail += 1
            reached[p] = min(reached[p], low)
    return -1
