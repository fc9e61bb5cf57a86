"""Whether deliveries kept causal order: vector clocks over the steps of a run, in blocks of columns."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from beforehand._kernel import Ints
from beforehand.pipeline.audit.kernels import clocks
from beforehand.pipeline.audit.kernels.arrays import StepBatch

BYTES: Final = 2**28  # for the clocks of one block
_WIDTH: Final = 4  # bytes of an entry


def blocks(processes: int, slots: int, at_least: int, memory: int = BYTES) -> list[tuple[int, int]]:
    """Split the components 0, 1, 2, ... into blocks (first, width) whose clocks fit into memory.

    A column has an entry for each slot, and two for each process.
    """
    fitting = max(1, memory // (_WIDTH * (slots + 2 * processes)))
    count = max(1, min(processes, max(at_least, -(-processes // fitting))))
    edges = [processes * block // count for block in range(count + 1)]
    return [(low, high - low) for low, high in pairwise(edges)]


@dataclass(frozen=True)
class LateDeliveries:
    """Deliveries that came too late, one entry per delivery in each array."""

    step: Ints
    process: Ints
    sender: Ints
    number: Ints
    since: Ints  # the step that sent the message
    newest: Ints  # the sender's later message that was delivered before; 0 if there is none

    def __len__(self) -> int:
        return len(self.step)

    @staticmethod
    def join(parts: list[LateDeliveries]) -> LateDeliveries:
        """Several as one."""
        if not any(map(len, parts)):
            return LateDeliveries(*6 * [np.zeros(0, np.int64)])
        columns = zip(*(vars(part).values() for part in parts if len(part)), strict=True)
        return LateDeliveries(*map(np.concatenate, columns))


class ClockBlock:
    """Some components of the clocks of all processes and of the messages in flight."""

    def __init__(self, processes: int, slots: int, first: int, width: int) -> None:
        self.first = first
        self._clocks = clocks.BlockClocks(
            known=np.zeros((processes, width), np.int32),
            latest=np.zeros((processes, width), np.int32),
            clocks=np.zeros((slots, width), np.int32),
            slot_sender=np.zeros(slots, np.int32),
            slot_number=np.zeros(slots, np.int32),
            slot_since=np.zeros(slots, np.int64),
        )
        self._steps = 0

    def check(self, steps: StepBatch) -> LateDeliveries:
        """The late deliveries among the next steps whose senders belong to this block."""
        faults = clocks.StepFaults(
            wrong=np.zeros(steps.size, np.int32),
            since=np.zeros(steps.size, np.int64),
            newest=np.zeros(steps.size, np.int32),
        )
        clocks.check(steps, self._steps, self.first, self._clocks, faults)
        late = np.flatnonzero(faults.wrong)
        bits = faults.wrong[late]
        deliveries = LateDeliveries(
            step=late + self._steps,
            process=steps.process[late],
            sender=bits >> clocks.SENDER,
            number=steps.number[late],
            since=faults.since[late],
            newest=np.where(bits & clocks.BEHIND, faults.newest[late], 0),
        )
        self._steps += steps.size
        return deliveries
