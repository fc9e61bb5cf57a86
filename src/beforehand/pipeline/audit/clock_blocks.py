"""Whether deliveries kept causal order: vector clocks over the steps of a run, in blocks of columns."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from beforehand._kernel import Ints
from beforehand.pipeline.audit.kernels import clocks
from beforehand.pipeline.audit.linearise import StepBatch

BYTES: Final = 2**28  # for the clocks of one block; more columns would need more
_WIDTH: Final = 4  # bytes of an entry


def blocks(processes: int, slots: int, at_least: int, memory: int = BYTES) -> list[tuple[int, int]]:
    """Cut the components 0, 1, 2, ... into blocks (first, width) whose clocks fit into memory.

    A column has an entry for each slot, and two for each process.
    """
    fitting = max(1, memory // (_WIDTH * (slots + 2 * processes)))
    count = max(1, min(processes, max(at_least, -(-processes // fitting))))
    edges = [processes * each // count for each in range(count + 1)]
    return [(low, high - low) for low, high in pairwise(edges)]


@dataclass(frozen=True)
class LateDeliveries:
    """Deliveries that came too late, an entry in each array for each."""

    step: Ints
    process: Ints
    sender: Ints
    number: Ints
    since: Ints  # the step that sent the message
    newest: Ints  # the number of the sender's message that came before it; 0 if none later did

    def __len__(self) -> int:
        return len(self.step)

    @staticmethod
    def join(parts: list[LateDeliveries]) -> LateDeliveries:
        """All of them in one."""
        if not any(map(len, parts)):
            return LateDeliveries(*6 * [np.zeros(0, np.int64)])
        columns = zip(*(vars(part).values() for part in parts if len(part)), strict=True)
        return LateDeliveries(*map(np.concatenate, columns))


class ClockBlock:
    """The clocks of all processes and of the messages under way, for some of their components."""

    def __init__(self, processes: int, slots: int, first: int, width: int) -> None:
        self.first = first
        self._told = np.zeros((processes, width), np.int32)
        self._latest = np.zeros((processes, width), np.int32)
        self._clocks = np.zeros((slots, width), np.int32)
        self._slot_sender = np.zeros(slots, np.int32)
        self._slot_number = np.zeros(slots, np.int32)
        self._slot_since = np.zeros(slots, np.int64)
        self._steps = 0

    def check(self, steps: StepBatch) -> LateDeliveries:
        """What is wrong with the next steps, as far as this block can tell."""
        wrong = np.zeros(len(steps), np.int32)
        since = np.zeros(len(steps), np.int64)
        newest = np.zeros(len(steps), np.int32)
        clocks.check(
            steps.process,
            steps.slot,
            steps.number,
            self._steps,
            self.first,
            self._told,
            self._latest,
            self._clocks,
            self._slot_sender,
            self._slot_number,
            self._slot_since,
            wrong,
            since,
            newest,
        )
        places = np.flatnonzero(wrong)
        bits = wrong[places]
        found = LateDeliveries(
            places + self._steps,
            steps.process[places],
            bits >> clocks.SENDER,
            steps.number[places],
            since[places],
            np.where(bits & clocks.BEHIND, newest[places], 0),
        )
        self._steps += len(steps)
        return found
