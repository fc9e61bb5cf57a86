"""The message of `rst`, with its matrix of n rows of n counts.

    tag, id, receivers (names), n, n * n varints row by row, payload

Dense, as the protocol means it; n is told once. Most counts are small and most rows of a large
group are all zeros, so a row of zeros is handled as a whole.
"""

from __future__ import annotations

from typing import Final

from beforehand.errors import LocalProtocolError
from beforehand.protocols.clocks.rst import Matrix, Row, RstMessage
from beforehand.protocols.frames import Frame
from beforehand.wire import tags
from beforehand.wire.counts import counts_field, read_counts
from beforehand.wire.fields import id_field, names_field, payload_field
from beforehand.wire.reader import Reader
from beforehand.wire.table import Kind
from beforehand.wire.varint import ONE_BYTE, varint


def _encode(frame: Frame) -> bytes:
    assert isinstance(frame, RstMessage)
    if not frame.receivers or not frame.matrix:
        raise LocalProtocolError("an rst message without receivers or matrix cannot be sent")
    parts = [ONE_BYTE[tags.RST_MESSAGE], id_field(frame.number), names_field(frame.receivers)]
    parts.append(varint(len(frame.matrix)))
    _add_matrix(parts, frame.matrix)
    parts.append(payload_field(frame.payload))
    return b"".join(parts)


def _add_matrix(parts: list[bytes], matrix: Matrix) -> None:
    size = len(matrix)
    known: dict[int, bytes] = {}  # by identity: unknown rows are all the same object
    for row in matrix:
        encoded = known.get(id(row))
        if encoded is None:
            if len(row) != size:
                raise LocalProtocolError(
                    f"a matrix with {size} rows, one of which has {len(row)} columns, cannot be sent"
                )
            encoded = counts_field(row)
            known[id(row)] = encoded
        parts.append(encoded)


def _decode(reader: Reader) -> Frame:
    number = reader.id()
    receivers = reader.names(1)
    size = reader.count(1, 1)
    if size > reader.left() // size:
        raise reader.problem(f"{size} rows of {size} announced, {reader.left()} bytes left")
    zeros = bytes(size)
    zero_row = (0,) * size
    rows: list[Row] = []
    for _ in range(size):
        if reader.data.startswith(zeros, reader.position):
            rows.append(zero_row)
            reader.position += size
        else:
            rows.append(read_counts(reader, size))
    return RstMessage(number, receivers, tuple(rows), reader.payload())


KINDS: Final[list[Kind]] = [Kind(RstMessage, _encode, {tags.RST_MESSAGE: _decode})]
