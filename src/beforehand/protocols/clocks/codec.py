"""The encoding of the messages of `rst`, `vector` and `newtop`; `ks_codec.py` has those of `ks`.

    rst:     tag, id, receivers (names), n, n * n counts row by row, payload
    vector:  tag, id, n, n counts, payload
    newtop:  tag, id, clock - id, payload

Matrices are dense, as the protocol means them. Most counts are small and most rows of a large group
are all zeros, so a row of zeros is handled as a whole. The id of a `vector` message is also the
sender's own count, but only a member of the group knows which of the counts that is. A clock of
`newtop` counts the sender's messages and more, so its excess over the id is encoded.
"""

from typing import Final

from mypy_extensions import i64

from beforehand.encoding.counts import counts_field, read_counts
from beforehand.encoding.fields import id_field, names_field, payload_field
from beforehand.encoding.reader import Reader
from beforehand.encoding.varint import MAX_VALUE, varint
from beforehand.errors import LocalProtocolError
from beforehand.protocols import tags
from beforehand.protocols.clocks.newtop import NewtopMessage, NewtopNull
from beforehand.protocols.clocks.rst import Matrix, Row, RstMessage
from beforehand.protocols.clocks.vector import VectorMessage
from beforehand.protocols.frames import Frame, FrameKind


class RstMessageKind(FrameKind):
    """A message with its matrix of n rows of n counts."""

    def encode(self, frame: Frame) -> bytes:
        assert isinstance(frame, RstMessage)
        if not frame.receivers or not frame.matrix:
            raise LocalProtocolError("an rst message without receivers or matrix cannot be sent")
        parts = [self.prefix, id_field(frame.number), names_field(frame.receivers)]
        parts.append(varint(len(frame.matrix)))
        _add_matrix(parts, frame.matrix)
        parts.append(payload_field(frame.payload))
        return b"".join(parts)

    def decode(self, tag: i64, reader: Reader) -> Frame:
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


class VectorMessageKind(FrameKind):
    """A message with its clock of n counts."""

    def encode(self, frame: Frame) -> bytes:
        assert isinstance(frame, VectorMessage)
        if not frame.clock:
            raise LocalProtocolError("a vector message without a clock cannot be sent")
        head = self.prefix + id_field(frame.number) + varint(len(frame.clock))
        return head + counts_field(frame.clock) + payload_field(frame.payload)

    def decode(self, tag: i64, reader: Reader) -> Frame:
        number = reader.id()
        clock = read_counts(reader, reader.count(1, 1))
        return VectorMessage(number, clock, reader.payload())


class NewtopMessageKind(FrameKind):
    """A message with its Lamport clock."""

    def encode(self, frame: Frame) -> bytes:
        assert isinstance(frame, NewtopMessage)
        if not frame.number <= frame.clock <= MAX_VALUE:
            raise LocalProtocolError(
                f"message {frame.number} at clock {frame.clock} cannot be sent: clocks are from the "
                f"number of the message to {MAX_VALUE}"
            )
        head = self.prefix + id_field(frame.number)
        return head + varint(frame.clock - frame.number) + payload_field(frame.payload)

    def decode(self, tag: i64, reader: Reader) -> Frame:
        number = reader.id()
        clock = number + reader.varint()
        if clock > MAX_VALUE:
            raise reader.problem(f"a clock of {clock}, which is more than {MAX_VALUE}")
        return NewtopMessage(number, clock, reader.payload())


RST_FRAMES: Final[tuple[FrameKind, ...]] = (RstMessageKind(RstMessage, tags.RST_MESSAGE),)
VECTOR_FRAMES: Final[tuple[FrameKind, ...]] = (
    VectorMessageKind(VectorMessage, tags.VECTOR_MESSAGE),
)
NEWTOP_FRAMES: Final[tuple[FrameKind, ...]] = (
    NewtopMessageKind(NewtopMessage, tags.NEWTOP_MESSAGE),
    FrameKind(NewtopNull, tags.NEWTOP_NULL, "id"),
)
