"""The messages of hybrid buffering: the frames that have to be small and fast.

A message is two varints with flags, the payload's length, and the payload. At ids below 2**28 this is
at most 8 bytes and the length, whatever the number of processes.

    LL 1 F iiii [1, 3 or 7 bytes]   the id of the (first) message: LL its length, F flagged
    LL R ddddd  [1, 3 or 7 bytes]   how many ids back its predecessor is, 0 for none: R a run
    R = 0:  length, payload
    R = 1:  count, count lengths, count payloads one after the other; count is at least 2

The lengths of a run come first because they are mostly all the same: then both sides handle them
at once, and the payloads are joined and cut without looking at each.
"""

from __future__ import annotations

from struct import Struct
from typing import Final

from mypy_extensions import i64

from beforehand.errors import LocalProtocolError, RemoteProtocolError
from beforehand.protocols.hybrid.frames import HybridMessage
from beforehand.wire.tags import MARKER
from beforehand.wire.varint import (
    MAX_VALUE,
    PLAIN,
    number,
    prefixed,
    prefixed_at,
    size_of,
    varint,
)

FLAGGED: Final = 0x10  # in the first byte of the id
ID: Final = 0x0F  # the bits of the id there
RUN: Final = 0x20  # in the first byte of the distance
DISTANCE: Final = 0x1F  # the bits of the distance there

SHORT: Final = 7  # bytes that fit an integer of the machine

# How to cut runs, by the length and number of payloads. A description takes 16 bytes per payload, and
# peers say which ones there are: hence few, and none for long runs.
_CUTTERS: Final[dict[tuple[int, int], Struct]] = {}
MOST_CUTTERS: Final = 64
LONGEST_CUT: Final = 4096  # payloads


def encode_message(frame: HybridMessage) -> bytes:
    """A run of messages, or a single one."""
    first = frame.first
    count: i64 = len(frame.payloads)
    if not (0 <= frame.prev < first <= MAX_VALUE - count + 1) or count == 0:
        raise LocalProtocolError(
            f"message {first} after {frame.prev} with {count} payloads cannot be sent; ids are from "
            f"1 to {MAX_VALUE}, the predecessor is older, and there is at least one payload"
        )
    flags: i64 = MARKER | FLAGGED if frame.flagged else MARKER
    distance = first - frame.prev if frame.prev else 0
    if count > 1:
        start = prefixed(first, ID, flags) + prefixed(distance, DISTANCE, RUN)
        return start + encode_run(frame.payloads)
    payload = frame.payloads[0]
    length: i64 = len(payload)
    size_1 = size_of(first, ID)
    size_2 = size_of(distance, DISTANCE)
    size_3 = size_of(length, PLAIN)
    if size_1 + size_2 + size_3 > SHORT:
        start = prefixed(first, ID, flags) + prefixed(distance, DISTANCE, 0)
        return start + varint(length) + payload
    packed = number(first, size_1, flags)
    packed = packed << 8 * size_2 | number(distance, size_2, 0)
    head: int = packed << 8 * size_3 | number(length, size_3, 0)
    return head.to_bytes(size_1 + size_2 + size_3, "big") + payload


def encode_run(payloads: tuple[bytes, ...]) -> bytes:
    """The count, the lengths and the payloads of a run."""
    count = len(payloads)
    length = len(payloads[0])
    for payload in payloads:
        if len(payload) != length:
            lengths = b"".join([varint(len(each)) for each in payloads])
            break
    else:
        lengths = varint(length) * count
    return varint(count) + lengths + b"".join(payloads)


def decode_message(data: bytes, start: i64, peer: str) -> tuple[HybridMessage, i64]:
    """The message or run that starts at a position, and the position after it."""
    first, at = prefixed_at(data, start, ID, peer)
    second = at
    distance, at = prefixed_at(data, at, DISTANCE, peer)
    if distance >= first:
        raise RemoteProtocolError(
            peer, f"at byte {start}: message {first} follows one that is {distance} before it"
        )
    prev = first - distance if distance else 0
    flagged = data[start] & FLAGGED != 0
    if data[second] & RUN:
        payloads, at = decode_run(data, at, peer)
        if len(payloads) > MAX_VALUE - first + 1:
            raise RemoteProtocolError(
                peer, f"at byte {start}: {len(payloads)} messages from {first} on exceed all ids"
            )
        return HybridMessage(first, prev, flagged, payloads), at
    length, at = prefixed_at(data, at, PLAIN, peer)
    end = at + length
    if end > len(data):
        raise _too_long(peer, at, length, len(data) - at)
    return HybridMessage(first, prev, flagged, (data[at:end],)), end


def decode_run(data: bytes, at: i64, peer: str) -> tuple[tuple[bytes, ...], i64]:
    """The payloads of a run, and the position after it."""
    count, at = prefixed_at(data, at, PLAIN, peer)
    if count < 2:
        raise RemoteProtocolError(peer, f"before byte {at}: a run of {count}")
    left = len(data) - at
    if count > left:
        raise RemoteProtocolError(peer, f"at byte {at}: a run of {count}, {left} bytes left")
    length, after = prefixed_at(data, at, PLAIN, peer)
    all_lengths = (after - at) * count
    payloads: list[bytes] = []
    if all_lengths <= left and data[at : at + all_lengths] == data[at:after] * count:
        at += all_lengths
        if length > (left - all_lengths) // count:
            raise _too_long(peer, at, length, left - all_lengths)
        if count <= LONGEST_CUT:
            return _cut(data, at, length, count), at + length * count
        for _ in range(count):
            payloads.append(data[at : at + length])
            at += length
        return tuple(payloads), at
    lengths, at = _lengths(data, at, count, peer)
    for each in lengths:
        end = at + each
        payloads.append(data[at:end])
        at = end
    return tuple(payloads), at


def _cut(data: bytes, at: i64, length: i64, count: i64) -> tuple[bytes, ...]:
    """Payloads of one length, one after the other. Those who send many, send many alike."""
    key = (int(length), int(count))
    cutter = _CUTTERS.get(key)
    if cutter is None:
        if len(_CUTTERS) >= MOST_CUTTERS:
            _CUTTERS.clear()
        cutter = Struct(f"{length}s" * count)
        _CUTTERS[key] = cutter
    payloads: tuple[bytes, ...] = cutter.unpack_from(data, at)
    return payloads


def _lengths(data: bytes, at: i64, count: i64, peer: str) -> tuple[list[int], i64]:
    """That many lengths, which leave room for so many bytes, and the position after them."""
    lengths: list[int] = []
    total: i64 = 0
    for _ in range(count):
        length, at = prefixed_at(data, at, PLAIN, peer)
        total += length
        if total > len(data) - at:
            raise _too_long(peer, at, total, len(data) - at)
        lengths.append(length)
    return lengths, at


def _too_long(peer: str, at: i64, length: i64, left: i64) -> RemoteProtocolError:
    return RemoteProtocolError(peer, f"at byte {at}: {length} bytes announced, {left} left")
