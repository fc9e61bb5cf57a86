"""Almeida's SPS-optimal algorithm (Algorithm 2): unicast, with its four indexes.

Records of all messages, released or not, are in one window. A message to j may go when every permit
that it depends on is either there or from j; the permit of a message to j is due when no message
before it is open, that is, not acknowledged, to anybody but j.
"""

from __future__ import annotations

from beforehand.errors import LocalProtocolError
from beforehand.protocols.effects import Effect, Transmit
from beforehand.protocols.hybrid.frames import HybridPermit
from tests.checker.printed.process import FIRST_ID, Process
from tests.checker.printed.records import Record


class Optimal(Process):
    """One process of the SPS-optimal algorithm. The indexes are called as in the paper."""

    def __init__(self, process: str) -> None:
        super().__init__(process)
        self.m1 = FIRST_ID  # the first message that is not released
        self.m2 = FIRST_ID  # the first message that depends on the permit at p2
        self.p2 = 0  # the first missing permit from another sender than that of the oldest one
        self.u2 = FIRST_ID  # the first open message to another receiver than that of the oldest one

    # ---- causal-send ----

    def _append(self, record: Record, out: list[Effect]) -> None:
        if len(record.receivers) > 1:
            raise LocalProtocolError(f"{self.process}: this algorithm has no multicast")
        position = int(self.records.add(record))
        if self.u2 == position and record.receivers == self.records.peek().receivers:
            self.u2 += 1
        if self.m2 == position and record.need <= self.p2:
            self.m2 += 1
        self._release_from(position, self.p2, out)

    def _release_from(self, position: int, below: int, out: list[Effect]) -> None:
        """Release what may go among the messages from here on that need permits below this only."""
        oldest = self._sender(self.missing.first)
        while position < self.records.next and self.records[position].need <= below:
            record = self.records[position]
            if not record.released and (
                record.need <= self.missing.first or record.receivers == (oldest,)
            ):
                foreign = record.receivers != self.records.peek().receivers
                self._release(record, self.u2 < position or foreign, out)
            position += 1
        while self.m1 < self.records.next and self.records[self.m1].released:
            self.m1 += 1

    def _sender(self, position: int) -> str | None:
        """Whose permit is missing at a position; nobody's if it has come, or there is none."""
        permit = self.missing[position] if position < self.missing.next else None
        return None if permit is None else permit[0]

    # ---- acks ----

    def _acknowledged(self, sender: str, number: int, out: list[Effect]) -> None:
        record = self.records[number]
        if not record.open:
            if record.permitted:  # nothing new: it asks for the permit again
                out.append(Transmit(sender, HybridPermit(number)))
            return
        record.open.clear()
        if number == self.records.first:
            self.records.remove()
            while len(self.records) and not self.records.peek().open:
                record = self.records.remove()
                if record.flagged and sender not in record.receivers:
                    self._permit(record, out)
            number = int(self.records.first)
        if number == self.u2:
            self._reach_further(out)

    def _reach_further(self, out: list[Effect]) -> None:
        """Move `u2` up, and give the permits that are due to the receiver of the oldest message."""
        while self.u2 < self.records.next:
            record = self.records[self.u2]
            oldest = self.records.peek().receivers
            if record.open and record.receivers != oldest:
                return
            if record.flagged and record.receivers == oldest:
                self._permit(record, out)
            self.u2 += 1

    def _permit(self, record: Record, out: list[Effect]) -> None:
        record.permitted.update(record.receivers)
        out.extend(Transmit(name, HybridPermit(record.id)) for name in record.receivers)

    # ---- permits ----

    def _await_permit(self, sender: str, number: int) -> None:
        position = self.missing.add((sender, number))
        if self.p2 == position and sender == self._sender(self.missing.first):
            self.p2 += 1

    def _permitted(self, position: int, out: list[Effect]) -> None:
        if self.missing.first > position:  # it was the oldest one
            position = int(self.missing.first)
            self._release_from(self.m1, position, out)
        if position == self.p2:
            start = self.m2
            self._find_second()
            self._release_from(start, self.p2, out)

    def _find_second(self) -> None:
        oldest = self._sender(self.missing.first)
        while self.p2 < self.missing.next and self._sender(self.p2) in (None, oldest):
            self.p2 += 1
        while self.m2 < self.records.next and self.records[self.m2].need <= self.p2:
            self.m2 += 1

    # ---- inspection ----

    def copy(self) -> Optimal:
        other = super().copy()
        assert isinstance(other, Optimal)
        other.m1, other.m2, other.p2, other.u2 = self.m1, self.m2, self.p2, self.u2
        return other

    def _state(self) -> tuple[object, ...]:
        return (*super()._state(), self.m1, self.m2, self.p2, self.u2)
