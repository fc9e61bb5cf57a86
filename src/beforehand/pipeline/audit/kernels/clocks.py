"""Vector clocks over the steps of a run."""

from __future__ import annotations

from typing import Final

from beforehand._kernel import Ints, compiled

# What is wrong with a step, besides 0: its sender in the higher bits, and one or both of these.
LATE: Final = 1  # causal order is broken
BEHIND: Final = 2  # and the order of its sender too
SENDER: Final = 2  # bits below the sender


@compiled
def check(
    step_process: Ints,
    step_slot: Ints,
    step_number: Ints,
    begin: int,
    first: int,
    told: Ints,
    latest: Ints,
    clocks: Ints,
    slot_sender: Ints,
    slot_number: Ints,
    slot_since: Ints,
    wrong: Ints,
    since: Ints,
    newest: Ints,
) -> None:
    """Judge some steps, for the senders from `first` on, as many as `told` has columns.

    `told[j, i]` is T(j)[i] of `causality/oracle.py` and `clocks` has one vector clock per slot. Each
    component is computed without the others, so different columns may be in different tasks. Where a
    step is `wrong`, `since` has the step that sent the message (steps are counted from `begin` on) and
    `newest` the greatest number of that sender that the process had delivered.
    """
    width = told.shape[1]
    for step in range(len(step_process)):
        p = step_process[step]
        s = step_slot[step]
        if s >= 0:
            k = step_number[step]
            slot_sender[s] = p
            slot_number[s] = abs(k)
            slot_since[s] = begin + step
            if k > 0:
                clocks[s] = told[p]
            else:
                clocks[s] = 0  # its sending is not in the log: what it knew is not known
            if first <= p < first + width:
                clocks[s, p - first] = abs(k)
            continue
        s = ~s
        i = slot_sender[s] - first
        if 0 <= i < width:
            k = slot_number[s]
            if told[p, i] >= k:
                wrong[step] = (slot_sender[s] << SENDER) | LATE
                since[step] = slot_since[s]
                newest[step] = latest[p, i]
                if latest[p, i] > k:
                    wrong[step] |= BEHIND
            latest[p, i] = max(latest[p, i], k)
        for column in range(width):
            told[p, column] = max(told[p, column], clocks[s, column])
