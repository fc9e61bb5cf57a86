"""The arrays that several kernels take, bundled: numba compiles named tuples without overhead."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from beforehand._kernel import Ints


class LogArrays(NamedTuple):
    """The events of a run, and per message where it came from and went to."""

    start: Ints  # int64: where the events of each process begin, and after the last their number
    events: Ints  # int32: the message of each event, or its complement for a delivery
    base: Ints  # int64: where the messages of each process begin, and after the last their number
    sender: Ints  # int32: of each message
    is_sent: Ints  # uint8: whether the log holds its causal-send
    has_gaps: Ints  # uint8: of each process, whether its log is incomplete
    to_size: Ints  # int32: of each message, how many receivers it has; -1: all processes
    receivers_at: Ints  # int64: where they begin
    receivers: Ints  # int32: sorted for each message
    copies_at: Ints  # int64: where the copies of each message begin, one per possible receiver


class StepBatch(NamedTuple):
    """Consecutive steps. A send has its slot in `slot`, a delivery the complement of it."""

    process: Ints  # int32
    slot: Ints  # int32: where the message's clock is kept from its send to its last delivery
    number: Ints  # int32: of the message at its sender; negative for a send that isn't in the log
    event: Ints  # int64: index of the event in the log; -1 for such a send

    @property
    def size(self) -> int:
        """How many steps."""
        return len(self.process)

    @staticmethod
    def join(batches: list[StepBatch]) -> StepBatch:
        """Several batches as one."""
        empty = StepBatch(*(np.zeros(0, np.int32) for _ in range(4)))
        return StepBatch(*map(np.concatenate, zip(empty, *batches, strict=True)))
