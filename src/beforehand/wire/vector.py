"""The message of `vector`, with its clock of n counts.

    tag, id, n, n varints, payload

The id is also the sender's own count. It is told twice because only who knows the group knows which
of the counts that is.
"""

from __future__ import annotations

from typing import Final

from beforehand.errors import LocalProtocolError
from beforehand.protocols.clocks.vector import VectorMessage
from beforehand.protocols.frames import Frame
from beforehand.wire import tags
from beforehand.wire.counts import counts_field, read_counts
from beforehand.wire.fields import id_field, payload_field
from beforehand.wire.reader import Reader
from beforehand.wire.table import Kind
from beforehand.wire.varint import ONE_BYTE, varint


def _encode(frame: Frame) -> bytes:
    assert isinstance(frame, VectorMessage)
    if not frame.clock:
        raise LocalProtocolError("a vector message without a clock cannot be sent")
    head = ONE_BYTE[tags.VECTOR_MESSAGE] + id_field(frame.number) + varint(len(frame.clock))
    return head + counts_field(frame.clock) + payload_field(frame.payload)


def _decode(reader: Reader) -> Frame:
    number = reader.id()
    clock = read_counts(reader, reader.count(1, 1))
    return VectorMessage(number, clock, reader.payload())


KINDS: Final[list[Kind]] = [Kind(VectorMessage, _encode, {tags.VECTOR_MESSAGE: _decode})]
