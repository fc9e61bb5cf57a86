"""Frames larger than a datagram: cut, carried in any order, put together, and never trusted."""

import random

import pytest

from beforehand.encoding.reader import Reader
from beforehand.encoding.varint import varint
from beforehand.errors import RemoteProtocolError
from beforehand.runtime.link.fragments import REMEMBERED, Reassembly, fragment_frames
from beforehand.runtime.link.frames import FRAGMENT

LIMIT = 100_000


def add(pieces: Reassembly, fragment: bytes) -> bytes | None:
    """Give a fragment to the receiver, as a link does after reading the tag."""
    reader = Reader(fragment, 1, "bob")
    whole = pieces.add(reader)
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
    pieces = Reassembly(LIMIT)
    assert [add(pieces, fragment) for fragment in fragments[:-1]] == [None] * (len(fragments) - 1)
    assert add(pieces, fragments[-1]) == whole


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
    pieces = Reassembly(LIMIT)
    completed = [whole for fragment in fragments if (whole := add(pieces, fragment)) is not None]
    assert sorted(completed) == sorted(frames.values())
    assert (pieces.held, pieces.partial) == (0, {})


def test_a_late_fragment_of_a_completed_frame_is_ignored() -> None:
    """It neither begins the frame again nor holds memory."""
    pieces = Reassembly(LIMIT)
    fragments = fragment_frames(1, bytes(500), 300)
    for fragment in fragments:
        add(pieces, fragment)
    assert add(pieces, fragments[0]) is None
    assert (pieces.held, pieces.partial) == (0, {})


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
def test_what_no_correct_peer_sends_changes_nothing(fragment: bytes, problem: str) -> None:
    """It is refused, and the frame in progress is still reassembled."""
    pieces = Reassembly(LIMIT)
    whole = bytes(range(50))
    assert add(pieces, piece(1, 0, 50, whole[:20])) is None
    with pytest.raises(RemoteProtocolError, match=problem):
        pieces.add(Reader(fragment, 1, "bob"))
    assert pieces.held == 50
    assert add(pieces, piece(1, 20, 50, whole[20:])) == whole


def test_memory_ends_at_the_limit_and_comes_back() -> None:
    """Frames that were begun count with their whole length, until they are complete."""
    pieces = Reassembly(1_000)
    add(pieces, piece(1, 0, 600, b"a" * 300))
    with pytest.raises(RemoteProtocolError, match="more than the 1000 bytes granted"):
        add(pieces, piece(2, 0, 401, b"b"))
    assert add(pieces, piece(3, 0, 400, b"c" * 400)) == b"c" * 400
    assert add(pieces, piece(1, 300, 600, b"a" * 300)) == b"a" * 600
    assert add(pieces, piece(4, 0, 1_000, b"d" * 1_000)) == b"d" * 1_000


def test_overlapping_fragments_are_refused() -> None:
    """Enough bytes in total, but with a gap: the frame is discarded, and its memory freed."""
    pieces = Reassembly(LIMIT)
    add(pieces, piece(1, 0, 100, b"a" * 60))
    with pytest.raises(RemoteProtocolError, match="overlap"):
        add(pieces, piece(1, 10, 100, b"b" * 40))
    assert (pieces.held, pieces.partial) == (0, {})


def test_finished_frames_are_forgotten_in_the_end() -> None:
    """Many numbers are remembered, but not all that ever were; the oldest go first."""
    pieces = Reassembly(LIMIT)
    pieces.done = dict.fromkeys(range(REMEMBERED), True)
    assert add(pieces, piece(REMEMBERED, 0, 1, b"x")) == b"x"
    assert len(pieces.done) == REMEMBERED and 0 not in pieces.done
    assert add(pieces, piece(REMEMBERED, 0, 1, b"x")) is None
