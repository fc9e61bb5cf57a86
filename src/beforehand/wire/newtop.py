"""The message of `newtop`. Its null is in `signals.py`.

    tag, id, clock - id, payload

A clock counts the sender's messages and more, so it is told as what it exceeds the id by.
"""

from __future__ import annotations

from typing import Final

from beforehand.errors import LocalProtocolError
from beforehand.protocols.clocks.newtop import NewtopMessage
from beforehand.protocols.frames import Frame
from beforehand.wire import tags
from beforehand.wire.fields import id_field, payload_field
from beforehand.wire.reader import Reader
from beforehand.wire.table import Kind
from beforehand.wire.varint import MAX_VALUE, ONE_BYTE, varint


def _encode(frame: Frame) -> bytes:
    assert isinstance(frame, NewtopMessage)
    if not frame.number <= frame.clock <= MAX_VALUE:
        raise LocalProtocolError(
            f"message {frame.number} at clock {frame.clock} cannot be sent: clocks are from the "
            f"number of the message to {MAX_VALUE}"
        )
    head = ONE_BYTE[tags.NEWTOP_MESSAGE] + id_field(frame.number)
    return head + varint(frame.clock - frame.number) + payload_field(frame.payload)


def _decode(reader: Reader) -> Frame:
    number = reader.id()
    clock = number + reader.varint()
    if clock > MAX_VALUE:
        raise reader.problem(f"a clock of {clock}, which is more than {MAX_VALUE}")
    return NewtopMessage(number, clock, reader.payload())


KINDS: Final[list[Kind]] = [Kind(NewtopMessage, _encode, {tags.NEWTOP_MESSAGE: _decode})]
