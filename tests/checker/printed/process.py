"""A printed process: causal-send, delivery in the order of each sender, and missing permits.

What Algorithms 1 to 3 have in common. `basic.py` and `optimal.py` decide when a message is released, and
what an ack and a permit do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from beforehand.errors import LocalProtocolError, RemoteProtocolError
from beforehand.protocols.core import Core
from beforehand.protocols.effects import Deliver, Effect, Held, Transmit, Wait
from beforehand.protocols.frames import Frame
from beforehand.protocols.hybrid.frames import HybridAck, HybridPermit
from beforehand.protocols.support.structures import SlidingArray, SlidingMap
from tests.checker.printed.records import PrintedMessage, Record, twin

FIRST_ID = 1  # of a process: 0 stands for "none" in the maps below


class Process(Core):
    """One process. Abstract."""

    def __init__(self, process: str) -> None:
        super().__init__(process)
        self.clock = FIRST_ID  # id of the next message
        self.records: SlidingArray[Record] = SlidingArray(FIRST_ID)  # by id
        self.last_sent: dict[str, int] = {}
        self.last_delivered: dict[str, int] = {}
        self.best_permit: dict[str, int] = {}  # sender -> highest permit, even before its message
        self.early: dict[str, dict[int, PrintedMessage]] = {}  # sender -> predecessor's id -> frame
        self.missing: SlidingMap[tuple[str, int]] = SlidingMap()

    # ---- the algorithms ----

    def _append(self, record: Record, out: list[Effect]) -> None:
        """A message was causal-sent."""
        raise NotImplementedError

    def _acknowledged(self, sender: str, number: int, out: list[Effect]) -> None:
        """An ack for one of `records`."""
        raise NotImplementedError

    def _await_permit(self, sender: str, number: int) -> None:
        """A flagged message was delivered before its permit came."""
        self.missing.add((sender, number))

    def _permitted(self, position: int, out: list[Effect]) -> None:
        """The missing permit at this position has come."""
        raise NotImplementedError

    # ---- causal-send ----

    def send(  # type: ignore[override]  # who sends to whom is what some slips are about
        self, to: str | Iterable[str], payload: bytes, now: int = 0
    ) -> list[Effect]:
        """Causal-send; what goes to oneself does not go through the network."""
        receivers = [to] if isinstance(to, str) else sorted(set(to))
        if not receivers:
            raise LocalProtocolError(f"{self.process}: no receivers; name at least one process")
        out: list[Effect] = []
        self.sent += 1
        others = [name for name in receivers if name != self.process]
        if others:
            self._append(self._record(others, payload), out)
        if len(others) < len(receivers):
            out.append(Deliver(self.process, self.sent, payload))
        return out

    def _record(self, receivers: Sequence[str], payload: bytes) -> Record:
        prev = {name: self.last_sent.get(name, 0) for name in receivers}
        record = Record(self.clock, self.sent, tuple(receivers), prev, self.missing.next, payload)
        record.open.update(receivers)
        self.last_sent.update(dict.fromkeys(receivers, self.clock))
        self.clock += 1
        return record

    # ---- receive ----

    def receive(self, sender: str, frame: Frame, now: int = 0) -> list[Effect]:
        """Take a frame."""
        out: list[Effect] = []
        if isinstance(frame, PrintedMessage):
            self._message(sender, frame, out)
        elif isinstance(frame, HybridAck):
            self._check_ack(sender, frame.upto)
            if frame.upto < self.records.first:  # nothing new: it asks for the permit again
                out.append(Transmit(sender, HybridPermit(frame.upto)))
            else:
                self._acknowledged(sender, frame.upto, out)
        elif isinstance(frame, HybridPermit):
            self.best_permit[sender] = max(self.best_permit.get(sender, 0), frame.upto)
            if (sender, frame.upto) in self.missing.elements():
                self._permitted(self.missing.remove((sender, frame.upto)), out)
        else:
            raise RemoteProtocolError(
                sender, f"{type(frame).__name__} isn't a frame of hybrid buffering"
            )
        return out

    def _message(self, sender: str, frame: PrintedMessage, out: list[Effect]) -> None:
        if frame.first <= self.last_delivered.get(sender, 0):
            out.append(Transmit(sender, HybridAck(frame.first)))
            return
        early = self.early.setdefault(sender, {})
        early[frame.prev] = frame
        while self.last_delivered.get(sender, 0) in early:
            due = early.pop(self.last_delivered.get(sender, 0))
            self.last_delivered[sender] = due.first
            if due.flagged and due.first > self.best_permit.get(sender, 0):
                self._await_permit(sender, due.first)
            out.append(Transmit(sender, HybridAck(due.first)))
            out.append(Deliver(sender, due.number, due.payloads[0]))

    def _check_ack(self, sender: str, number: int) -> None:
        if number >= self.records.next:
            raise RemoteProtocolError(sender, f"acknowledges {number}, which was never sent")
        if number >= self.records.first:
            record = self.records[number]
            if sender not in record.receivers or not record.released:
                raise RemoteProtocolError(sender, f"acknowledges {number}, which it was never sent")

    def _release(self, record: Record, flagged: bool, out: list[Effect]) -> None:
        """Network-send."""
        record.released = True
        record.flagged = flagged
        out.extend(Transmit(name, record.frame(name)) for name in record.receivers)

    # ---- the timer ----

    def tick(self, now: int = 0) -> list[Effect]:
        """Send again what is not acknowledged, and ask again for permits."""
        out: list[Effect] = []
        for record in self.records.elements():
            if record.released:
                out.extend(Transmit(name, record.frame(name)) for name in sorted(record.open))
        out.extend(
            Transmit(sender, HybridAck(number)) for sender, number in self.missing.elements()
        )
        return out

    # ---- inspection ----

    def _unreleased(self) -> list[Record]:
        return [record for record in self.records.elements() if not record.released]

    def held(self) -> list[Held]:
        """Messages that were not released, and messages that came before their predecessors."""
        permits = tuple(Wait("permit", *permit) for permit in self.missing.elements())
        messages = [
            Held(self.process, record.number, record.receivers, 0, permits)
            for record in self._unreleased()
        ]
        for sender, early in sorted(self.early.items()):
            for prev, frame in sorted(early.items()):
                wait = Wait("message", sender, prev)
                messages.append(Held(sender, frame.number, (self.process,), 0, (wait,)))
        return messages

    def unacknowledged(self) -> int:
        """Copies that were released and not acknowledged."""
        return sum(len(record.open) for record in self.records.elements() if record.released)

    def permits_missing(self) -> int:
        """Flagged messages delivered here without their permit."""
        return len(self.missing)

    def copy(self) -> Process:
        """An independent process in the same state."""
        other = type(self)(self.process)
        other.sent = self.sent
        other.clock = self.clock
        other.records = twin(self.records, [record.copy() for record in self.records.elements()])
        other.last_sent = self.last_sent.copy()
        other.last_delivered = self.last_delivered.copy()
        other.best_permit = self.best_permit.copy()
        other.early = {sender: frames.copy() for sender, frames in self.early.items()}
        self.missing.copy_into(other.missing, {key: key for key in self.missing.elements()})
        return other

    def _state(self) -> tuple[object, ...]:
        missing = [(key, self.missing.index(key)) for key in self.missing.elements()]
        early = [
            (sender, prev, frame.key())
            for sender, frames in self.early.items()
            for prev, frame in frames.items()
        ]
        return (
            (self.clock, self.records.first, self.missing.next, tuple(missing)),
            tuple(record.key() for record in self.records.elements()),
            tuple(sorted(self.last_sent.items())),
            tuple(sorted(self.last_delivered.items())),
            tuple(sorted(self.best_permit.items())),
            tuple(sorted(early)),
        )
