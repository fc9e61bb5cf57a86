"""Integers of 1, 2, 4 or 8 bytes, with and without flags in the first one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beforehand.encoding.varint import MAX_VALUE, prefixed, prefixed_at, size_of, varint
from beforehand.errors import LocalProtocolError, RemoteProtocolError
from tests.wire.frames import MAX, numbers

MASKS = [0x0F, 0x1F, 0x3F]


def test_the_greatest_value() -> None:
    """The tests and the code use the same limit."""
    assert MAX_VALUE == MAX == 2**60 - 1


@pytest.mark.parametrize(
    ("value", "encoded"),
    [
        (0, "00"),
        (63, "3f"),
        (64, "4040"),
        (16_383, "7fff"),
        (16_384, "80004000"),
        (2**30 - 1, "bfffffff"),
        (2**30, "c000000040000000"),
        (MAX, "cfffffffffffffff"),
        # the examples of RFC 9000, section A.1, that are below our limit
        (37, "25"),
        (15_293, "7bbd"),
        (494_878_333, "9d7f3e7d"),
    ],
)
def test_known_encodings(value: int, encoded: str) -> None:
    """Plain varints are those of QUIC."""
    assert varint(value).hex() == encoded


@pytest.mark.parametrize("mask", MASKS)
@given(value=numbers, flags=st.integers(0, 3), before=st.binary(max_size=3))
def test_round_trip_whatever_the_flags(mask: int, value: int, flags: int, before: bytes) -> None:
    """The value is decoded, the flags stay in the first byte, and `size_of` gives the length."""
    flag_bits = flags << mask.bit_length() & 0x3F
    encoded = prefixed(value, mask, flag_bits)
    assert prefixed_at(before + encoded, len(before), mask, "") == (value, len(before + encoded))
    assert encoded[0] & 0x3F & ~mask == flag_bits
    assert len(encoded) == size_of(value, mask)


@pytest.mark.parametrize("mask", MASKS)
def test_the_shortest_form_is_the_only_one(mask: int) -> None:
    """Of all two-byte inputs, exactly those that an encoder writes are decoded."""
    decoded = 0
    for start in range(65_536):
        data = start.to_bytes(2, "big")
        flags = data[0] & 0x3F & ~mask
        try:
            value, end = prefixed_at(data, 0, mask, "bob")
        except RemoteProtocolError:
            continue
        decoded += 1
        assert prefixed(value, mask, flags) == data[:end]
    # Half of these start with an integer of one byte; of two bytes, 64 are longer than needed.
    assert decoded == 2 * 64 * 256 - 64


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize(("kind", "size"), [(0x40, 2), (0x80, 4), (0xC0, 8)])
def test_a_value_that_fits_half_the_length_is_rejected(mask: int, kind: int, size: int) -> None:
    """The greatest such value is rejected, the next one is decoded."""
    half_bits = mask.bit_length() + 8 * (size // 2 - 1)
    for value, fits in (((1 << half_bits) - 1, True), (1 << half_bits, False)):
        whole = value | kind << 8 * (size - 1)
        data = whole.to_bytes(size, "big")
        if fits:
            with pytest.raises(RemoteProtocolError, match="longer than its value needs"):
                prefixed_at(data, 0, mask, "bob")
        else:
            assert prefixed_at(data, 0, mask, "bob") == (value, size)


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("size", [1, 2, 4, 8])
def test_every_missing_byte_is_noticed(mask: int, size: int) -> None:
    """A truncated integer is rejected, and nothing is read past the end."""
    data = prefixed(1 << (8 * size - 5), mask, 0) if size > 1 else prefixed(1, mask, 0)
    assert len(data) == size
    for cut in range(size):
        with pytest.raises(RemoteProtocolError, match="end inside a frame"):
            prefixed_at(data[:cut], 0, mask, "bob")
        with pytest.raises(RemoteProtocolError, match="end inside a frame"):
            prefixed_at(b"\xff" + data[:cut], 1, mask, "bob")


def test_values_beyond_the_limit_are_rejected_by_both_sides() -> None:
    """2**60 is neither encoded nor decoded, although 8 bytes could hold it."""
    assert prefixed_at(bytes.fromhex("cfffffffffffffff"), 0, 0x3F, "") == (MAX, 8)
    for data in ("d000000000000000", "ffffffffffffffff"):
        with pytest.raises(RemoteProtocolError, match=r"bob: at byte 0: .* is more than"):
            prefixed_at(bytes.fromhex(data), 0, 0x3F, "bob")
    for value in (-1, MAX + 1, 2**62):
        with pytest.raises(LocalProtocolError, match="cannot be sent"):
            varint(value)
