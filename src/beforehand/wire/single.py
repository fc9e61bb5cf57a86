"""Frames of one message and a few integers: mattern, cykas and the two controls.

    mattern, fifo   tag, id, predecessor, payload
    cykas, raw      tag, id, payload

An eager message of cykas has a tag of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from beforehand.protocols.controls import FifoMessage, RawMessage
from beforehand.protocols.frames import Frame
from beforehand.protocols.sender_side.cykas import CykasMessage
from beforehand.protocols.sender_side.mattern import MatternMessage
from beforehand.wire import tags
from beforehand.wire.fields import id_field, payload_field, predecessor_field
from beforehand.wire.reader import Reader
from beforehand.wire.table import Kind
from beforehand.wire.varint import ONE_BYTE


def _chained(tag: int, frame_class: Callable[[int, int, bytes], Frame]) -> Kind:
    """A frame with the fields id, predecessor, payload."""

    def encode(frame: Frame) -> bytes:
        number, previous, payload = frame.key()
        assert isinstance(number, int)
        assert isinstance(previous, int)
        assert isinstance(payload, bytes)
        head = ONE_BYTE[tag] + id_field(number) + predecessor_field(number, previous)
        return head + payload_field(payload)

    def decode(reader: Reader) -> Frame:
        number = reader.id()
        return frame_class(number, reader.predecessor(number), reader.payload())

    return Kind(frame_class, encode, {tag: decode})


def _encode_cykas(frame: Frame) -> bytes:
    assert isinstance(frame, CykasMessage)
    tag = tags.CYKAS_EAGER_MESSAGE if frame.eager else tags.CYKAS_MESSAGE
    return ONE_BYTE[tag] + id_field(frame.number) + payload_field(frame.payload)


def _decode_cykas(reader: Reader) -> Frame:
    return CykasMessage(reader.id(), False, reader.payload())


def _decode_eager_cykas(reader: Reader) -> Frame:
    return CykasMessage(reader.id(), True, reader.payload())


def _encode_raw(frame: Frame) -> bytes:
    assert isinstance(frame, RawMessage)
    return ONE_BYTE[tags.RAW_MESSAGE] + id_field(frame.number) + payload_field(frame.payload)


def _decode_raw(reader: Reader) -> Frame:
    return RawMessage(reader.id(), reader.payload())


KINDS: Final[list[Kind]] = [
    _chained(tags.MATTERN_MESSAGE, MatternMessage),
    _chained(tags.FIFO_MESSAGE, FifoMessage),
    Kind(
        CykasMessage,
        _encode_cykas,
        {tags.CYKAS_MESSAGE: _decode_cykas, tags.CYKAS_EAGER_MESSAGE: _decode_eager_cykas},
    ),
    Kind(RawMessage, _encode_raw, {tags.RAW_MESSAGE: _decode_raw}),
]
