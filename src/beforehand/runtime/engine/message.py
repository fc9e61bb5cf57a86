"""What the application gets: messages, one by one or many at once.

There are millions of them, so they are compiled, and made only when somebody looks at them: until
then they wait as *parcels*, a tuple of payloads that came together. A batch that is looked through
makes one message after the other, and the garbage collector never gets to see many.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, overload

from mypy_extensions import i64

from beforehand.causality.ids import MessageId
from beforehand.runtime.engine.peer import Peer


class Message:
    """A message of `sender`: its `number`-th causal-send, with the payload that it was given."""

    __slots__ = ("number", "payload", "sender")
    sender: Final[str]
    number: Final[i64]
    payload: Final[bytes]

    def __init__(self, sender: str, number: i64, payload: bytes) -> None:
        self.sender = sender
        self.number = number
        self.payload = payload

    @property
    def id(self) -> MessageId:
        """The name of the message: who sent it and the how many-th it was."""
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


class Parcel:
    """Messages `first`, `first` + 1, ... of `sender` that came together."""

    __slots__ = ("first", "origin", "payloads", "sender", "taken")
    sender: Final[str]
    first: Final[i64]
    payloads: Final[tuple[bytes, ...]]
    origin: Final[Peer]  # is credited when the application takes them
    taken: i64  # how many of them the application has taken

    def __init__(self, origin: Peer, first: i64, payloads: tuple[bytes, ...]) -> None:
        self.sender = origin.name
        self.first = first
        self.payloads = payloads
        self.origin = origin
        self.taken = 0

    def left(self) -> i64:
        """How many of them the application has not taken."""
        return len(self.payloads) - self.taken

    def take(self) -> Message:
        """The next message; there must be one."""
        at = self.taken
        self.taken = at + 1
        return Message(self.sender, self.first + at, self.payloads[at])

    def split(self, count: i64) -> Parcel:
        """Take so many of what is left, as a parcel of their own."""
        start = self.taken
        self.taken = start + count
        payloads = self.payloads
        if count < len(payloads):
            payloads = payloads[start : start + count]
        return Parcel(self.origin, self.first + start, payloads)


class Batch:
    """A sequence of messages, in causal order."""

    _parcels: list[Parcel]
    _count: i64

    def __init__(self, parcels: list[Parcel], count: i64) -> None:
        self._parcels = parcels
        self._count = count

    def __len__(self) -> int:
        return int(self._count)

    def __iter__(self) -> Iterator[Message]:
        return BatchIterator(self._parcels)

    @overload
    def __getitem__(self, index: int) -> Message: ...

    @overload
    def __getitem__(self, index: slice) -> list[Message]: ...

    def __getitem__(self, index: int | slice) -> Message | list[Message]:
        if isinstance(index, slice):
            return list(self)[index]
        place: i64 = index
        if place < 0:
            place += self._count
        if place >= 0:
            for parcel in self._parcels:
                if place < len(parcel.payloads):
                    return Message(parcel.sender, parcel.first + place, parcel.payloads[place])
                place -= len(parcel.payloads)
        raise IndexError(f"there is no message {index} among {self._count}")

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (Batch, list, tuple)):
            return list(self) == list(other)
        return NotImplemented

    def __repr__(self) -> str:
        return f"Batch({list(self)!r})"


class BatchIterator(Iterator[Message]):
    """Goes through a batch, making one message after the other."""

    _parcels: list[Parcel]
    _next: i64  # index of the parcel after this one
    _sender: str
    _first: i64
    _payloads: tuple[bytes, ...]
    _at: i64

    def __init__(self, parcels: list[Parcel]) -> None:
        self._parcels = parcels
        self._next = 0
        self._sender = ""
        self._first = 0
        self._payloads = ()
        self._at = 0

    def __iter__(self) -> Iterator[Message]:
        return self

    def __next__(self) -> Message:
        at = self._at
        while at == len(self._payloads):
            if self._next == len(self._parcels):
                raise StopIteration
            parcel = self._parcels[self._next]
            self._next += 1
            self._sender = parcel.sender
            self._first = parcel.first
            self._payloads = parcel.payloads
            at = 0
        self._at = at + 1
        return Message(self._sender, self._first + at, self._payloads[at])


Sequence.register(Batch)
