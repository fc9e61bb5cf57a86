"""gzip, known by its first bytes and not by the name of the file."""

from __future__ import annotations

import zlib
from typing import Final, NamedTuple

MAGIC: Final = b"\x1f\x8b"
MOST_UNPACKED: Final = 2**30  # bytes: a small file can unpack to more than any machine has
_GZIP: Final = 16 + zlib.MAX_WBITS


class Unpacked(NamedTuple):
    """The content of a file, as far as it could be read."""

    data: bytes
    problem: str | None = None  # why there is not more of it


def unpack(content: bytes) -> Unpacked:
    """What is in a file; a file that is not compressed is its own content."""
    if not content.startswith(MAGIC):
        return Unpacked(content)
    found = bytearray()
    rest = content
    while rest.startswith(MAGIC):  # files put together with `cat` are several in a row
        stream = zlib.decompressobj(_GZIP)
        try:
            found += stream.decompress(rest, MOST_UNPACKED - len(found) + 1)
        except zlib.error as error:
            # All that came before the damage would be lost with the error: take small bites.
            found += _salvaged(rest, MOST_UNPACKED - len(found))
            return Unpacked(bytes(found), f"the gzip data is damaged ({error}); copy it again")
        if len(found) > MOST_UNPACKED:
            return Unpacked(b"", f"unpacks to more than {MOST_UNPACKED:,} bytes; split it")
        if not stream.eof:
            return Unpacked(bytes(found), "the gzip data is cut off; copy the file again")
        rest = stream.unused_data
    if rest.strip(b"\0"):
        return Unpacked(bytes(found), "there is something else behind the gzip data; remove it")
    return Unpacked(bytes(found))


def _salvaged(content: bytes, most: int) -> bytes:
    stream = zlib.decompressobj(_GZIP)
    found = bytearray()
    try:
        for start in range(0, len(content), 512):
            found += stream.decompress(content[start : start + 512])
            if len(found) > most:
                break
    except zlib.error:
        pass  # the caller says so
    return bytes(found[:most])
