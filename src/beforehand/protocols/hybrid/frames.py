"""The three frames of hybrid buffering: a run of messages, a cumulative ack, a cumulative permit.

`hybrid` and `hybrid-sps` use the same frames; they differ only in when they send which.

The message has to be small and fast. It is two varints with flags, the payload's length, and the
payload. At ids below 2**28 that is at most 8 bytes and the length, whatever the number of processes.

    LL 1 F iiii [1, 3 or 7 bytes]   the id of the (first) message: LL its length, F flagged
    LL R ddddd  [1, 3 or 7 bytes]   how many ids back its predecessor is, 0 for none: R a run
    R = 0:  length, payload
    R = 1:  the payloads of a run (`payload_runs.py`)
"""

from typing import Final

from mypy_extensions import i64

from beforehand.encoding.fields import id_field
from beforehand.encoding.payload_runs import decode_run, encode_run, too_long
from beforehand.encoding.reader import Reader
from beforehand.encoding.varint import (
    MAX_VALUE,
    PLAIN,
    number,
    prefixed,
    prefixed_at,
    size_of,
    varint,
)
from beforehand.errors import LocalProtocolError, RemoteProtocolError
from beforehand.protocols import tags
from beforehand.protocols.frames import Frame, FrameKind


class HybridMessage(Frame):
    """Messages `first`, `first + 1`, ... to one receiver, all `flagged` or none.

    `prev` is the id of the last message to the same receiver before `first`, 0 if there was none.
    A flagged message needs a permit before its receiver may act on it towards others.
    """

    __slots__ = ("first", "flagged", "payloads", "prev")
    first: Final[i64]
    prev: Final[i64]
    flagged: Final[bool]
    payloads: Final[tuple[bytes, ...]]

    def __init__(self, first: i64, prev: i64, flagged: bool, payloads: tuple[bytes, ...]) -> None:
        self.first = first
        self.prev = prev
        self.flagged = flagged
        self.payloads = payloads

    def key(self) -> tuple[object, ...]:
        return (int(self.first), int(self.prev), self.flagged, self.payloads)

    def messages(self) -> int:
        return len(self.payloads)

    def payload_bytes(self) -> i64:
        total: i64 = 0
        for payload in self.payloads:
            total += len(payload)
        return total

    def payload_sizes(self) -> list[int]:
        return [len(payload) for payload in self.payloads]

    def about(self) -> i64:
        return self.first

    def restriction(self) -> str:
        return "needs permit" if self.flagged else ""

    def kind(self) -> FrameKind:
        return HYBRID_MESSAGE

    def split_to_fit(self, room: i64) -> list[Frame]:
        """Shorter runs that fit, or single messages where one alone doesn't."""
        payloads = self.payloads
        count: i64 = len(payloads)
        room -= RUN_HEAD
        pieces: list[Frame] = []
        start: i64 = 0
        prev = self.prev
        while start < count:
            stop = _end_of_piece(payloads, start, count, room)
            if stop - start == count:
                return [self]
            pieces.append(
                HybridMessage(self.first + start, prev, self.flagged, payloads[start:stop])
            )
            prev = self.first + stop - 1
            start = stop
        return pieces


class HybridSignal(Frame):
    """A cumulative control frame, about all messages up to id `upto`."""

    __slots__ = ("upto",)
    upto: Final[i64]

    def __init__(self, upto: i64) -> None:
        self.upto = upto

    def key(self) -> tuple[object, ...]:
        return (int(self.upto),)

    def about(self) -> i64:
        return self.upto


class HybridAck(HybridSignal):
    """Everything that you sent me up to id `upto` has been delivered here."""

    def deferrable(self) -> bool:
        return True

    def kind(self) -> FrameKind:
        return HYBRID_ACK


class HybridPermit(HybridSignal):
    """You may act towards others on all that I sent you up to id `upto`."""

    def kind(self) -> FrameKind:
        return HYBRID_PERMIT


def _end_of_piece(payloads: tuple[bytes, ...], start: i64, count: i64, room: i64) -> i64:
    """Where the piece that begins at `start` ends: it has one payload, or fits into `room` bytes."""
    length: i64 = len(payloads[start])
    size = length + size_of(length, PLAIN)
    stop = start + 1
    while stop < count:
        length = len(payloads[stop])
        size += length + size_of(length, PLAIN)
        if size > room:
            break
        stop += 1
    return stop


RUN_HEAD: Final = 24  # bytes of a run in addition to lengths and payloads, at most

FLAGGED: Final = 0x10  # in the first byte of the id
ID: Final = 0x0F  # the bits of the id there
RUN: Final = 0x20  # in the first byte of the distance
DISTANCE: Final = 0x1F  # the bits of the distance there

MACHINE_WORD: Final = 7  # bytes that an i64 holds whatever their value


class HybridMessageKind(FrameKind):
    """Encodes and decodes runs of messages, and single ones."""

    def encode(self, frame: Frame) -> bytes:
        assert isinstance(frame, HybridMessage)
        first = frame.first
        count: i64 = len(frame.payloads)
        if not (0 <= frame.prev < first <= MAX_VALUE - count + 1) or count == 0:
            raise LocalProtocolError(
                f"message {first} after {frame.prev} with {count} payloads cannot be sent; ids are "
                f"from 1 to {MAX_VALUE}, the predecessor is older, and there is at least one payload"
            )
        flags: i64 = tags.MARKER | FLAGGED if frame.flagged else tags.MARKER
        distance = first - frame.prev if frame.prev else 0
        if count > 1:
            start = prefixed(first, ID, flags) + prefixed(distance, DISTANCE, RUN)
            return start + encode_run(frame.payloads)
        payload = frame.payloads[0]
        length: i64 = len(payload)
        size_1 = size_of(first, ID)
        size_2 = size_of(distance, DISTANCE)
        size_3 = size_of(length, PLAIN)
        if size_1 + size_2 + size_3 > MACHINE_WORD:
            start = prefixed(first, ID, flags) + prefixed(distance, DISTANCE, 0)
            return start + varint(length) + payload
        packed = number(first, size_1, flags)
        packed = packed << 8 * size_2 | number(distance, size_2, 0)
        head: int = packed << 8 * size_3 | number(length, size_3, 0)
        return head.to_bytes(size_1 + size_2 + size_3, "big") + payload

    def decode(self, tag: i64, reader: Reader) -> Frame:
        message, reader.position = self.decode_at(reader.data, reader.position - 1, reader.peer)
        return message

    def decode_at(self, data: bytes, offset: i64, peer: str) -> tuple[Frame, i64]:
        first, at = prefixed_at(data, offset, ID, peer)
        second = at
        distance, at = prefixed_at(data, at, DISTANCE, peer)
        if distance >= first:
            raise RemoteProtocolError(
                peer, f"at byte {offset}: message {first} follows one that is {distance} before it"
            )
        prev = first - distance if distance else 0
        flagged = data[offset] & FLAGGED != 0
        if data[second] & RUN:
            payloads, at = decode_run(data, at, peer)
            if len(payloads) > MAX_VALUE - first + 1:
                raise RemoteProtocolError(
                    peer,
                    f"at byte {offset}: {len(payloads)} messages from {first} on exceed all ids",
                )
            return HybridMessage(first, prev, flagged, payloads), at
        length, at = prefixed_at(data, at, PLAIN, peer)
        end = at + length
        if end > len(data):
            raise too_long(peer, at, length, len(data) - at)
        return HybridMessage(first, prev, flagged, (data[at:end],)), end

    def size(self, frame: Frame) -> i64:
        assert isinstance(frame, HybridMessage)
        distance = frame.first - frame.prev if frame.prev else 0
        total = size_of(frame.first, ID) + size_of(distance, DISTANCE)
        for payload in frame.payloads:
            length: i64 = len(payload)
            total += size_of(length, PLAIN) + length
        count: i64 = len(frame.payloads)
        return total if count == 1 else total + size_of(count, PLAIN)


class HybridSignalKind(FrameKind):
    """Encodes and decodes acks and permits: a tag and an id."""

    def encode(self, frame: Frame) -> bytes:
        assert isinstance(frame, HybridSignal)
        return self.prefix + id_field(frame.upto)

    def decode(self, tag: i64, reader: Reader) -> Frame:
        upto = reader.id()
        return HybridAck(upto) if tag == tags.HYBRID_ACK else HybridPermit(upto)

    def size(self, frame: Frame) -> i64:
        assert isinstance(frame, HybridSignal)
        return 1 + size_of(frame.upto, PLAIN)


HYBRID_MESSAGE: Final[FrameKind] = HybridMessageKind(
    HybridMessage, tuple([first for first in range(256) if first & tags.MARKER])
)
HYBRID_ACK: Final[FrameKind] = HybridSignalKind(HybridAck, tags.HYBRID_ACK, acknowledges=True)
HYBRID_PERMIT: Final[FrameKind] = HybridSignalKind(HybridPermit, tags.HYBRID_PERMIT, permits=True)
