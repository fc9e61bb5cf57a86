"""What the two sides of a handshake tell each other about themselves, sealed by it.

    name | incarnation (8) | connection (8) | protocol | window | window in bytes | datagram

Names have a length in one byte, numbers are varints, as in `beforehand.wire`. Decoding is total and
canonical: any bytes give a greeting that encodes to the same bytes, or `RemoteProtocolError`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from beforehand.errors import LocalProtocolError, RemoteProtocolError
from beforehand.runtime.link.datagrams import CONNECTION_SIZE
from beforehand.wire.fields import name_field
from beforehand.wire.reader import Reader
from beforehand.wire.varint import MAX_VALUE, varint

INCARNATION_SIZE: Final = 8  # random: two lives of one name get the same one never
MIN_DATAGRAM: Final = 256  # below, headers and acknowledgements leave no room for anything
MAX_DATAGRAM: Final = 65_535  # what UDP can carry

MAX_GREETING: Final = 2 * 256 + INCARNATION_SIZE + CONNECTION_SIZE + 3 * 8  # bytes


@dataclass(frozen=True, slots=True)
class Greeting:
    """One side of a session."""

    name: str
    incarnation: bytes  # of the process: another one is another life
    connection: bytes  # what this side wants to see in datagrams for it
    protocol: str  # the core that it runs
    window: int  # messages that may be under way to it
    window_bytes: int  # bytes of payload that may be
    datagram: int  # the largest that it likes to receive

    def __post_init__(self) -> None:
        if problem := self._problem():
            raise LocalProtocolError(f"{problem} cannot be sent in a greeting")

    def encode(self) -> bytes:
        """The bytes of the greeting, at most `MAX_GREETING`."""
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
        """The greeting that these bytes are, all of them."""
        reader = Reader(data, 0, peer)
        greeting = cls.read(reader)
        if reader.left():
            raise reader.problem(f"{reader.left()} bytes after a greeting")
        return greeting

    @classmethod
    def read(cls, reader: Reader) -> Greeting:
        """The greeting that comes next."""
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
        """What no greeting may say, in words; names are checked where they are encoded."""
        if len(self.incarnation) != INCARNATION_SIZE:
            return f"an incarnation of {len(self.incarnation)} bytes, not {INCARNATION_SIZE},"
        if len(self.connection) != CONNECTION_SIZE:
            return f"a connection of {len(self.connection)} bytes, not {CONNECTION_SIZE},"
        if not (0 < self.window <= MAX_VALUE and 0 < self.window_bytes <= MAX_VALUE):
            return f"a window of {self.window} messages and {self.window_bytes} bytes"
        if not MIN_DATAGRAM <= self.datagram <= MAX_DATAGRAM:
            return f"a datagram of {self.datagram} bytes"
        return None
