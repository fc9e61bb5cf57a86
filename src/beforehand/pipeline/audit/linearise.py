"""A log in an order in which every message is sent before it is delivered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from beforehand._kernel import Ints
from beforehand.pipeline.audit.kernels import linearise
from beforehand.pipeline.audit.run_log import CUT_SHORT, GONE, JOINED, RunLog, array

STEPS_AT_ONCE: Final = 1 << 18


@dataclass(frozen=True)
class StepBatch:
    """Some steps, one after the other; see `linearise.order`."""

    process: Ints
    slot: Ints
    number: Ints
    event: Ints

    def __len__(self) -> int:
        return len(self.process)

    @staticmethod
    def join(chunks: list[StepBatch]) -> StepBatch:
        """StepBatch in one chunk."""
        columns: list[list[Ints]] = [[np.zeros(0, np.int32)] for _ in range(4)]
        for each in chunks:
            for column, more in zip(columns, vars(each).values(), strict=True):
                column.append(more)
        return StepBatch(*(np.concatenate(column) for column in columns))


class Lineariser:
    """Puts the events of a log in order, as few at a time as the caller wants to hold.

    When all steps were given, `matter` says which events were left out and why, `slots` how many
    messages were under way at a time at most, and `lost()` what was never delivered.
    """

    def __init__(self, log: RunLog) -> None:
        self.log = log
        processes, messages = log.processes, log.table.messages
        self.matter = array(len(log.events), np.uint8)
        self._seen = array(int(log.copies_at[-1]) // 8 + 1, np.uint8)
        self._remaining = array(messages, np.int32)
        linearise.classify(
            log.start,
            log.events,
            log.is_sent,
            log.table.has_gaps,
            log.sender,
            log.copies_at,
            log.to_size,
            log.receivers_at,
            log.receivers,
            self._seen,
            self._remaining,
            self.matter,
        )
        self._position = log.start[:-1].copy()
        self._awaited = np.full(processes, -1, np.int64)
        self._waiting = array(messages, np.int32, -1)
        self._next_waiting = np.full(processes, -1, np.int32)
        self._slot = array(messages, np.int32, -1)
        self._free = array(messages, np.int32)
        self._heap_key = np.zeros(processes, np.float64)
        self._heap = np.zeros(processes, np.int32)
        self._stack = np.arange(processes, dtype=np.int32)  # all of them may go
        self._state = np.zeros(linearise.STATE, np.int64)
        self._state[linearise.DEPTH] = processes

    def steps(self, at_once: int = STEPS_AT_ONCE) -> Iterator[StepBatch]:
        """All steps, in chunks."""
        room = at_once + 2
        while True:
            into = [np.empty(room, np.int32) for _ in range(3)] + [np.empty(room, np.int64)]
            found = linearise.order(
                self.log.start,
                self.log.events,
                self.log.table.base,
                self.log.is_sent,
                self.log.sender,
                self._remaining,
                self.matter,
                self._position,
                self._awaited,
                self._waiting,
                self._next_waiting,
                self._slot,
                self._free,
                self._heap_key,
                self._heap,
                self._stack,
                self._state,
                *into,
            )
            if not found:
                return
            yield StepBatch(*(each[:found] for each in into))

    @property
    def slots(self) -> int:
        """How many messages were under way at once, at most, so far."""
        return int(self._state[linearise.SLOTS])

    def lost(self) -> tuple[Ints, Ints]:
        """The copies that should have been delivered and were not: their messages and receivers.

        Nothing is expected of or from those who are gone; nor of those whose log has gaps, or who
        came while a broadcast was under way, because there it cannot be known.
        """
        log, flags = self.log, self.log.table.flags
        if (flags & CUT_SHORT).any():
            return np.zeros(0, np.int64), np.zeros(0, np.int32)
        copies = int(log.copies_at[-1])
        missing = np.flatnonzero(np.unpackbits(self._seen, count=copies, bitorder="little") == 0)
        message = np.searchsorted(log.copies_at, missing, side="right") - 1
        within = missing - log.copies_at[message]
        everybody = log.to_size[message] < 0
        sent = log.is_sent[message].view(bool)
        receiver = within.astype(np.int32)
        listed = sent & ~everybody
        receiver[listed] = log.receivers[(log.receivers_at[message] + within)[listed]]
        gone = (flags & GONE) > 0
        unknown = log.table.has_gaps.view(bool)
        expected = sent & ~gone[log.sender[message]] & ~(gone | unknown)[receiver]
        expected &= ~(everybody & ((flags & JOINED) > 0)[receiver])
        return message[expected], receiver[expected]
