"""Frames that only say how far something has got: a tag and an id. Those of hybrid: `codec.py`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from beforehand.protocols.clocks.newtop import NewtopNull
from beforehand.protocols.controls import FifoAck
from beforehand.protocols.frames import Frame
from beforehand.protocols.overlay.frames import Join, Linked, Pong, Refuse
from beforehand.protocols.reliable import SegmentAck
from beforehand.protocols.sender_side.cykas import CykasAck, CykasYouCanTell
from beforehand.protocols.sender_side.mattern import MatternAck
from beforehand.wire import tags
from beforehand.wire.fields import id_field
from beforehand.wire.reader import Reader
from beforehand.wire.table import Kind
from beforehand.wire.varint import ONE_BYTE


def _signal(tag: int, frame_class: Callable[[int], Frame]) -> Kind:
    """A frame whose only field is an id."""

    def encode(frame: Frame) -> bytes:
        (upto,) = frame.key()
        assert isinstance(upto, int)
        return ONE_BYTE[tag] + id_field(upto)

    def decode(reader: Reader) -> Frame:
        return frame_class(reader.id())

    return Kind(frame_class, encode, {tag: decode})


KINDS: Final[list[Kind]] = [
    _signal(tags.SEGMENT_ACK, SegmentAck),
    _signal(tags.MATTERN_ACK, MatternAck),
    _signal(tags.CYKAS_ACK, CykasAck),
    _signal(tags.CYKAS_YOU_CAN_TELL, CykasYouCanTell),
    _signal(tags.FIFO_ACK, FifoAck),
    _signal(tags.LINKED, Linked),
    _signal(tags.PONG, Pong),
    _signal(tags.REFUSE, Refuse),
    _signal(tags.JOIN, Join),
    _signal(tags.NEWTOP_NULL, NewtopNull),
]
