"""Frames that carry a message number, with or without a payload, as several protocols use."""

from typing import Final

from mypy_extensions import i64, mypyc_attr

from beforehand.encoding.fields import id_field
from beforehand.encoding.reader import Reader
from beforehand.encoding.varint import PLAIN, size_of
from beforehand.errors import RemoteProtocolError
from beforehand.protocols.frames import Frame, FrameKind


@mypyc_attr(allow_interpreted_subclasses=True)
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


class RelayedFrame(NumberedFrame):
    """A message of `source` that others pass on."""

    __slots__ = ("source",)
    source: Final[str]

    def __init__(self, source: str, number: i64, payload: bytes) -> None:
        super().__init__(number, payload)
        self.source = source

    def key(self) -> tuple[object, ...]:
        return (self.source, int(self.number), self.payload)

    def origin(self) -> str:
        return self.source


class ChainedFrame(NumberedFrame):
    """A message with the number of its predecessor, the one before it to the same receiver; or 0."""

    __slots__ = ("previous",)
    previous: Final[i64]

    def __init__(self, number: i64, previous: i64, payload: bytes) -> None:
        super().__init__(number, payload)
        self.previous = previous

    def key(self) -> tuple[object, ...]:
        return (int(self.number), int(self.previous), self.payload)


@mypyc_attr(allow_interpreted_subclasses=True)
class Signal(Frame):
    """A control frame that consists of the number of a message, such as an acknowledgement."""

    __slots__ = ("number",)
    number: Final[i64]

    def __init__(self, number: i64) -> None:
        self.number = number

    def key(self) -> tuple[object, ...]:
        return (int(self.number),)

    def about(self) -> i64:
        return self.number


class SignalKind(FrameKind):
    """Encodes and decodes signals: a tag and an id."""

    def encode(self, frame: Frame) -> bytes:
        assert isinstance(frame, Signal)
        return self.prefix + id_field(frame.number)

    def decode(self, tag: i64, reader: Reader) -> Frame:
        return self.frame(int(reader.id()))

    def size(self, frame: Frame) -> i64:
        assert isinstance(frame, Signal)
        return len(self.prefix) + size_of(frame.number, PLAIN)


def foreign(sender: str, frame: Frame, protocol: str) -> RemoteProtocolError:
    """The error for a frame of another protocol."""
    return RemoteProtocolError(sender, f"{type(frame).__name__} isn't a frame of {protocol}")
