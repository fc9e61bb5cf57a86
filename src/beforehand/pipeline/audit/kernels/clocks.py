"""Vector clocks over the steps of a run."""

from typing import Final, NamedTuple

from beforehand._kernel import Ints, compiled
from beforehand.pipeline.audit.kernels.arrays import StepBatch

# What is wrong with a step, if not 0: its sender in the higher bits, and one or both of these.
LATE: Final = 1  # causal order is violated
BEHIND: Final = 2  # and the sender's own order too
SENDER: Final = 2  # bits below the sender


class BlockClocks(NamedTuple):
    """A block of columns of all clocks, and the messages in flight."""

    known: Ints  # [j, i]: D(j)[i] of `causality/oracle.py`
    latest: Ints  # [j, i]: the greatest number of i's messages that j delivered
    clocks: Ints  # [slot, i]: the clock of the message in a slot
    slot_sender: Ints
    slot_number: Ints
    slot_since: Ints  # the step that sent it


class StepFaults(NamedTuple):
    """The outcome for each step."""

    wrong: Ints  # LATE and so on; 0 if the step is in order
    since: Ints  # if wrong: the step that sent the message
    newest: Ints  # if wrong: the greatest number of that sender that the process had delivered


@compiled
def check(steps: StepBatch, begin: int, first: int, block: BlockClocks, faults: StepFaults) -> None:
    """Check some steps, counted from `begin` on, for the senders of a block: those from `first` on.

    Every component of the clocks is computed without the others, so columns may be in different tasks.
    """
    known = block.known
    width = known.shape[1]
    for step in range(len(steps.process)):
        p = steps.process[step]
        s = steps.slot[step]
        if s >= 0:
            k = steps.number[step]
            block.slot_sender[s] = p
            block.slot_number[s] = abs(k)
            block.slot_since[s] = begin + step
            if k > 0:
                block.clocks[s] = known[p]
            else:
                block.clocks[s] = 0  # its send isn't in the log: what it knew isn't known
            if first <= p < first + width:
                block.clocks[s, p - first] = abs(k)
            continue
        s = ~s
        i = block.slot_sender[s] - first
        if 0 <= i < width:
            k = block.slot_number[s]
            if known[p, i] >= k:
                faults.wrong[step] = (block.slot_sender[s] << SENDER) | LATE
                faults.since[step] = block.slot_since[s]
                faults.newest[step] = block.latest[p, i]
                if block.latest[p, i] > k:
                    faults.wrong[step] |= BEHIND
            block.latest[p, i] = max(block.latest[p, i], k)
        for column in range(width):
            known[p, column] = max(known[p, column], block.clocks[s, column])
