"""Vector clocks: one byte per small count, and memory in proportion to the bytes received."""

from __future__ import annotations

import pytest

from beforehand import wire
from beforehand.protocols.clocks.vector import VectorMessage
from tests.wire.memory import peak_of


def test_counts_below_64_take_a_byte_each() -> None:
    """n is encoded once, followed by n counts."""
    clock = tuple(index % 64 for index in range(50))
    one = len(wire.encode(VectorMessage(1, (1,), b"x")))
    assert len(wire.encode(VectorMessage(1, clock, b"x"))) == one - 1 + 50


@pytest.mark.parametrize("count", [63, 64, 255, 256, 16_383, 16_384, 2**60 - 1])
@pytest.mark.parametrize("index", [0, 2])
def test_one_large_count_among_small_ones(count: int, index: int) -> None:
    """Counts of several lengths are decoded one by one, wherever the long one is."""
    clock = [1, 0, 3]
    clock[index] = count
    frame = VectorMessage(1, tuple(clock), b"")
    assert wire.decode(wire.encode(frame)) == frame


@pytest.mark.parametrize("count", [1, 63, 200, 2**40])
def test_a_large_group_takes_memory_in_proportion_to_its_bytes(count: int) -> None:
    """A pointer and at most an integer for each count in the data."""
    size = 50_000
    frame = VectorMessage(1, (count,) * size, b"")
    data = wire.encode(frame)
    decoded, peak = peak_of(lambda: wire.decode(data))
    assert decoded == frame
    assert peak < 64 * size
