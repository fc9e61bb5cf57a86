"""gzip, recognised by its first bytes and not by the name of the file."""

import zlib
from typing import Final, NamedTuple

MAGIC: Final = b"\x1f\x8b"
MOST_UNPACKED: Final = 2**30  # bytes: a small file can unpack to more memory than any machine has
_GZIP: Final = 16 + zlib.MAX_WBITS


class Unpacked(NamedTuple):
    """The content of a file, as far as it could be unpacked."""

    data: bytes
    problem: str | None = None  # why the rest is missing


def unpack(content: bytes) -> Unpacked:
    """The content of a file, which may be uncompressed."""
    if not content.startswith(MAGIC):
        return Unpacked(content)
    unpacked = bytearray()
    rest = content
    while rest.startswith(MAGIC):  # concatenated files have several members
        stream = zlib.decompressobj(_GZIP)
        try:
            unpacked += stream.decompress(rest, MOST_UNPACKED - len(unpacked) + 1)
        except zlib.error as error:
            # The call loses what came before the damage: unpack again in small steps.
            unpacked += _salvaged(rest, MOST_UNPACKED - len(unpacked))
            return Unpacked(bytes(unpacked), f"the gzip data is damaged ({error}); copy it again")
        if len(unpacked) > MOST_UNPACKED:
            return Unpacked(b"", f"unpacks to more than {MOST_UNPACKED:,} bytes; split it")
        if not stream.eof:
            return Unpacked(bytes(unpacked), "the gzip data is truncated; copy the file again")
        rest = stream.unused_data
    if rest.strip(b"\0"):
        return Unpacked(bytes(unpacked), "other data follows the gzip data; remove it")
    return Unpacked(bytes(unpacked))


def _salvaged(content: bytes, most: int) -> bytes:
    stream = zlib.decompressobj(_GZIP)
    salvaged = bytearray()
    try:
        for start in range(0, len(content), 512):
            salvaged += stream.decompress(content[start : start + 512])
            if len(salvaged) > most:
                break
    except zlib.error:
        pass  # the caller reports it
    return bytes(salvaged[:most])
