"""The link's own frames: acknowledgements, credit, fragments, path validation.

They share the body of a datagram with the frames of `beforehand.wire`; the first bytes differ.

    ACK        delay in microseconds, number of ranges, the newest packet, how many before it have
               arrived too; then for each range a gap and its length, both less one
    CREDIT     your messages delivered here; messages and bytes of them that the application consumed
    PING       eight arbitrary bytes, only to elicit an acknowledgement (as long as a CHALLENGE, so
               that validating a new address never sends more than came from there)
    FRAGMENT   number of the fragmented frame, offset, length of the whole frame, data
    CHALLENGE  eight bytes that the peer must echo in a
    RESPONSE   which proves that it can receive at its new address
    CLOSE      one byte, the reason
    PADDING    zeros up to the end of the body: datagrams of equal length share a system call
"""

from typing import Final

from mypy_extensions import i64

from beforehand.encoding.reader import Reader
from beforehand.encoding.varint import ONE_BYTE, varint

PADDING: Final = 0x00
ACK: Final = 0xC0
CREDIT: Final = 0xC1
PING: Final = 0xC2
FRAGMENT: Final = 0xC3
CHALLENGE: Final = 0xC4
RESPONSE: Final = 0xC5
CLOSE: Final = 0xC6

LEAVING: Final = 1  # the process shuts down gracefully
DROPPED: Final = 2  # the receiver of this frame was dropped: its frames are ignored

TOKEN: Final = 8  # bytes of a challenge
MAX_DELAY: Final = 10_000_000_000  # ns that an ACK can report; a longer delay is of no use
MAX_RANGES: Final = 16  # in one ACK: older gaps were reported by earlier ones

PING_FRAME: Final = ONE_BYTE[PING] + bytes(TOKEN)


def is_link_frame(tag: i64) -> bool:
    """Whether a first byte starts a frame of the link. (Hybrid messages have the bit 0x20.)"""
    return tag >= ACK and tag & 0x20 == 0


def ack_frame(ranges: list[tuple[int, int]], delay: i64) -> bytes:
    """Acknowledge ranges of packets, newest first; `delay` is nanoseconds since the newest arrived."""
    first, last = ranges[0]
    parts = [
        ONE_BYTE[ACK],
        varint(min(max(0, delay), MAX_DELAY) // 1000),
        varint(len(ranges) - 1),
        varint(last),
        varint(last - first),
    ]
    for earlier_first, earlier_last in ranges[1:]:
        parts.append(varint(first - earlier_last - 2))
        parts.append(varint(earlier_last - earlier_first))
        first = earlier_first
    return b"".join(parts)


def read_ack(reader: Reader) -> tuple[list[tuple[int, int]], i64]:
    """Read an ACK after its tag: ranges, newest first, and the delay in nanoseconds."""
    delay = reader.varint()
    more = reader.varint()
    last = reader.varint()
    first = last - reader.varint()
    if more > reader.left() or delay * 1000 > MAX_DELAY:
        raise reader.problem("a malformed acknowledgement")
    ranges: list[tuple[int, int]] = [(int(first), int(last))]
    for _ in range(more):
        last = first - reader.varint() - 2
        first = last - reader.varint()
        ranges.append((int(first), int(last)))
    if first < 0:
        raise reader.problem("an acknowledgement of negative packet numbers")
    return ranges, delay * 1000


def credit_frame(delivered: i64, consumed: i64, consumed_bytes: i64) -> bytes:
    """Report how many of the peer's messages were delivered here, and how many consumed."""
    return ONE_BYTE[CREDIT] + varint(delivered) + varint(consumed) + varint(consumed_bytes)
