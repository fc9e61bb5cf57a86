"""From a frame to its bytes and back, whatever the protocol: the first byte tells them apart.

A hybrid message has the bit `tags.MARKER` set in its first byte. All others start with a tag. The
frames of hybrid buffering are handled here directly, for speed; the others go through a table. To add
a frame, give it a tag, write its module with `KINDS`, and name that in `_KINDS` below;
`docs/wire-format.md` wants an example of it.

Two frames contain another one. They nest in one order only, so nothing is ever deeper than this:

    Segment:  tag, seq, frame            of a reliable link; the frame is no Segment
    Fenced:   tag, start, heard, names, frame     drops; the frame is neither of the two
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from beforehand.errors import LocalProtocolError, RemoteProtocolError
from beforehand.protocols.fence import Fenced
from beforehand.protocols.frames import Frame
from beforehand.protocols.hybrid.frames import HybridAck, HybridMessage, HybridPermit
from beforehand.protocols.reliable import Segment
from beforehand.wire import ks, newtop, overlay, rst, signals, single, tags, tree, vector
from beforehand.wire.fields import id_field, names_field
from beforehand.wire.hybrid import decode_message, encode_message
from beforehand.wire.reader import Reader
from beforehand.wire.table import Decoder, Encoder, Kind
from beforehand.wire.varint import ONE_BYTE, cut_short, varint

_KINDS: Final[list[Kind]] = [
    *signals.KINDS,
    *single.KINDS,
    *rst.KINDS,
    *ks.KINDS,
    *newtop.KINDS,
    *vector.KINDS,
    *tree.KINDS,
    *overlay.KINDS,
]

_ENCODERS: Final[dict[object, Encoder]] = {kind.frame: kind.encode for kind in _KINDS}
_DECODERS: Final[dict[int, Decoder]] = {}
for _kind in _KINDS:
    _DECODERS.update(_kind.decode)

# How deep a frame may contain others.
_ANY: Final = 2
_IN_SEGMENT: Final = 1
_IN_FENCED: Final = 0


def encode(frame: Frame) -> bytes:
    """The bytes of one frame; LocalProtocolError if it cannot be told to anybody."""
    return _encode(frame, _ANY)


def encode_into(frame: Frame, buffer: bytearray) -> None:
    """Append the bytes of one frame; after an error the buffer is as it was."""
    buffer += encode(frame)


def decode(data: bytes, peer: str = "") -> Frame:
    """The frame that all of the data is."""
    frame, end = decode_at(data, 0, peer)
    if end != len(data):
        raise RemoteProtocolError(peer, f"at byte {end}: {len(data) - end} bytes after a frame")
    return frame


def decode_at(data: bytes, offset: i64, peer: str = "") -> tuple[Frame, i64]:
    """The frame that starts at an offset, and the offset after it."""
    if type(data) is not bytes:  # payloads are cut out of it
        raise TypeError(f"a datagram is bytes, not {type(data).__name__}; convert it with bytes()")
    if offset < 0:
        raise LocalProtocolError(f"there is no frame at offset {offset}; offsets start at 0")
    if offset >= len(data):
        raise cut_short(peer, offset)
    if data[offset] & tags.MARKER:
        return decode_message(data, offset, peer)
    reader = Reader(data, offset, peer)
    frame = _decode(reader, _ANY)
    return frame, reader.position


def _encode(frame: Frame, depth: i64) -> bytes:
    if isinstance(frame, HybridMessage):
        return encode_message(frame)
    if isinstance(frame, HybridAck):
        return ONE_BYTE[tags.HYBRID_ACK] + id_field(frame.upto)
    if isinstance(frame, HybridPermit):
        return ONE_BYTE[tags.HYBRID_PERMIT] + id_field(frame.upto)
    encoder = _ENCODERS.get(type(frame))
    if encoder is not None:
        return encoder(frame)
    if isinstance(frame, Segment) and depth > _IN_SEGMENT:
        head = ONE_BYTE[tags.SEGMENT] + id_field(frame.seq)
        return head + _encode(frame.inner, _IN_SEGMENT)
    if isinstance(frame, Fenced) and depth > _IN_FENCED:
        head = ONE_BYTE[tags.FENCED] + varint(frame.start) + varint(frame.heard)
        return head + names_field(frame.names) + _encode(frame.frame, _IN_FENCED)
    name = type(frame).__name__
    if isinstance(frame, (Segment, Fenced)):
        raise LocalProtocolError(f"{name} cannot be sent inside this frame; see {__name__}")
    raise LocalProtocolError(f"{name} cannot be sent: add its encoding to {__name__}")


def _decode(reader: Reader, depth: i64) -> Frame:
    start = reader.position
    tag = reader.byte()
    if tag & tags.MARKER:
        message, reader.position = decode_message(reader.data, start, reader.peer)
        return message
    if tag == tags.HYBRID_ACK:
        return HybridAck(reader.id())
    if tag == tags.HYBRID_PERMIT:
        return HybridPermit(reader.id())
    decoder = _DECODERS.get(tag)
    if decoder is not None:
        return decoder(reader)
    if tag == tags.SEGMENT and depth > _IN_SEGMENT:
        seq = reader.id()
        return Segment(seq, _decode(reader, _IN_SEGMENT))
    if tag == tags.FENCED and depth > _IN_FENCED:
        told = reader.varint()
        heard = reader.varint()
        names = reader.names(0)
        return Fenced(told, names, heard, _decode(reader, _IN_FENCED))
    if tag == tags.SEGMENT or tag == tags.FENCED:
        raise reader.problem(f"a frame {tag:#04x} inside one that must not contain it")
    raise reader.problem(f"no frame starts with {tag:#04x}")
