"""What two links say to each other about themselves: the frames beside those of the cores.

They share the body of a datagram with the frames of `beforehand.wire`, whose first bytes are others.

    ACK        delay in microseconds, number of ranges, the newest packet, how many before it have
               arrived too; then for each range a gap and its length, both less one
    CREDIT     messages of yours delivered here, messages and bytes of them that the application took
    PING       eight bytes that mean nothing: only to be acknowledged. (So that a CHALLENGE to a new
               address is never longer than what came from there.)
    FRAGMENT   number of the cut frame, where this piece begins, length of the whole, the piece
    CHALLENGE  eight bytes that come back in a
    RESPONSE   which shows that the sender of the response can receive at its new address
    CLOSE      one byte, why
    PADDING    zeros up to the end of the body: datagrams of one length travel in one system call
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from beforehand.wire.reader import Reader
from beforehand.wire.varint import ONE_BYTE, varint

PADDING: Final = 0x00
ACK: Final = 0xC0
CREDIT: Final = 0xC1
PING: Final = 0xC2
FRAGMENT: Final = 0xC3
CHALLENGE: Final = 0xC4
RESPONSE: Final = 0xC5
CLOSE: Final = 0xC6

LEAVING: Final = 1  # the process ends, by its own will
DROPPED: Final = 2  # the other side was dropped: nothing of it is heard any more

TOKEN: Final = 8  # bytes of a challenge
LONGEST_DELAY: Final = (
    10_000_000_000  # ns that an ACK tells: beyond, nobody learns anything from it
)
MOST_RANGES: Final = 16  # in one ACK: older gaps have been told in earlier ones

PING_FRAME: Final = ONE_BYTE[PING] + bytes(TOKEN)


def ack_frame(ranges: list[tuple[int, int]], delay: i64) -> bytes:
    """Which packets have arrived, newest range first; `delay` in nanoseconds since the newest did."""
    first, last = ranges[0]
    parts = [
        ONE_BYTE[ACK],
        varint(min(max(0, delay), LONGEST_DELAY) // 1000),
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
    """What `ack_frame` wrote, after its tag: ranges, newest first, and the delay in nanoseconds."""
    delay = reader.varint()
    more = reader.varint()
    last = reader.varint()
    first = last - reader.varint()
    if more > reader.left() or delay * 1000 > LONGEST_DELAY:
        raise reader.problem("an acknowledgement that makes no sense")
    ranges: list[tuple[int, int]] = [(int(first), int(last))]
    for _ in range(more):
        last = first - reader.varint() - 2
        first = last - reader.varint()
        ranges.append((int(first), int(last)))
    if first < 0:
        raise reader.problem("an acknowledgement of packets before the first")
    return ranges, delay * 1000


def credit_frame(delivered: i64, taken: i64, taken_bytes: i64) -> bytes:
    """How many of your messages were delivered here, and how much of them the application took."""
    return ONE_BYTE[CREDIT] + varint(delivered) + varint(taken) + varint(taken_bytes)
