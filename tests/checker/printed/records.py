"""What a process keeps about a message of its own, and the frame that carries it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from beforehand.protocols.hybrid.frames import HybridMessage
from beforehand.protocols.support.structures import SlidingArray


class PrintedMessage(HybridMessage):
    """One message. `first` is its id among those that go through the network; its acks and permits
    are those of the hybrids, and mean this id only. `number` is what the application calls it."""

    __slots__ = ("number",)

    def __init__(
        self, first: int, prev: int, flagged: bool, payloads: tuple[bytes, ...], number: int
    ) -> None:
        super().__init__(first, prev, flagged, payloads)
        self.number = number

    def key(self) -> tuple[object, ...]:
        return (*super().key(), self.number)


@dataclass
class Record:
    """A message that was causal-sent, until all before it and itself are acknowledged."""

    id: int
    number: int
    receivers: tuple[str, ...]
    prev: dict[str, int]  # receiver -> id of the message to it before this one
    need: int  # depends on the permits below this position
    payload: bytes
    released: bool = False
    flagged: bool = False  # whether it was released with the flag
    open: set[str] = field(default_factory=set)  # receivers that have not acknowledged it
    permitted: set[str] = field(default_factory=set)  # receivers that have their permit

    def frame(self, to: str) -> PrintedMessage:
        """The copy for one receiver."""
        return PrintedMessage(self.id, self.prev[to], self.flagged, (self.payload,), self.number)

    def copy(self) -> Record:
        """An independent copy."""
        return replace(self, open=set(self.open), permitted=set(self.permitted))

    def key(self) -> tuple[object, ...]:
        """All fields, for comparison."""
        return (
            (self.id, self.number, self.receivers, tuple(sorted(self.prev.items()))),
            (self.need, self.payload, self.released, self.flagged),
            (tuple(sorted(self.open)), tuple(sorted(self.permitted))),
        )


def twin(window: SlidingArray[Record], records: Iterable[Record]) -> SlidingArray[Record]:
    """The same window with these records in it."""
    copy: SlidingArray[Record] = SlidingArray(window.first)
    for record in records:
        copy.add(record)
    return copy
