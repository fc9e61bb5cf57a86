"""What the application gets: one object per message, compiled, since there are millions of them."""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from beforehand.causality.ids import MessageId


class Message:
    """A message of `sender`: its `number`-th causal-send, with the payload that it was given."""

    __slots__ = ("number", "origin", "payload", "sender")
    sender: Final[str]
    number: Final[i64]
    payload: Final[bytes]
    origin: Final[object]  # whom the engine credits when the application takes the message

    def __init__(self, sender: str, number: i64, payload: bytes, origin: object = None) -> None:
        self.sender = sender
        self.number = number
        self.payload = payload
        self.origin = origin

    @property
    def id(self) -> MessageId:
        """The name of the message: who sent it and the how many-th it was."""
        return MessageId(self.sender, int(self.number))

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
