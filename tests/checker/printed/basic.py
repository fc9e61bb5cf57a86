"""Almeida's basic algorithm, which enforces CSPS, with multicast (Algorithms 1 and 3).

Messages are released in the order of their causal-sends, when no permit that they depend on is
missing. The permit of a message is due when all before it are acknowledged, and the message itself by
all but the one that gets the permit.
"""

from __future__ import annotations

from collections import deque

from beforehand.protocols.effects import Effect, Transmit
from beforehand.protocols.hybrid.frames import HybridPermit
from tests.checker.printed.process import Process
from tests.checker.printed.records import Record


class Basic(Process):
    """One process of the basic algorithm."""

    def __init__(self, process: str) -> None:
        super().__init__(process)
        self.waiting: deque[Record] = deque()  # not released, so not in `records` yet

    def _append(self, record: Record, out: list[Effect]) -> None:
        self.waiting.append(record)
        self._release_due(out)

    def _release_due(self, out: list[Effect]) -> None:
        while self.waiting and self.waiting[0].need <= self.missing.first:
            record = self.waiting.popleft()
            flagged = len(self.records) > 0 or len(record.receivers) > 1
            self.records.add(record)
            self._release(record, flagged, out)

    def _acknowledged(self, sender: str, number: int, out: list[Effect]) -> None:
        self.records[number].open.discard(sender)
        if number == self.records.first:
            self._shrink(out)

    def _shrink(self, out: list[Effect]) -> None:
        """Give up what is acknowledged at the low end, and give the permits that are due."""
        while len(self.records):
            record = self.records.peek()
            if record.flagged:
                self._permit(record, out)
            if record.open:
                return
            self.records.remove()

    def _permit(self, record: Record, out: list[Effect]) -> None:
        for name in record.receivers:
            if name not in record.permitted and record.open <= {name}:
                record.permitted.add(name)
                out.append(Transmit(name, HybridPermit(record.id)))

    def _permitted(self, position: int, out: list[Effect]) -> None:
        self._release_due(out)

    def _unreleased(self) -> list[Record]:
        return list(self.waiting)

    def copy(self) -> Basic:
        other = super().copy()
        assert isinstance(other, Basic)
        other.waiting = deque(record.copy() for record in self.waiting)
        return other

    def _state(self) -> tuple[object, ...]:
        return (*super()._state(), tuple(record.key() for record in self.waiting))
