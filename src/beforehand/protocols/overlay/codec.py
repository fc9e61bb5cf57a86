"""The encoding of the frames of link-memory, preventive and prc: broadcasts, and control of links.

    control:    kind, opener (name), acceptor (name), e
    broadcast:  tag, source (name), id, payload
    flood:      tag, source (name), id, control
    routed:     tag, path (names), control
    buffered:   tag, e, count, that many broadcasts and floods
    alpha:      tag, e, the route back (names)
    welcome:    tag, e, count, that many (name, number)
    leave:      tag
    the others: tag, e

`kind` is one byte: 1 beta, 2 pi, 3 rho, 4 ping. In a welcome a number is encoded as its double, plus
one if it is that of a flood.
"""

from typing import Final

from mypy_extensions import i64

from beforehand.encoding.fields import id_field, name_field, names_field, payload_field
from beforehand.encoding.reader import Reader
from beforehand.encoding.varint import ONE_BYTE, PLAIN, size_of, varint
from beforehand.errors import LocalProtocolError
from beforehand.protocols import tags
from beforehand.protocols.frames import Frame, FrameKind
from beforehand.protocols.overlay.frames import (
    BETA,
    NAMES,
    PING,
    Alpha,
    Broadcast,
    Buffered,
    Close,
    Control,
    Flood,
    Join,
    Leave,
    Linked,
    Pong,
    Refuse,
    Relayed,
    RelayedId,
    Routed,
    Welcome,
)


def _control_field(control: Control) -> bytes:
    if not BETA <= control.kind <= PING:
        raise LocalProtocolError(f"{control} cannot be sent: there is no such kind")
    ends = name_field(control.opener) + name_field(control.acceptor)
    return ONE_BYTE[control.kind] + ends + id_field(control.e)


def _control(reader: Reader) -> Control:
    kind = reader.byte()
    if not BETA <= kind <= PING:
        raise reader.problem(f"control information of kind {kind}")
    opener = reader.name()
    acceptor = reader.name()
    return Control(kind, opener, acceptor, reader.id())


class BroadcastKind(FrameKind):
    """A message; the simulator asks for its size all the time."""

    def encode(self, frame: Frame) -> bytes:
        assert isinstance(frame, Broadcast)
        head = self.prefix + name_field(frame.source) + id_field(frame.number)
        return head + payload_field(frame.payload)

    def decode(self, tag: i64, reader: Reader) -> Frame:
        source = reader.name()
        number = reader.id()
        return Broadcast(source, number, reader.payload())

    def size(self, frame: Frame) -> i64:
        assert isinstance(frame, Broadcast)
        source = frame.source
        name: i64 = len(source) if source.isascii() else len(source.encode())
        length: i64 = len(frame.payload)
        return 2 + name + size_of(frame.number, PLAIN) + size_of(length, PLAIN) + length


class FloodKind(FrameKind):
    """Control information for everybody."""

    def encode(self, frame: Frame) -> bytes:
        assert isinstance(frame, Flood)
        head = self.prefix + name_field(frame.source) + id_field(frame.number)
        return head + _control_field(frame.control)

    def decode(self, tag: i64, reader: Reader) -> Frame:
        source = reader.name()
        number = reader.id()
        return Flood(source, number, _control(reader))

    def name_of(self, frame: Frame) -> str:
        assert isinstance(frame, Flood)
        return NAMES[frame.control.kind]


class RoutedKind(FrameKind):
    """Control information on a route."""

    def encode(self, frame: Frame) -> bytes:
        assert isinstance(frame, Routed)
        return self.prefix + names_field(frame.path) + _control_field(frame.control)

    def decode(self, tag: i64, reader: Reader) -> Frame:
        path = reader.names(0)
        return Routed(path, _control(reader))

    def name_of(self, frame: Frame) -> str:
        assert isinstance(frame, Routed)
        return NAMES[frame.control.kind]


class BufferedKind(FrameKind):
    """A sequence of broadcasts and floods, each with its tag."""

    def encode(self, frame: Frame) -> bytes:
        assert isinstance(frame, Buffered)
        parts = [self.prefix, id_field(frame.e), varint(len(frame.frames))]
        for relayed in frame.frames:
            parts.append(relayed.kind().encode(relayed))
        return b"".join(parts)

    def decode(self, tag: i64, reader: Reader) -> Frame:
        e = reader.id()
        frames: list[Relayed] = []
        for _ in range(reader.count(0, LEAST_RELAYED)):
            inner = reader.byte()
            if inner == tags.BROADCAST:
                relayed = BROADCAST.decode(inner, reader)
            elif inner == tags.FLOOD:
                relayed = FLOOD.decode(inner, reader)
            else:
                raise reader.problem(f"a frame {inner:#04x} among broadcasts and floods")
            assert isinstance(relayed, Relayed)
            frames.append(relayed)
        return Buffered(e, tuple(frames))


class WelcomeKind(FrameKind):
    """The newest numbers of each source."""

    def encode(self, frame: Frame) -> bytes:
        assert isinstance(frame, Welcome)
        parts = [self.prefix, id_field(frame.e), varint(len(frame.versions))]
        for name, number in frame.versions:
            if number == 0:
                raise LocalProtocolError(f"number 0 of {name} cannot be sent: numbers start at 1")
            parts.append(name_field(name))
            parts.append(varint(2 * number if number > 0 else 1 - 2 * number))
        return b"".join(parts)

    def decode(self, tag: i64, reader: Reader) -> Frame:
        e = reader.id()
        versions: list[RelayedId] = []
        for _ in range(reader.count(0, LEAST_VERSION)):
            name = reader.name()
            doubled = reader.varint()
            if doubled < 2:
                raise reader.problem("the number 0 of a message")
            number = int(doubled >> 1)
            versions.append((name, number if doubled & 1 == 0 else -number))
        return Welcome(e, tuple(versions))


LEAST_RELAYED: Final = 5  # bytes of a broadcast: tag, name, id, length
LEAST_VERSION: Final = 3

BROADCAST: Final[FrameKind] = BroadcastKind(Broadcast, tags.BROADCAST)
FLOOD: Final[FrameKind] = FloodKind(Flood, tags.FLOOD)

FRAMES: Final[tuple[FrameKind, ...]] = (
    BROADCAST,
    FLOOD,
    RoutedKind(Routed, tags.ROUTED),
    BufferedKind(Buffered, tags.BUFFERED),
    FrameKind(Alpha, tags.ALPHA, "id names"),
    FrameKind(Linked, tags.LINKED, "id"),
    FrameKind(Pong, tags.PONG, "id"),
    FrameKind(Close, tags.CLOSE, "varint"),  # links that existed from the start have 0
    FrameKind(Refuse, tags.REFUSE, "id"),
    FrameKind(Join, tags.JOIN, "id"),
    FrameKind(Leave, tags.LEAVE),
    WelcomeKind(Welcome, tags.WELCOME),
)
