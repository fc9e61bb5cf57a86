"""The three frames of hybrid buffering: a run of messages, a cumulative ack, a cumulative permit.

`hybrid` and `hybrid-sps` speak the same language: they differ only in when they send what.
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from beforehand.errors import LocalProtocolError
from beforehand.protocols.frames import Frame


class HybridMessage(Frame):
    """Messages `first`, `first + 1`, ... to one receiver, all `flagged` or none.

    `prev` is the id of the last message to the same receiver before `first`, 0 if there was none.
    A flagged message needs a permit before its receiver may act on it towards others.
    """

    __slots__ = ("first", "flagged", "payloads", "prev")
    first: Final[i64]
    prev: Final[i64]
    flagged: Final[bool]
    payloads: Final[tuple[bytes, ...]]

    def __init__(self, first: i64, prev: i64, flagged: bool, payloads: tuple[bytes, ...]) -> None:
        self.first = first
        self.prev = prev
        self.flagged = flagged
        self.payloads = payloads

    def key(self) -> tuple[object, ...]:
        return (int(self.first), int(self.prev), self.flagged, self.payloads)

    def messages(self) -> int:
        return len(self.payloads)

    def payload_bytes(self) -> i64:
        total: i64 = 0
        for payload in self.payloads:
            total += len(payload)
        return total

    def payload_sizes(self) -> list[int]:
        return [len(payload) for payload in self.payloads]

    def about(self) -> i64:
        return self.first

    def split(self, count: int) -> tuple[HybridMessage, HybridMessage]:
        """The first `count` messages and the rest, for a run that does not fit a datagram."""
        if not 0 < count < len(self.payloads):
            raise LocalProtocolError(
                f"{len(self.payloads)} messages cannot be cut after {count}: each piece needs one"
            )
        middle = self.first + count
        return (
            HybridMessage(self.first, self.prev, self.flagged, self.payloads[:count]),
            HybridMessage(middle, middle - 1, self.flagged, self.payloads[count:]),
        )


class HybridAck(Frame):
    """Everything that you sent me up to id `upto` has been delivered here."""

    __slots__ = ("upto",)
    upto: Final[i64]

    def __init__(self, upto: i64) -> None:
        self.upto = upto

    def key(self) -> tuple[object, ...]:
        return (int(self.upto),)

    def about(self) -> i64:
        return self.upto


class HybridPermit(Frame):
    """You may act towards others on all that I sent you up to id `upto`."""

    __slots__ = ("upto",)
    upto: Final[i64]

    def __init__(self, upto: i64) -> None:
        self.upto = upto

    def key(self) -> tuple[object, ...]:
        return (int(self.upto),)

    def about(self) -> i64:
        return self.upto
