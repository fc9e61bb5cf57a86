"""The greeting: how each side of a handshake describes itself, inside the sealed payload.

    name | incarnation (8) | connection (8) | protocol | window | window in bytes | datagram

Names are prefixed by their length, numbers are varints, as in `beforehand.wire`. Decoding is total and
canonical: any bytes give a greeting that encodes to the same bytes, or `RemoteProtocolError`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from beforehand.encoding.fields import name_field
from beforehand.encoding.reader import Reader
from beforehand.encoding.varint import MAX_VALUE, varint
from beforehand.errors import LocalProtocolError, RemoteProtocolError
from beforehand.runtime.link.datagrams import CONNECTION_SIZE

INCARNATION_SIZE: Final = 8  # random: two incarnations of a name never share one
MIN_DATAGRAM: Final = 256  # smaller ones have no room for anything but headers and acks
MAX_DATAGRAM: Final = 65_535  # what UDP can carry

MAX_GREETING: Final = 2 * 256 + INCARNATION_SIZE + CONNECTION_SIZE + 3 * 8  # bytes


@dataclass(frozen=True, slots=True)
class Greeting:
    """One side of a session."""

    name: str
    incarnation: bytes  # of the process; it changes with every restart
    connection: bytes  # the connection id that datagrams to this side must carry
    protocol: str  # the name of its protocol
    window: int  # messages that may be in flight to it
    window_bytes: int  # bytes of payload that may be in flight to it
    datagram: int  # the largest datagram that it accepts

    def __post_init__(self) -> None:
        if problem := self._problem():
            raise LocalProtocolError(f"{problem} cannot be sent in a greeting")

    def encode(self) -> bytes:
        """The encoded greeting, at most `MAX_GREETING` bytes."""
        return b"".join(
            (
                name_field(self.name),
                self.incarnation,
                self.connection,
                name_field(self.protocol),
                varint(self.window),
                varint(self.window_bytes),
                varint(self.datagram),
            )
        )

    @classmethod
    def decode(cls, data: bytes, peer: str = "") -> Greeting:
        """Decode a greeting that takes up all of `data`."""
        reader = Reader(data, 0, peer)
        greeting = cls.read(reader)
        if reader.left():
            raise reader.problem(f"{reader.left()} bytes after a greeting")
        return greeting

    @classmethod
    def read(cls, reader: Reader) -> Greeting:
        """Read the greeting at the reader's position."""
        try:
            return cls(
                name=reader.name(),
                incarnation=reader.take(INCARNATION_SIZE),
                connection=reader.take(CONNECTION_SIZE),
                protocol=reader.name(),
                window=reader.varint(),
                window_bytes=reader.varint(),
                datagram=reader.varint(),
            )
        except LocalProtocolError as problem:
            raise RemoteProtocolError(reader.peer, str(problem)) from None

    def _problem(self) -> str | None:
        """What is invalid, in words; names are checked where they are encoded."""
        if len(self.incarnation) != INCARNATION_SIZE:
            return f"an incarnation of {len(self.incarnation)} bytes, not {INCARNATION_SIZE},"
        if len(self.connection) != CONNECTION_SIZE:
            return f"a connection of {len(self.connection)} bytes, not {CONNECTION_SIZE},"
        if not (0 < self.window <= MAX_VALUE and 0 < self.window_bytes <= MAX_VALUE):
            return f"a window of {self.window} messages and {self.window_bytes} bytes"
        if not MIN_DATAGRAM <= self.datagram <= MAX_DATAGRAM:
            return f"a datagram of {self.datagram} bytes"
        return None
