"""What the application gets: single messages, and batches of them.

There are millions of them, so the objects are created only on access: until then
they stay in runs, each a tuple of payloads that were delivered together. Iterating over a batch
creates one message at a time, so the garbage collector never sees many.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, overload

from mypy_extensions import i64

from beforehand.causality.ids import MessageId
from beforehand.runtime.engine.peer import Peer


class Message:
    """The `number`-th causal-send of `sender`, with its payload."""

    __slots__ = ("number", "payload", "sender")

    def __init__(self, sender: str, number: i64, payload: bytes) -> None:
        self.sender: Final = sender
        self.number: Final = number
        self.payload: Final = payload

    @property
    def id(self) -> MessageId:
        """Sender and number, which identify the message."""
        return MessageId(self.sender, int(self.number))

    def __reduce__(self) -> tuple[object, ...]:
        return (Message, (self.sender, int(self.number), self.payload))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Message)
            and self.sender == other.sender
            and self.number == other.number
            and self.payload == other.payload
        )

    def __hash__(self) -> int:
        return hash((self.sender, self.number, self.payload))

    def __repr__(self) -> str:
        payload = self.payload if len(self.payload) <= 40 else self.payload[:37] + b"..."
        return f"Message({self.sender}#{self.number}, {payload!r})"


class DeliveredRun:
    """Messages `first`, `first` + 1, ... of `sender` that were delivered together."""

    __slots__ = ("first", "origin", "payloads", "sender", "taken")

    def __init__(self, origin: Peer, first: i64, payloads: tuple[bytes, ...]) -> None:
        self.sender: Final = origin.name
        self.first: Final = first
        self.payloads: Final = payloads
        self.origin: Final = origin  # gets credit when the application takes them
        self.taken: i64 = 0  # how many of them the application has taken

    def remaining(self) -> i64:
        """How many of them the application has not taken."""
        return len(self.payloads) - self.taken

    def split(self, count: i64) -> DeliveredRun:
        """Take the next `count` messages, as a run of their own."""
        start = self.taken
        self.taken = start + count
        payloads = self.payloads
        if count < len(payloads):
            payloads = payloads[start : start + count]
        return DeliveredRun(self.origin, self.first + start, payloads)


class Batch:
    """A sequence of messages, in causal order."""

    def __init__(self, runs: list[DeliveredRun], count: i64) -> None:
        self._runs = runs
        self._count = count

    def __len__(self) -> int:
        return int(self._count)

    def __iter__(self) -> Iterator[Message]:
        return BatchIterator(self._runs)

    @overload
    def __getitem__(self, index: int) -> Message: ...

    @overload
    def __getitem__(self, index: slice) -> list[Message]: ...

    def __getitem__(self, index: int | slice) -> Message | list[Message]:
        if isinstance(index, slice):
            return list(self)[index]
        offset: i64 = index
        if offset < 0:
            offset += self._count
        if offset >= 0:
            for run in self._runs:
                if offset < len(run.payloads):
                    return Message(run.sender, run.first + offset, run.payloads[offset])
                offset -= len(run.payloads)
        raise IndexError(f"message {index} is out of range: the batch has {self._count}")

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (Batch, list, tuple)):
            return list(self) == list(other)
        return NotImplemented

    def __repr__(self) -> str:
        return f"Batch({list(self)!r})"


class BatchIterator(Iterator[Message]):
    """Creates the messages of a batch, one at a time."""

    def __init__(self, runs: list[DeliveredRun]) -> None:
        self._next: i64 = 0  # index of the run after the current one
        self._sender: str = ""
        self._first: i64 = 0
        self._payloads: tuple[bytes, ...] = ()
        self._at: i64 = 0
        self._runs = runs

    def __iter__(self) -> Iterator[Message]:
        return self

    def __next__(self) -> Message:
        at = self._at
        while at == len(self._payloads):
            if self._next == len(self._runs):
                raise StopIteration
            run = self._runs[self._next]
            self._next += 1
            self._sender = run.sender
            self._first = run.first
            self._payloads = run.payloads
            at = 0
        self._at = at + 1
        return Message(self._sender, self._first + at, self._payloads[at])


Sequence.register(Batch)
