"""The fields that frames are made of, and how they are encoded; `reader.py` decodes them.

- `varint`: an integer from 0 to `varint.MAX_VALUE`;
- `id`: a varint of at least 1;
- `predecessor`: the distance to the id just before it in the frame, 0 for none, as a varint;
- `payload`: a length as a varint, then that many bytes;
- `name`: a length in one byte, from 1 to 255, then that much UTF-8;
- `names`: a count as a varint, then that many names.

A frame that consists of such fields is declared by listing them; `encode_field` and `decode_field`
do the work. Frames that need more call the functions of the single fields.
"""

from typing import Final

from mypy_extensions import i64

from beforehand.causality.ids import check_process
from beforehand.encoding.reader import Reader
from beforehand.encoding.varint import ONE_BYTE, varint
from beforehand.errors import LocalProtocolError

FIELDS: Final = ("varint", "id", "predecessor", "payload", "name", "names")


def id_field(value: i64) -> bytes:
    """An id."""
    if value < 1:
        raise LocalProtocolError(f"{value} cannot be sent as an id: ids start at 1")
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


def encode_field(field: str, value: object, before: object) -> bytes:
    """The value of a field by the field's name; `before` is the value of the field before it."""
    if isinstance(value, int):
        if field == "id":
            return id_field(value)
        if field == "varint":
            return varint(value)
        if field == "predecessor" and isinstance(before, int):
            return predecessor_field(before, value)
    elif isinstance(value, bytes) and field == "payload":
        return payload_field(value)
    elif isinstance(value, str) and field == "name":
        return name_field(value)
    elif isinstance(value, tuple) and field == "names":
        return names_field(value)
    raise LocalProtocolError(f"{value!r} cannot be sent as the field {field!r}")


def decode_field(field: str, reader: Reader, before: object) -> object:
    """The counterpart of `encode_field`; raises RemoteProtocolError for anything not canonical."""
    if field == "id":
        return int(reader.id())
    if field == "payload":
        return reader.payload()
    if field == "name":
        return reader.name()
    if field == "names":
        return reader.names(0)
    if field == "predecessor" and isinstance(before, int):
        return int(reader.predecessor(before))
    return int(reader.varint())
