"""Several payloads in a row: their count, their lengths, then all of them without anything between.

    count, count lengths, count payloads; count is at least 2

The lengths come first because they are mostly all the same. Then both sides handle them in one
step, and payloads are joined and cut without a look at each.
"""

from struct import Struct
from typing import Final

from mypy_extensions import i64

from beforehand.encoding.varint import PLAIN, prefixed_at, varint
from beforehand.errors import RemoteProtocolError

# Compiled layouts for cutting runs, by the length and number of payloads. One takes 16 bytes per
# payload, and peers determine which ones are needed: hence few, and none for long runs.
_CUTTERS: Final[dict[tuple[int, int], Struct]] = {}
MAX_CUTTERS: Final = 64
LONGEST_CUT: Final = 4096  # payloads


def encode_run(payloads: tuple[bytes, ...]) -> bytes:
    """The count, the lengths and the payloads of a run."""
    count = len(payloads)
    length = len(payloads[0])
    for payload in payloads:
        if len(payload) != length:
            lengths = b"".join([varint(len(payload)) for payload in payloads])
            break
    else:
        lengths = varint(length) * count
    return varint(count) + lengths + b"".join(payloads)


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
            raise too_long(peer, at, length, left - all_lengths)
        if count <= LONGEST_CUT:
            return _cut(data, at, length, count), at + length * count
        for _ in range(count):
            payloads.append(data[at : at + length])
            at += length
        return tuple(payloads), at
    lengths, at = _lengths(data, at, count, peer)
    for length in lengths:
        end = at + length
        payloads.append(data[at:end])
        at = end
    return tuple(payloads), at


def _cut(data: bytes, at: i64, length: i64, count: i64) -> tuple[bytes, ...]:
    """Payloads of one length, one after the other. Long runs mostly have payloads of one length."""
    key = (int(length), int(count))
    cutter = _CUTTERS.get(key)
    if cutter is None:
        if len(_CUTTERS) >= MAX_CUTTERS:
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
            raise too_long(peer, at, total, len(data) - at)
        lengths.append(length)
    return lengths, at


def too_long(peer: str, at: i64, length: i64, left: i64) -> RemoteProtocolError:
    """The error for a length beyond the end of the data."""
    return RemoteProtocolError(peer, f"at byte {at}: {length} bytes announced, {left} left")
