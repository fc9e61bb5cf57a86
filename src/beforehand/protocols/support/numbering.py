"""What the frames of several protocols share: a number, with or without a payload."""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from beforehand.errors import RemoteProtocolError
from beforehand.protocols.frames import Frame


class NumberedFrame(Frame):
    """One application message: the sender's `number`-th causal-send, and its payload."""

    __slots__ = ("number", "payload")
    number: Final[i64]
    payload: Final[bytes]

    def __init__(self, number: i64, payload: bytes) -> None:
        self.number = number
        self.payload = payload

    def key(self) -> tuple[object, ...]:
        return (int(self.number), self.payload)

    def messages(self) -> int:
        return 1

    def payload_bytes(self) -> i64:
        return len(self.payload)

    def about(self) -> i64:
        return self.number


class Signal(Frame):
    """A control frame that says one thing about the message with this number."""

    __slots__ = ("number",)
    number: Final[i64]

    def __init__(self, number: i64) -> None:
        self.number = number

    def key(self) -> tuple[object, ...]:
        return (int(self.number),)

    def about(self) -> i64:
        return self.number


def foreign(sender: str, frame: Frame, protocol: str) -> RemoteProtocolError:
    """The error for a frame that is none of this protocol's."""
    return RemoteProtocolError(sender, f"{type(frame).__name__} is no frame of {protocol}")
