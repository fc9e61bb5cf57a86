"""Shortest chains of messages that prove that a delivery was too late."""

from typing import Final

import numpy as np

from beforehand._kernel import Ints
from beforehand.pipeline.audit.kernels import chains
from beforehand.pipeline.audit.kernels.arrays import StepBatch

MOST: Final = 1_000  # chains to search for in one run: nobody reads more


class WitnessSearch:
    """Finds chains in a range of steps that begins before the late messages were sent."""

    def __init__(self, steps: StepBatch, processes: int) -> None:
        slots = int(max(steps.slot.max(), (~steps.slot).max())) + 1
        message = np.empty(steps.size, np.int32)
        count = chains.number_messages(steps.slot, np.full(slots, -1, np.int32), message)
        is_send = np.asarray((steps.slot >= 0) & (steps.number > 0), np.uint8)
        # A message of which only deliveries are known wasn't sent at a step that means anything.
        relevant = np.flatnonzero((message >= 0) & (is_send.view(bool) | (steps.slot < 0)))
        by_process, process_at = _grouped(steps.process, relevant, processes)
        by_message, message_at = _grouped(message, relevant, count)
        self._steps = chains.StepIndex(
            process=steps.process,
            message=message,
            is_send=is_send,
            by_process=by_process,
            process_at=process_at,
            by_message=by_message,
            message_at=message_at,
        )
        sends = np.flatnonzero(steps.slot >= 0)
        self._sender = steps.process[sends]  # of each message
        self._number = np.abs(steps.number[sends])
        self._buffers = chains.SearchBuffers(
            reached=np.empty(processes, np.int64),
            before=np.empty(count, np.int32),
            is_target=np.zeros(count, np.uint8),
            queue=np.empty(count + 1, np.int32),
        )

    def chain(self, step: int) -> list[tuple[int, int]]:
        """The messages, as (sender, number), from the one that a step delivers to one that the same
        process had delivered before; empty if no chain is in the log.
        """
        late = self._steps.message[step]
        if late < 0:
            return []
        receiver = self._steps.process[step]
        message = chains.search(self._steps, late, receiver, step, self._buffers)
        self._buffers.is_target[:] = 0
        backwards = []
        while message >= 0:
            backwards.append((int(self._sender[message]), int(self._number[message])))
            message = self._buffers.before[message]
        return backwards[::-1]


def _grouped(keys: Ints, steps: Ints, count: int) -> tuple[Ints, Ints]:
    """The steps sorted by their keys, and where those of each key begin."""
    mine = keys[steps]
    at = np.concatenate([[0], np.cumsum(np.bincount(mine, minlength=count))])
    return steps[np.argsort(mine, kind="stable")], at
