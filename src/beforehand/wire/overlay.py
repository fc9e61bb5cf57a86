"""The frames of link-memory, preventive and prc: broadcasts, and the making of links.

    control:    kind, opener (name), acceptor (name), e
    broadcast:  tag, source (name), id, payload
    flood:      tag, source (name), id, control
    routed:     tag, path (names), control
    buffered:   tag, e, count, that many broadcasts and floods
    alpha:      tag, e, the route back (names)
    welcome:    tag, e, count, that many (name, number)
    leave:      tag
    the others: tag, e

`kind` is one byte: 1 beta, 2 pi, 3 rho, 4 ping. In a welcome a number is told as its double, and one
more if it is that of a flood.
"""

from __future__ import annotations

from typing import Final

from beforehand.errors import LocalProtocolError
from beforehand.protocols.frames import Frame
from beforehand.protocols.overlay.frames import (
    BETA,
    PING,
    Alpha,
    Broadcast,
    Buffered,
    Close,
    Control,
    Flood,
    Leave,
    Relayed,
    RelayedId,
    Routed,
    Welcome,
)
from beforehand.wire import tags
from beforehand.wire.fields import id_field, name_field, names_field, payload_field
from beforehand.wire.reader import Reader
from beforehand.wire.table import Kind
from beforehand.wire.varint import ONE_BYTE, varint


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


def _encode_broadcast(frame: Frame) -> bytes:
    assert isinstance(frame, Broadcast)
    head = ONE_BYTE[tags.BROADCAST] + name_field(frame.source) + id_field(frame.number)
    return head + payload_field(frame.payload)


def _decode_broadcast(reader: Reader) -> Broadcast:
    source = reader.name()
    number = reader.id()
    return Broadcast(source, number, reader.payload())


def _encode_flood(frame: Frame) -> bytes:
    assert isinstance(frame, Flood)
    head = ONE_BYTE[tags.FLOOD] + name_field(frame.source) + id_field(frame.number)
    return head + _control_field(frame.control)


def _decode_flood(reader: Reader) -> Flood:
    source = reader.name()
    number = reader.id()
    return Flood(source, number, _control(reader))


def _encode_routed(frame: Frame) -> bytes:
    assert isinstance(frame, Routed)
    return ONE_BYTE[tags.ROUTED] + names_field(frame.path) + _control_field(frame.control)


def _decode_routed(reader: Reader) -> Frame:
    path = reader.names(0)
    return Routed(path, _control(reader))


def _encode_buffered(frame: Frame) -> bytes:
    assert isinstance(frame, Buffered)
    parts = [ONE_BYTE[tags.BUFFERED], id_field(frame.e), varint(len(frame.frames))]
    for each in frame.frames:
        parts.append(
            _encode_broadcast(each) if isinstance(each, Broadcast) else _encode_flood(each)
        )
    return b"".join(parts)


def _decode_buffered(reader: Reader) -> Frame:
    e = reader.id()
    frames: list[Relayed] = []
    for _ in range(reader.count(0, LEAST_RELAYED)):
        tag = reader.byte()
        if tag == tags.BROADCAST:
            frames.append(_decode_broadcast(reader))
        elif tag == tags.FLOOD:
            frames.append(_decode_flood(reader))
        else:
            raise reader.problem(f"a frame {tag:#04x} among what was broadcast")
    return Buffered(e, tuple(frames))


def _encode_alpha(frame: Frame) -> bytes:
    assert isinstance(frame, Alpha)
    return ONE_BYTE[tags.ALPHA] + id_field(frame.e) + names_field(frame.back)


def _decode_alpha(reader: Reader) -> Frame:
    e = reader.id()
    return Alpha(e, reader.names(0))


def _encode_welcome(frame: Frame) -> bytes:
    assert isinstance(frame, Welcome)
    parts = [ONE_BYTE[tags.WELCOME], id_field(frame.e), varint(len(frame.versions))]
    for name, number in frame.versions:
        if number == 0:
            raise LocalProtocolError(f"number 0 of {name} cannot be sent: they start at 1")
        parts.append(name_field(name))
        parts.append(varint(2 * number if number > 0 else 1 - 2 * number))
    return b"".join(parts)


def _decode_welcome(reader: Reader) -> Frame:
    e = reader.id()
    versions: list[RelayedId] = []
    for _ in range(reader.count(0, LEAST_VERSION)):
        name = reader.name()
        doubled = reader.varint()
        if doubled < 2:
            raise reader.problem("the number 0 of a message")
        versions.append((name, int(doubled >> 1) if doubled & 1 == 0 else -int(doubled >> 1)))
    return Welcome(e, tuple(versions))


def _encode_leave(frame: Frame) -> bytes:
    return ONE_BYTE[tags.LEAVE]


def _decode_leave(reader: Reader) -> Frame:
    return Leave()


def _encode_close(frame: Frame) -> bytes:
    assert isinstance(frame, Close)
    return ONE_BYTE[tags.CLOSE] + varint(frame.e)  # links that were there from the start have 0


def _decode_close(reader: Reader) -> Frame:
    return Close(reader.varint())


LEAST_RELAYED: Final = 5  # bytes of a broadcast: tag, name, id, length
LEAST_VERSION: Final = 3

KINDS: Final[list[Kind]] = [
    Kind(Broadcast, _encode_broadcast, {tags.BROADCAST: _decode_broadcast}),
    Kind(Flood, _encode_flood, {tags.FLOOD: _decode_flood}),
    Kind(Routed, _encode_routed, {tags.ROUTED: _decode_routed}),
    Kind(Buffered, _encode_buffered, {tags.BUFFERED: _decode_buffered}),
    Kind(Alpha, _encode_alpha, {tags.ALPHA: _decode_alpha}),
    Kind(Welcome, _encode_welcome, {tags.WELCOME: _decode_welcome}),
    Kind(Leave, _encode_leave, {tags.LEAVE: _decode_leave}),
    Kind(Close, _encode_close, {tags.CLOSE: _decode_close}),
]
