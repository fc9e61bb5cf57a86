"""Integers on the wire: 1, 2, 4 or 8 bytes, big-endian, whose length is in the top two bits.

    00 = 1 byte    01 = 2 bytes    10 = 4 bytes    11 = 8 bytes

In a plain varint all other bits are the value: 6, 14, 30 or 62 of them. Some fields use one or two
more bits of the first byte as flags. `mask` has the bits of the first byte that belong to the value,
whatever the length.

Each value has one encoding, the shortest. No value exceeds `MAX_VALUE`.
"""

from typing import Final

from mypy_extensions import i64

from beforehand.errors import LocalProtocolError, RemoteProtocolError

MAX_VALUE: Final = 2**60 - 1  # what is left of 8 bytes in the id of a hybrid message
PLAIN: Final = 0x3F  # the mask of a plain varint

ONE_BYTE: Final = tuple([bytes([value]) for value in range(256)])


def varint(value: i64) -> bytes:
    """A plain varint."""
    if 0 <= value <= PLAIN:
        return ONE_BYTE[value]
    return prefixed(value, PLAIN, 0)


def prefixed(value: i64, mask: i64, flags: i64) -> bytes:
    """A varint of which the first byte has some flags, outside of `mask`."""
    if value < 0 or value > MAX_VALUE:
        raise LocalProtocolError(
            f"{value} cannot be sent: integers on the wire are from 0 to {MAX_VALUE}"
        )
    size = size_of(value, mask)
    if size < 8:
        whole: int = number(value, size, flags)
        return whole.to_bytes(size, "big")
    low: int = value & 0xFF_FFFF_FFFF_FFFF
    return ONE_BYTE[0xC0 | flags | (value >> 56)] + low.to_bytes(7, "big")


def size_of(value: i64, mask: i64) -> i64:
    """How many bytes the shortest encoding takes."""
    if value <= mask:
        return 1
    if value >> 8 <= mask:
        return 2
    if value >> 24 <= mask:
        return 4
    return 8


def number(value: i64, size: i64, flags: i64) -> i64:
    """The 1, 2 or 4 bytes of an encoding, as one number."""
    if size == 1:
        return flags | value
    if size == 2:
        return (0x40 | flags) << 8 | value
    return (0x80 | flags) << 24 | value


def prefixed_at(data: bytes, at: i64, mask: i64, peer: str) -> tuple[i64, i64]:
    """The value that starts at a position, and the position after it; flags are left out."""
    left = len(data) - at
    if left < 1:
        raise cut_short(peer, at)
    head: i64 = data[at]
    value = head & mask
    if head < 0x40:
        return value, at + 1
    # The values of half the length have `mask` or less in front of what the other half adds.
    if head < 0x80:
        if left < 2:
            raise cut_short(peer, at)
        value = value << 8 | data[at + 1]
        if value <= mask:
            raise not_shortest(peer, at)
        return value, at + 2
    if head < 0xC0:
        if left < 4:
            raise cut_short(peer, at)
        value = value << 24 | data[at + 1] << 16 | data[at + 2] << 8 | data[at + 3]
        if value >> 8 <= mask:
            raise not_shortest(peer, at)
        return value, at + 4
    if left < 8:
        raise cut_short(peer, at)
    for position in range(at + 1, at + 8):
        value = value << 8 | data[position]
    if value >> 24 <= mask:
        raise not_shortest(peer, at)
    if value > MAX_VALUE:
        raise RemoteProtocolError(peer, f"at byte {at}: {value} is more than {MAX_VALUE}")
    return value, at + 8


def cut_short(peer: str, at: i64) -> RemoteProtocolError:
    """The error for a field whose end is missing."""
    return RemoteProtocolError(peer, f"at byte {at}: the bytes end inside a frame")


def not_shortest(peer: str, at: i64) -> RemoteProtocolError:
    """The error for an integer in more bytes than it needs."""
    return RemoteProtocolError(peer, f"at byte {at}: an integer longer than its value needs")
