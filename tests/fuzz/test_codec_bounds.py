"""Claimed lengths cost nothing; the cost of bytes actually sent is linear."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from beforehand import wire
from beforehand._build import is_compiled
from beforehand.encoding.varint import varint
from beforehand.errors import RemoteProtocolError
from beforehand.protocols.frames import Frame
from tests.wire.memory import peak_of

# Frames up to where a length or a count is expected.
CLAIMS = {
    "the payload of a hybrid message": "25 01",
    "the number of messages in a run": "25 21",
    "the first length in a run": "25 21 02",
    "the second length in a run": "25 21 02 01",
    "the names of a fence": "04 00 00",
    "the payload inside a fence": "04 00 00 00 25 01",
    "the payload inside a segment": "05 01 25 01",
    "the payload of mattern": "08 05 01",
    "the payload of cykas": "0c 05",
    "the payload of raw": "1c 05",
    "the receivers of rst": "10 05",
    "the size of a matrix": "10 05 01 01 62",
    "the payload of rst": "10 05 01 01 62 01 00",
    "the payload of a broadcast": "80 01 61 05",
    "the path of control information": "82",
    "the number of frames that were kept": "83 05",
    "the payload of a frame that was kept": "83 05 01 80 01 61 05",
    "the route back": "84 05",
    "the numbers in a welcome": "8b 05",
    "the names of ks": "14 05",
    "the receivers of ks": "14 05 01 01 62",
    "a receiver of ks": "14 05 01 01 62 01",
    "the log of ks": "14 05 01 01 62 01 00",
    "a sender in a log": "14 05 01 01 62 01 00 01",
    "destinations in a log": "14 05 01 01 62 01 00 01 00 01",
    "the payload of ks": "14 05 01 01 62 01 00 00",
}

HUGE = [2**14 - 1, 2**20, 2**30 - 1, 2**31, 2**40, 2**60 - 1]


def refused(data: bytes) -> None:
    """Assert that these bytes are not a frame."""
    try:
        wire.decode(data)
    except RemoteProtocolError:
        return
    raise AssertionError(f"accepted: {data.hex()}")


@pytest.mark.parametrize("claim", CLAIMS)
def test_claimed_lengths_cost_nothing(claim: str) -> None:
    """A huge length or count in a tiny input is refused before anything is made of it."""
    start = bytes.fromhex(CLAIMS[claim])
    tails = [b"", b"\0" * 40, b"\x01" * 40, b"\xff" * 40]
    inputs = [start + varint(number) + tail for number in HUGE for tail in tails]

    def refuse_all() -> None:
        for data in inputs:
            refused(data)

    _, peak = peak_of(refuse_all)
    assert peak < 8_192


def run_of_empty(size: int) -> bytes:
    """A run of messages without payloads."""
    return b"\x25\x21" + varint(size) + b"\0" * size


def mixed_run(size: int) -> bytes:
    """A run of messages of one and two bytes."""
    count = size // 5 * 2
    return b"\x25\x21" + varint(count) + b"\x01\x02" * (count // 2) + b"x" * (count // 2 * 3)


def late_long_length(size: int) -> bytes:
    """A run whose last length is too long, after all others were fine."""
    return b"\x25\x21" + varint(size) + b"\0" * (size - 1) + b"\x05"


def first_long_length(size: int) -> bytes:
    """A run whose first length takes eight bytes, and could take all others to be alike."""
    return b"\x25\x21" + varint(size) + varint(2**40) + b"\0" * size


def dropped_names(size: int) -> bytes:
    """A fence with names of one letter."""
    return b"\x04\0\0" + varint(size // 2) + b"\x01\x61" * (size // 2) + b"\x01\x01"


def matrix(fill: bytes) -> Callable[[int], bytes]:
    """A matrix of one- or two-byte counts."""

    def of_size(size: int) -> bytes:
        rows = int((size / len(fill)) ** 0.5)
        return b"\x10\x05\x01\x01b" + varint(rows) + fill * rows * rows + b"\0"

    return of_size


def cut_matrix(size: int) -> bytes:
    """A matrix that is cut in its last count."""
    return matrix(b"\x7f\xff")(size)[:-2]


def log(entry: bytes) -> Callable[[int], bytes]:
    """A log of equal entries."""

    def of_size(size: int) -> bytes:
        count = size // len(entry)
        return b"\x14\x05\x01\x01b\x01\0" + varint(count) + entry * count + b"\0"

    return of_size


def large_sets(size: int) -> bytes:
    """A log with many names, all of which occur in each of a few sets."""
    count = size // 10
    names = b"".join(b"\x04" + f"{name:04x}".encode() for name in range(count))
    everybody = varint(count) + b"\0" * count
    entries = b"\0\x01" + everybody
    start = b"\x14\x05" + varint(count) + names + everybody
    return start + b"\x04" + entries * 4 + b"\0"


def kept_broadcasts(size: int) -> bytes:
    """A frame of the smallest broadcasts there are."""
    return b"\x83\x05" + varint(size // 5) + b"\x80\x01a\x05\0" * (size // 5)


def welcome(size: int) -> bytes:
    """A welcome with the smallest numbers there are."""
    return b"\x8b\x05" + varint(size // 3) + b"\x01a\x02" * (size // 3)


SHAPES: dict[str, Callable[[int], bytes]] = {
    "a run of empty messages": run_of_empty,
    "a run of mixed lengths": mixed_run,
    "a run that fails late": late_long_length,
    "a run that fails early": first_long_length,
    "dropped names": dropped_names,
    "a matrix of zeros": matrix(b"\0"),
    "a matrix of small counts": matrix(b"\x01"),
    "a matrix of large counts": matrix(b"\x7f\xff"),
    "a matrix that is cut": cut_matrix,
    "a log without destinations": log(b"\0\x01\0"),
    "a log with a destination each": log(b"\0\x01\x01\0"),
    "a log with large sets": large_sets,
    "broadcasts that were kept": kept_broadcasts,
    "a welcome": welcome,
}

REFUSED = {"a run that fails late", "a run that fails early", "a matrix that is cut"}


def outcome(data: bytes) -> Frame | None:
    """The frame, or None if the data is refused."""
    try:
        return wire.decode(data)
    except RemoteProtocolError:
        return None


def lines_run(call: Callable[[], object]) -> int:
    """How many lines of Python the codec executes during a call: work, whatever the machine."""
    lines = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal lines
        if "/wire/" not in frame.f_code.co_filename:
            return None
        lines += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return lines


@pytest.mark.parametrize("shape", SHAPES)
def test_inputs_have_the_intended_shape(shape: str) -> None:
    """The inputs below are read to their end, or refused as intended."""
    data = SHAPES[shape](10_000)
    assert 9_000 < len(data) < 12_000
    assert (outcome(data) is None) == (shape in REFUSED)


@pytest.mark.parametrize("shape", SHAPES)
def test_memory_is_linear(shape: str) -> None:
    """Four times the bytes take at most about four times the memory, and not much per byte."""
    small, large = SHAPES[shape](10_000), SHAPES[shape](40_000)
    _, small_peak = peak_of(lambda: outcome(small))
    _, large_peak = peak_of(lambda: outcome(large))
    assert large_peak < 5 * small_peak + 10_000
    assert large_peak < 100 * len(large)


def test_a_length_is_not_multiplied_by_a_count() -> None:
    """A first length of eight bytes is not repeated for a run that only has room for shorter ones."""
    data = first_long_length(40_000)
    _, peak = peak_of(lambda: outcome(data))
    assert peak < 2 * len(data)


@pytest.mark.skipif(is_compiled(), reason="only the lines of interpreted code can be counted")
@pytest.mark.parametrize("shape", SHAPES)
def test_work_is_linear(shape: str) -> None:
    """Four times the bytes take at most about four times the steps, and few per byte."""
    small, large = SHAPES[shape](10_000), SHAPES[shape](40_000)
    few, many = lines_run(lambda: outcome(small)), lines_run(lambda: outcome(large))
    assert few > 0
    assert many < 5 * few + 100
    assert many < 40 * len(large)


@pytest.mark.skipif(is_compiled(), reason="only the lines of interpreted code can be counted")
def test_many_small_frames_do_not_each_look_at_the_whole_datagram() -> None:
    """Reading a datagram frame by frame is linear too: no frame costs more for those after it."""

    def read_all(data: bytes) -> None:
        offset = 0
        while offset < len(data):
            _, offset = wire.decode_at(data, offset)

    one = bytes.fromhex("25 21 02 00 01 61") + bytes.fromhex("04 00 00 00 01 05")
    few, many = lines_run(lambda: read_all(one * 100)), lines_run(lambda: read_all(one * 400))
    assert few > 0
    assert many < 4.1 * few
    data = one * 10_000
    _, peak = peak_of(lambda: read_all(data))
    assert peak < 8_192
