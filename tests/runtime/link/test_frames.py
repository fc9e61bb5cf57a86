"""The link's own frames: encodings that survive a round trip, and hostile bytes."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beforehand.encoding.reader import Reader
from beforehand.encoding.varint import varint
from beforehand.errors import RemoteProtocolError
from beforehand.protocols import tags
from beforehand.runtime.link import frames
from beforehand.runtime.link.frames import ack_frame, credit_frame, read_ack


def reader(data: bytes) -> Reader:
    """What a link makes of a frame, after its tag."""
    return Reader(data, 1, "bob")


@st.composite
def packet_ranges(draw: st.DrawFn) -> list[tuple[int, int]]:
    """Ranges of packet numbers with holes between them, the newest first."""
    steps = draw(st.lists(st.tuples(st.integers(0, 500), st.integers(1, 500)), min_size=1))
    first = draw(st.integers(0, 2**40))
    ranges = []
    for length, hole in steps:
        ranges.append((first, first + length))
        first += length + hole + 1
    return ranges[::-1]


@given(packet_ranges(), st.integers(0, 10**9))
def test_acknowledgements_come_back_as_they_were(ranges: list[tuple[int, int]], delay: int) -> None:
    """Ranges exactly, and the delay in whole microseconds."""
    data = ack_frame(ranges, delay)
    cursor = reader(data)
    assert data[0] == frames.ACK
    assert read_ack(cursor) == (ranges, delay // 1000 * 1000)
    assert cursor.left() == 0


@given(st.integers(0, 2**60 - 1), st.integers(0, 2**60 - 1), st.integers(0, 2**60 - 1))
def test_credit_comes_back_as_it_was(delivered: int, taken: int, size: int) -> None:
    """Three numbers of any size."""
    cursor = reader(credit_frame(delivered, taken, size))
    assert [cursor.varint() for _ in range(3)] == [delivered, taken, size]
    assert cursor.left() == 0


def test_a_clock_that_goes_backwards_gives_no_delay() -> None:
    """A delay is never negative, whatever the difference of two times is."""
    assert read_ack(reader(ack_frame([(0, 3)], -5_000_000))) == ([(0, 3)], 0)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ((0, 0, 5, 6), "negative packet numbers"),  # packet 5 and six before it
        ((0, 1, 5, 0, 9, 0), "negative packet numbers"),  # a range that begins below 0
        ((0, 60, 9, 0), "malformed"),  # 60 ranges announced, none there
        ((2_000_000_000, 0, 9, 0), "malformed"),  # after more than half an hour
        ((0, 0), "end inside a frame"),
    ],
)
def test_malformed_acknowledgements_are_refused(content: tuple[int, ...], problem: str) -> None:
    """They are refused with an error that names the peer."""
    data = bytes([frames.ACK]) + b"".join(varint(field) for field in content)
    with pytest.raises(RemoteProtocolError, match=problem) as refused:
        read_ack(reader(data))
    assert refused.value.peer == "bob"


def test_random_bytes_are_ranges_or_refused() -> None:
    """Whatever comes, nothing but RemoteProtocolError, and no more than the bytes that are there."""
    rng = random.Random(6)
    accepted = refused = 0
    for _ in range(5_000):
        data = bytes(rng.choices(rng.choice([WILD, TAME]), k=rng.randrange(1, 40)))
        cursor = reader(data)
        try:
            ranges, delay = read_ack(cursor)
        except RemoteProtocolError:
            refused += 1
            continue
        accepted += 1
        assert cursor.position <= len(data)
        assert delay >= 0 and len(ranges) <= len(data) and ranges[-1][0] >= 0
    assert accepted > 100 and refused > 100


def test_no_frame_of_a_link_looks_like_one_of_a_core() -> None:
    """They share the body of a datagram, so their first bytes must differ."""
    own = {value for name, value in vars(frames).items() if name in LINK_FRAMES}
    cores = {value for name, value in vars(tags).items() if name.isupper() and name != "MARKER"}
    assert len(own) == len(LINK_FRAMES)
    assert not own & cores
    assert not any(tag & tags.MARKER for tag in own)
    assert all(tag >= frames.ACK for tag in own - {frames.PADDING})
    assert all(0 < tag < frames.ACK for tag in cores)


WILD, TAME = range(256), range(5)  # of the latter, many are ranges
LINK_FRAMES = ("PADDING", "ACK", "CREDIT", "PING", "FRAGMENT", "CHALLENGE", "RESPONSE", "CLOSE")
