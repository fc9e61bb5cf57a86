"""A cursor over the bytes of a frame that never reads past their end.

Every announced length or count is checked against the remaining bytes before anything is allocated, so
work and memory are linear in what has really arrived.
"""

from typing import Final, final

from mypy_extensions import i64

from beforehand.encoding.varint import PLAIN, cut_short, prefixed_at
from beforehand.errors import RemoteProtocolError


@final
class Reader:
    """The bytes that a peer sent, and how far they have been read."""

    __slots__ = ("data", "peer", "position")
    data: Final[bytes]
    position: i64  # of the next byte, at most the length of the data
    peer: Final[str]

    def __init__(self, data: bytes, position: i64, peer: str) -> None:
        self.data = data
        self.position = position
        self.peer = peer

    def left(self) -> i64:
        """How many bytes have not been read."""
        return len(self.data) - self.position

    def problem(self, what: str) -> RemoteProtocolError:
        """The error for a field that ends at the current position."""
        return RemoteProtocolError(self.peer, f"before byte {self.position}: {what}")

    def byte(self) -> i64:
        """One byte."""
        if self.left() < 1:
            raise cut_short(self.peer, self.position)
        value: i64 = self.data[self.position]
        self.position += 1
        return value

    def take(self, size: i64) -> bytes:
        """That many bytes."""
        if size > self.left():
            raise self.problem(f"{size} bytes announced, {self.left()} left")
        start = self.position
        self.position = start + size
        return self.data[start : start + size]

    def varint(self) -> i64:
        """A varint."""
        value, self.position = prefixed_at(self.data, self.position, PLAIN, self.peer)
        return value

    def id(self) -> i64:
        """An id: a varint from 1 on."""
        value = self.varint()
        if value < 1:
            raise self.problem("an id of 0")
        return value

    def predecessor(self, value: i64) -> i64:
        """The predecessor of message `value`, 0 for none."""
        back = self.varint()
        if back >= value:
            raise self.problem(f"message {value} follows one that is {back} before it")
        return value - back if back else 0

    def count(self, least: i64, size: i64) -> i64:
        """The number of elements that follow: at least `least`, of at least `size` bytes each."""
        value = self.varint()
        if value < least:
            raise self.problem(f"{value} elements, not at least {least}")
        if value > self.left() // size:
            raise self.problem(f"{value} elements announced, {self.left()} bytes left")
        return value

    def payload(self) -> bytes:
        """A length and as many bytes."""
        return self.take(self.varint())

    def name(self) -> str:
        """A name."""
        size = self.byte()
        if size == 0:
            raise self.problem("an empty name")
        try:
            return self.take(size).decode("utf-8")
        except UnicodeDecodeError:
            raise self.problem("a name that is not UTF-8") from None

    def names(self, least: i64) -> tuple[str, ...]:
        """Several names, at least `least`."""
        return tuple([self.name() for _ in range(self.count(least, 2))])
