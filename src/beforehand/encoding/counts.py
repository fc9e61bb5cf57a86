"""Rows of counts, one varint for each process of a group. Their number is encoded elsewhere.

Most counts are small, so a row of one-byte counts is handled as a whole.
"""

from typing import Final

from mypy_extensions import i64

from beforehand.encoding.reader import Reader
from beforehand.encoding.varint import PLAIN, varint

SMALL: Final = bytes(range(PLAIN + 1))  # the counts that are encoded as themselves


def counts_field(counts: tuple[int, ...]) -> bytes:
    """The counts, one after the other."""
    try:
        raw = bytes(counts)
        if _is_small(raw):
            return raw
    except ValueError:  # a count above 255, or a negative one
        pass
    codes = {count: varint(count) for count in set(counts)}
    return b"".join(map(codes.__getitem__, counts))


def read_counts(reader: Reader, size: i64) -> tuple[int, ...]:
    """That many counts; `size` has been checked against the bytes that are left."""
    # If all of these are one-byte counts, they are the row, and otherwise its beginning.
    raw = reader.data[reader.position : reader.position + size]
    if len(raw) == size and _is_small(raw):
        reader.position += size
        return tuple(raw)
    return tuple([reader.varint() for _ in range(size)])


def _is_small(raw: bytes) -> bool:
    """Whether all bytes encode themselves."""
    return not raw.translate(None, SMALL)
