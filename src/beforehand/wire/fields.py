"""The fields that frames are made of, and how they are written; `reader.py` reads them.

- an id: a varint from 1 on;
- a predecessor: how far back from the id, or 0 if there is none, as a varint;
- a payload: its length as a varint, and its bytes;
- a name: its length in one byte, from 1 to 255, and its UTF-8;
- names: their number as a varint, and each name.
"""

from __future__ import annotations

from mypy_extensions import i64

from beforehand.causality.ids import check_process
from beforehand.errors import LocalProtocolError
from beforehand.wire.varint import ONE_BYTE, varint


def id_field(value: i64) -> bytes:
    """An id."""
    if value < 1:
        raise LocalProtocolError(f"{value} cannot be sent as an id: they start at 1")
    return varint(value)


def predecessor_field(value: i64, previous: i64) -> bytes:
    """The predecessor of message `value`, 0 for none."""
    if previous < 0 or previous >= value:
        raise LocalProtocolError(f"message {value} cannot be sent with predecessor {previous}")
    return varint(value - previous if previous else 0)


def payload_field(payload: bytes) -> bytes:
    """A payload."""
    return varint(len(payload)) + payload


def name_field(name: str) -> bytes:
    """The name of a process."""
    raw = check_process(name).encode("utf-8")
    return ONE_BYTE[len(raw)] + raw


def names_field(names: tuple[str, ...]) -> bytes:
    """Several names, in their order."""
    return varint(len(names)) + b"".join([name_field(name) for name in names])
