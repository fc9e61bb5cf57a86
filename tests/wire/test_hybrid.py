"""Hybrid messages: their size, and runs of messages in one frame."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beforehand import wire
from beforehand.encoding.varint import varint
from beforehand.protocols.hybrid.frames import HybridAck, HybridMessage, HybridPermit
from tests.wire.frames import EDGES, payloads

CLOCK = 2**28  # up to here a message costs at most 8 bytes


def metadata(frame: HybridMessage) -> int:
    """Return the bytes of a single message without its payload and the payload's length."""
    (payload,) = frame.payloads
    return len(wire.encode(frame)) - len(payload) - len(varint(len(payload)))


@pytest.mark.parametrize("flagged", [False, True])
@pytest.mark.parametrize(
    ("first", "prev"),
    [(CLOCK - 1, 0), (CLOCK - 1, 1), (CLOCK - 1, CLOCK - 2), (CLOCK // 2, 1), (CLOCK - 1, 2**20)],
)
def test_at_most_eight_bytes_at_the_extremes(first: int, prev: int, flagged: bool) -> None:
    """Neither a high clock nor a distant predecessor nor the flag costs more."""
    assert metadata(HybridMessage(first, prev, flagged, (b"x" * 32,))) <= 8


def test_the_bound_is_reached() -> None:
    """The worst case takes exactly eight, so the test above would notice one more byte."""
    assert metadata(HybridMessage(CLOCK - 1, 1, True, (b"x" * 32,))) == 8
    assert metadata(HybridMessage(CLOCK, 1, True, (b"x" * 32,))) == 12


@given(st.data(), st.booleans(), payloads)
def test_at_most_eight_bytes_below_the_clock(
    data: st.DataObject, flagged: bool, payload: bytes
) -> None:
    """The bound holds for any id below 2**28 and any predecessor."""
    low = [edge for edge in EDGES if edge < CLOCK]
    first = data.draw(st.one_of(st.integers(1, CLOCK - 1), st.sampled_from(low)))
    back = data.draw(st.one_of(st.integers(1, first), st.sampled_from(low)))
    assert metadata(HybridMessage(first, max(0, first - back), flagged, (payload,))) <= 8


@pytest.mark.parametrize(
    ("first", "prev", "size"),
    [(15, 14, 2), (16, 15, 3), (4_095, 4_094, 3), (4_096, 4_095, 5), (4_096, 0, 5), (2**59, 0, 9)],
)
def test_a_successor_costs_little(first: int, prev: int, size: int) -> None:
    """A predecessor just before it, or none at all, takes one byte whatever the clock."""
    assert metadata(HybridMessage(first, prev, False, (b"x",))) == size


def test_the_flag_is_free() -> None:
    """A flagged message is as long as one without the flag."""
    for first, prev in product(EDGES, (0, 1)):
        if prev < first:
            unflagged = wire.encode(HybridMessage(first, prev, False, (b"x",)))
            flagged = wire.encode(HybridMessage(first, prev, True, (b"x",)))
            assert len(unflagged) == len(flagged)
            assert unflagged != flagged


def test_a_run_costs_a_byte_for_each_short_message() -> None:
    """Each message adds only its length; the rest is shared."""
    run = tuple(bytes([value]) * 32 for value in range(64))
    frame = HybridMessage(200_000_000, 199_999_999, False, run)
    assert len(wire.encode(frame)) == 4 + 1 + 2 + 64 + 64 * 32


@pytest.mark.parametrize("length", [0, 1, 63, 64, 16_383, 16_384])
@pytest.mark.parametrize("count", [2, 63, 64])
def test_runs_of_equal_and_nearly_equal_lengths(length: int, count: int) -> None:
    """The shortcut for equal lengths is taken only if all of them are equal."""
    equal = [bytes([number]) * length for number in range(count)]
    for longer in (None, 0, count - 1):
        run = equal.copy()
        if longer is not None:
            run[longer] += b"!"
        frame = HybridMessage(9, 8, True, tuple(run))
        data = wire.encode(frame)
        lengths = b"".join(varint(len(payload)) for payload in run)
        assert data == bytes([0x39, 0x21]) + varint(count) + lengths + b"".join(run)
        assert wire.decode(data) == frame


def test_lengths_that_look_alike_are_not_taken_for_equal() -> None:
    """Lengths of two bytes that repeat as bytes but not as lengths are read one by one."""
    run = (b"a" * 64, b"b" * 64, b"c")
    frame = HybridMessage(9, 8, False, run)
    assert wire.decode(wire.encode(frame)) == frame


def test_signals_are_a_tag_and_an_id() -> None:
    """An ack and a permit take two bytes at first, five below 2**30."""
    for signal in (HybridAck, HybridPermit):
        assert len(wire.encode(signal(63))) == 2
        assert len(wire.encode(signal(2**30 - 1))) == 5
