"""Frames larger than a datagram: cut, carried in any order, put together, and never trusted."""

import random

import pytest

from beforehand.encoding.reader import Reader
from beforehand.encoding.varint import varint
from beforehand.errors import RemoteProtocolError
from beforehand.runtime.link.fragments import REMEMBERED, Reassembly, fragment_frames
from beforehand.runtime.link.frames import FRAGMENT

LIMIT = 100_000


def add(reassembly: Reassembly, fragment: bytes) -> bytes | None:
    """Give a fragment to the receiver, as a link does after reading the tag."""
    reader = Reader(fragment, 1, "bob")
    whole = reassembly.add(reader)
    assert reader.left() == 0
    return whole


def piece(number: int, start: int, total: int, data: bytes) -> bytes:
    """A fragment as a broken peer might write it."""
    fields = (number, start, total, len(data))
    return bytes([FRAGMENT]) + b"".join(varint(field) for field in fields) + data


@pytest.mark.parametrize("length", [1, 95, 96, 97, 5_000])
def test_fragments_fill_the_room_and_no_more(length: int) -> None:
    """Every fragment fits, and all of them together are the frame."""
    whole = random.Random(length).randbytes(length)
    fragments = fragment_frames(7, whole, 128)
    assert all(len(fragment) <= 128 for fragment in fragments)
    assert len(fragments) == -(-length // 96)
    reassembly = Reassembly(LIMIT)
    assert [add(reassembly, fragment) for fragment in fragments[:-1]] == [None] * (
        len(fragments) - 1
    )
    assert add(reassembly, fragments[-1]) == whole


@pytest.mark.parametrize("seed", range(5))
def test_any_order_with_duplicates(seed: int) -> None:
    """Several frames at once, their fragments shuffled and duplicated: each is reassembled once."""
    rng = random.Random(seed)
    frames = {number: rng.randbytes(rng.randrange(200, 9_000)) for number in range(1, 9)}
    fragments = [
        fragment
        for number, frame in frames.items()
        for fragment in fragment_frames(number, frame, 300)
    ]
    fragments += rng.sample(fragments, len(fragments) // 2)
    rng.shuffle(fragments)
    reassembly = Reassembly(LIMIT)
    completed = [
        whole for fragment in fragments if (whole := add(reassembly, fragment)) is not None
    ]
    assert sorted(completed) == sorted(frames.values())
    assert (reassembly.held, reassembly.partial) == (0, {})


def test_a_late_fragment_of_a_completed_frame_is_ignored() -> None:
    """It neither begins the frame again nor holds memory."""
    reassembly = Reassembly(LIMIT)
    fragments = fragment_frames(1, bytes(500), 300)
    for fragment in fragments:
        add(reassembly, fragment)
    assert add(reassembly, fragments[0]) is None
    assert (reassembly.held, reassembly.partial) == (0, {})


@pytest.mark.parametrize(
    ("fragment", "problem"),
    [
        (piece(1, 0, 50, b""), "fragment of 0 bytes"),
        (piece(1, 45, 50, b"beyond"), "6 bytes at offset 45 of 50"),
        (piece(1, 0, 0, b"x"), "1 bytes at offset 0 of 0"),
        (piece(2, 0, LIMIT + 1, b"x"), "more than the 100000 bytes granted"),
        (piece(2, 0, 2**59, b"x"), "more than the 100000 bytes granted"),
        (piece(1, 20, 51, b"another length"), "disagree on the length"),
        (bytes([FRAGMENT]) + varint(1), "end inside a frame"),
        (piece(1, 20, 50, b"abc")[:-1], "3 bytes announced, 2 left"),
    ],
)
def test_malformed_fragments_change_nothing(fragment: bytes, problem: str) -> None:
    """It is refused, and the frame in progress is still reassembled."""
    reassembly = Reassembly(LIMIT)
    whole = bytes(range(50))
    assert add(reassembly, piece(1, 0, 50, whole[:20])) is None
    with pytest.raises(RemoteProtocolError, match=problem):
        reassembly.add(Reader(fragment, 1, "bob"))
    assert reassembly.held == 50
    assert add(reassembly, piece(1, 20, 50, whole[20:])) == whole


def test_memory_ends_at_the_limit_and_comes_back() -> None:
    """Frames that were begun count with their whole length, until they are complete."""
    reassembly = Reassembly(1_000)
    add(reassembly, piece(1, 0, 600, b"a" * 300))
    with pytest.raises(RemoteProtocolError, match="more than the 1000 bytes granted"):
        add(reassembly, piece(2, 0, 401, b"b"))
    assert add(reassembly, piece(3, 0, 400, b"c" * 400)) == b"c" * 400
    assert add(reassembly, piece(1, 300, 600, b"a" * 300)) == b"a" * 600
    assert add(reassembly, piece(4, 0, 1_000, b"d" * 1_000)) == b"d" * 1_000


def test_overlapping_fragments_are_refused() -> None:
    """Enough bytes in total, but with a gap: the frame is discarded, and its memory freed."""
    reassembly = Reassembly(LIMIT)
    add(reassembly, piece(1, 0, 100, b"a" * 60))
    with pytest.raises(RemoteProtocolError, match="overlap"):
        add(reassembly, piece(1, 10, 100, b"b" * 40))
    assert (reassembly.held, reassembly.partial) == (0, {})


def test_finished_frames_are_forgotten_in_the_end() -> None:
    """Many numbers are remembered, but not all that ever were; the oldest go first."""
    reassembly = Reassembly(LIMIT)
    reassembly.done = dict.fromkeys(range(REMEMBERED), True)
    assert add(reassembly, piece(REMEMBERED, 0, 1, b"x")) == b"x"
    assert len(reassembly.done) == REMEMBERED and 0 not in reassembly.done
    assert add(reassembly, piece(REMEMBERED, 0, 1, b"x")) is None
