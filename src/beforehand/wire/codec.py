"""From a frame to its bytes and back, whatever the protocol; the first byte determines the kind.

Each kind of frame encodes and decodes itself (`FrameKind`, registered with its protocol); here one is
chosen. Two frames of this package contain another one. They nest in one order only, so nothing is ever
deeper than this:

    Segment:  tag, seq, frame                         of a reliable link; the frame isn't a Segment
    Fenced:   tag, start, confirmed, names, frame     drops; the frame is neither of the two
"""

from typing import Final

from mypy_extensions import i64

from beforehand.encoding.fields import id_field, names_field
from beforehand.encoding.reader import Reader
from beforehand.encoding.varint import ONE_BYTE, PLAIN, cut_short, size_of, varint
from beforehand.errors import LocalProtocolError, RemoteProtocolError
from beforehand.protocols import tags
from beforehand.protocols.fence import Fenced
from beforehand.protocols.frames import BY_EXTENSION, BY_FIRST_BYTE, FIRST_EXTENSION, Frame
from beforehand.protocols.reliable import Segment

# How deep a frame may contain others.
_ANY: Final = 2
_IN_SEGMENT: Final = 1
_IN_FENCED: Final = 0

_EXTENSION: Final = FIRST_EXTENSION >> 12  # the upper half of the first byte of two-byte tags


def encode(frame: Frame) -> bytes:
    """The bytes of one frame; LocalProtocolError if it cannot be sent."""
    return _encode(frame, _ANY)


def encode_into(frame: Frame, buffer: bytearray) -> None:
    """Append the bytes of one frame; after an error the buffer is unchanged."""
    buffer += encode(frame)


def size(frame: Frame) -> i64:
    """The length of `encode(frame)`, without encoding where a frame can do without."""
    if isinstance(frame, Segment):
        return 1 + size_of(frame.seq, PLAIN) + size(frame.inner)
    if isinstance(frame, Fenced):
        return len(encode(frame))
    return frame.kind().size(frame)


def decode(data: bytes, peer: str = "") -> Frame:
    """The frame that all of the data is."""
    frame, end = decode_at(data, 0, peer)
    if end != len(data):
        raise RemoteProtocolError(peer, f"at byte {end}: {len(data) - end} bytes after a frame")
    return frame


def decode_at(data: bytes, offset: i64, peer: str = "") -> tuple[Frame, i64]:
    """The frame that starts at an offset, and the offset after it."""
    if type(data) is not bytes:  # payloads are slices of it
        raise TypeError(f"a datagram is bytes, not {type(data).__name__}; convert it with bytes()")
    if offset < 0:
        raise LocalProtocolError(f"there is no frame at offset {offset}; offsets start at 0")
    if offset >= len(data):
        raise cut_short(peer, offset)
    kind = BY_FIRST_BYTE[data[offset]]
    if kind is not None:
        return kind.decode_at(data, offset, peer)
    reader = Reader(data, offset, peer)
    frame = _decode(reader, _ANY)
    return frame, reader.position


def _encode(frame: Frame, depth: i64) -> bytes:
    if isinstance(frame, Segment):
        if depth <= _IN_SEGMENT:
            raise _misplaced(frame)
        head = ONE_BYTE[tags.SEGMENT] + id_field(frame.seq)
        return head + _encode(frame.inner, _IN_SEGMENT)
    if isinstance(frame, Fenced):
        if depth <= _IN_FENCED:
            raise _misplaced(frame)
        head = ONE_BYTE[tags.FENCED] + varint(frame.start) + varint(frame.confirmed)
        return head + names_field(frame.names) + _encode(frame.inner, _IN_FENCED)
    return frame.kind().encode(frame)


def _misplaced(frame: Frame) -> LocalProtocolError:
    name = type(frame).__name__
    return LocalProtocolError(f"{name} cannot be sent inside this frame; see {__name__}")


def _decode(reader: Reader, depth: i64) -> Frame:
    tag = reader.byte()
    kind = BY_FIRST_BYTE[tag]
    if kind is None and tag >> 4 == _EXTENSION:
        tag = tag << 8 | reader.byte()
        kind = BY_EXTENSION.get(tag)
    if kind is not None:
        return kind.decode(tag, reader)
    if tag == tags.SEGMENT and depth > _IN_SEGMENT:
        seq = reader.id()
        return Segment(seq, _decode(reader, _IN_SEGMENT))
    if tag == tags.FENCED and depth > _IN_FENCED:
        start = reader.varint()
        confirmed = reader.varint()
        names = reader.names(0)
        return Fenced(start, names, confirmed, _decode(reader, _IN_FENCED))
    if tag == tags.SEGMENT or tag == tags.FENCED:
        raise reader.problem(f"a frame {tag:#04x} inside one that must not contain it")
    raise reader.problem(f"no frame starts with {tag:#04x}")
