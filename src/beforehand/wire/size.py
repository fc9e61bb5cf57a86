"""How many bytes a frame takes on the wire, without writing them where that can be avoided.

A simulator asks this for every frame, so the frames that are sent all the time are counted field by
field. `tests/wire/test_size.py` holds it against the bytes themselves.
"""

from __future__ import annotations

from mypy_extensions import i64

from beforehand.protocols.frames import Frame
from beforehand.protocols.hybrid.frames import HybridAck, HybridMessage, HybridPermit
from beforehand.protocols.overlay.frames import Broadcast
from beforehand.protocols.reliable import Segment, SegmentAck
from beforehand.protocols.support.numbering import Signal
from beforehand.wire.codec import encode
from beforehand.wire.hybrid import DISTANCE, ID
from beforehand.wire.varint import PLAIN, size_of


def size(frame: Frame) -> i64:
    """The length of `encode(frame)`, for a frame that can be sent."""
    if isinstance(frame, HybridMessage):
        return _hybrid_message(frame)
    if isinstance(frame, HybridAck):
        return 1 + size_of(frame.upto, PLAIN)
    if isinstance(frame, HybridPermit):
        return 1 + size_of(frame.upto, PLAIN)
    if isinstance(frame, Broadcast):
        return _broadcast(frame)
    if isinstance(frame, Signal):
        return 1 + size_of(frame.number, PLAIN)
    if isinstance(frame, Segment):
        return 1 + size_of(frame.seq, PLAIN) + size(frame.inner)
    if isinstance(frame, SegmentAck):
        return 1 + size_of(frame.seq, PLAIN)
    return len(encode(frame))


def _hybrid_message(frame: HybridMessage) -> i64:
    distance = frame.first - frame.prev if frame.prev else 0
    total = size_of(frame.first, ID) + size_of(distance, DISTANCE)
    for payload in frame.payloads:
        length: i64 = len(payload)
        total += size_of(length, PLAIN) + length
    count: i64 = len(frame.payloads)
    return total if count == 1 else total + size_of(count, PLAIN)


def _broadcast(frame: Broadcast) -> i64:
    source = frame.source
    name: i64 = len(source) if source.isascii() else len(source.encode())
    length: i64 = len(frame.payload)
    return 2 + name + size_of(frame.number, PLAIN) + size_of(length, PLAIN) + length
