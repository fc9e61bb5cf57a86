"""Shortest chains of messages that show why a delivery was too late."""

from __future__ import annotations

from typing import Final

import numpy as np

from beforehand._kernel import Ints
from beforehand.pipeline.audit.kernels import chains
from beforehand.pipeline.audit.linearise import StepBatch

MOST: Final = 1_000  # chains to look for in one run: nobody reads more


class WitnessSearch:
    """Finds chains in a stretch of steps that begins before the late messages were sent."""

    def __init__(self, steps: StepBatch, processes: int) -> None:
        slots = int(max(steps.slot.max(), (~steps.slot).max())) + 1
        message = np.empty(len(steps), np.int32)
        count = chains.name_messages(steps.slot, np.full(slots, -1, np.int32), message)
        self._message = message
        self._process = steps.process
        self._is_send = np.asarray((steps.slot >= 0) & (steps.number > 0), np.uint8)
        # A message of which only deliveries are known was not sent at a step that means anything.
        counts = np.flatnonzero((message >= 0) & (self._is_send.view(bool) | (steps.slot < 0)))
        self._by_process, self._process_at = _grouped(steps.process, counts, processes)
        self._by_message, self._message_at = _grouped(message, counts, count)
        self._names = np.zeros((count, 2), np.int64)
        sends = np.flatnonzero(steps.slot >= 0)
        self._names[:, 0] = steps.process[sends]
        self._names[:, 1] = np.abs(steps.number[sends])
        self._reached = np.empty(processes, np.int64)
        self._before = np.empty(count, np.int32)
        self._is_target = np.zeros(count, np.uint8)
        self._queue = np.empty(count + 1, np.int32)

    def chain(self, step: int) -> list[tuple[int, int]]:
        """The messages, as (sender, number), from the one that a step delivers to one that the same
        process had delivered before; none if no chain is in the log.
        """
        late = self._message[step]
        if late < 0:
            return []
        early = chains.search(
            self._process,
            self._message,
            self._is_send,
            self._by_process,
            self._process_at,
            self._by_message,
            self._message_at,
            late,
            self._process[step],
            step,
            self._reached,
            self._before,
            self._is_target,
            self._queue,
        )
        self._is_target[:] = 0
        found = []
        each = early
        while each >= 0:
            found.append((int(self._names[each, 0]), int(self._names[each, 1])))
            each = self._before[each]
        return found[::-1]


def _grouped(keys: Ints, places: Ints, count: int) -> tuple[Ints, Ints]:
    """The places in the order of their keys, and where those of each key begin."""
    mine = keys[places]
    at = np.concatenate([[0], np.cumsum(np.bincount(mine, minlength=count))])
    return places[np.argsort(mine, kind="stable")], at
