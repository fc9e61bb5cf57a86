"""The events of a log, ordered so that every message is sent before it is delivered."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from beforehand._kernel import Ints
from beforehand.pipeline.audit.kernels import linearise
from beforehand.pipeline.audit.kernels.arrays import StepBatch
from beforehand.pipeline.audit.run_log import CUT_SHORT, GONE, JOINED, RunLog, array

STEPS_PER_BATCH: Final = 1 << 18


class Lineariser:
    """Orders the events of a log, in batches as small as the caller likes.

    After the last batch, `fault` marks which events were skipped and why, `slots` how many messages were
    in flight at once at most, and `lost()` what was never delivered.
    """

    def __init__(self, log: RunLog) -> None:
        self.log = log
        processes, messages = log.processes, log.table.messages
        self.fault = array(len(log.events), np.uint8)
        self._seen = array(int(log.copies_at[-1]) // 8 + 1, np.uint8)
        counters = np.zeros(linearise.COUNTERS, np.int64)
        counters[linearise.DEPTH] = processes  # all of them may start
        self._search = linearise.Search(
            remaining=array(messages, np.int32),
            fault=self.fault,
            position=log.start[:-1].copy(),
            awaited=np.full(processes, -1, np.int64),
            waiting=array(messages, np.int32, -1),
            next_waiting=np.full(processes, -1, np.int32),
            slot=array(messages, np.int32, -1),
            free=array(messages, np.int32),
            heap_key=np.zeros(processes, np.float64),
            heap=np.zeros(processes, np.int32),
            stack=np.arange(processes, dtype=np.int32),
            counters=counters,
        )
        linearise.classify(log.arrays, self._seen, self._search.remaining, self.fault)

    def steps(self, per_batch: int = STEPS_PER_BATCH) -> Iterator[StepBatch]:
        """All steps, in batches."""
        room = per_batch + 2
        while True:
            columns = [np.empty(room, np.int32) for _ in range(3)] + [np.empty(room, np.int64)]
            count = linearise.order(self.log.arrays, self._search, StepBatch(*columns))
            if not count:
                return
            yield StepBatch(*(column[:count] for column in columns))

    @property
    def slots(self) -> int:
        """How many messages were in flight at once, at most, so far."""
        return int(self._search.counters[linearise.SLOTS])

    def lost(self) -> tuple[Ints, Ints]:
        """The copies that should have been delivered and weren't: their messages and receivers.

        Nothing is expected to or from processes that are gone, nor at those whose log has gaps or that
        joined while a broadcast was in flight, because there it can't be known.
        """
        log, flags = self.log, self.log.table.flags
        if (flags & CUT_SHORT).any():
            return np.zeros(0, np.int64), np.zeros(0, np.int32)
        copies = int(log.copies_at[-1])
        missing = np.flatnonzero(np.unpackbits(self._seen, count=copies, bitorder="little") == 0)
        message = np.searchsorted(log.copies_at, missing, side="right") - 1
        within = missing - log.copies_at[message]
        broadcast = log.to_size[message] < 0
        sent = log.is_sent[message].view(bool)
        receiver = within.astype(np.int32)
        listed = sent & ~broadcast
        receiver[listed] = log.receivers[(log.receivers_at[message] + within)[listed]]
        gone = (flags & GONE) > 0
        unknown = log.table.has_gaps.view(bool)
        expected = sent & ~gone[log.sender[message]] & ~(gone | unknown)[receiver]
        expected &= ~(broadcast & ((flags & JOINED) > 0)[receiver])
        return message[expected], receiver[expected]
