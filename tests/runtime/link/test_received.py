"""Received packet numbers, against a set that remembers everything."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beforehand.errors import LocalProtocolError
from beforehand.runtime.link.received import Received


class Model:
    """The same by brute force: a set of numbers and a floor."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.floor = 0
        self.largest = -1
        self.seen: set[int] = set()

    def add(self, number: int) -> bool:
        """Whether the number is new; gives up what is below the newest ranges."""
        if number < self.floor or number in self.seen:
            return False
        self.seen.add(number)
        self.largest = max(self.largest, number)
        ranges = self.ranges()
        if len(ranges) > self.limit:
            self.forget_below(ranges[self.limit][1] + 1)
        return True

    def ranges(self) -> list[tuple[int, int]]:
        """All ranges, the newest first."""
        merged: list[tuple[int, int]] = []
        for number in sorted(self.seen, reverse=True):
            if merged and merged[-1][0] == number + 1:
                merged[-1] = (number, merged[-1][1])
            else:
                merged.append((number, number))
        return merged

    def forget_below(self, number: int) -> None:
        """Raise the floor."""
        self.floor = max(self.floor, number)
        self.seen = {kept for kept in self.seen if kept >= self.floor}


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.integers(0, 40)),
        st.tuples(st.just("next"), st.integers(-6, 3)),  # near the largest, as in life
        st.tuples(st.just("forget"), st.integers(0, 45)),
    ),
    max_size=80,
)


@given(st.integers(1, 5), STEPS)
def test_like_a_set(limit: int, steps: list[tuple[str, int]]) -> None:
    """Every answer is that of a set with the oldest ranges taken out."""
    received, model = Received(limit), Model(limit)
    for kind, value in steps:
        if kind == "forget":
            received.forget_below(value)
            model.forget_below(value)
        else:
            number = value if kind == "add" else model.largest + value
            assert received.add(number) == (number >= 0 and model.add(number))
        assert received.largest == model.largest
        assert received.floor == model.floor
        assert received.ranges(100) == model.ranges()
        assert received.ranges(2) == model.ranges()[:2]


def test_in_order_is_one_range() -> None:
    """Packets that come in order are one range, and none is taken twice."""
    received = Received()
    assert received.largest == -1 and received.ranges(10) == []
    assert all(received.add(number) for number in range(1000))
    assert received.ranges(10) == [(0, 999)]
    assert not any(received.add(number) for number in range(1000))


def test_any_order_ends_as_one_range() -> None:
    """All numbers of a shuffled stream are accepted, whatever gaps it had on the way."""
    numbers = list(range(5000))
    rng = random.Random(6)
    for start in range(0, 5000, 250):  # packets overtake each other within 250
        part = numbers[start : start + 250]
        rng.shuffle(part)
        numbers[start : start + 250] = part
    received = Received()
    most = 0
    for number in numbers:
        assert received.add(number)
        most = max(most, len(received.ranges(1000)))
    assert most > 20
    assert received.ranges(10) == [(0, 4999)]


def test_too_many_holes() -> None:
    """Beyond the limit the oldest range is given up, and what is below it counts as come."""
    received = Received(3)
    for number in (1, 3, 5, 7):
        assert received.add(number)
    assert received.ranges(10) == [(7, 7), (5, 5), (3, 3)]
    assert not received.add(0) and not received.add(1)
    assert received.add(2)
    assert received.ranges(10) == [(7, 7), (5, 5), (2, 3)]


def test_forgotten_numbers_are_replays() -> None:
    """What the peer needs no more is neither acknowledged nor taken again, holes included."""
    received = Received()
    for number in (0, 1, 2, 5, 6, 9):
        received.add(number)
    received.forget_below(6)
    assert received.ranges(10) == [(9, 9), (6, 6)]
    assert not received.add(3) and not received.add(5)
    received.forget_below(4)  # old news
    assert received.floor == 6
    received.forget_below(20)
    assert received.ranges(10) == [] and received.largest == 9
    assert not received.add(10)
    assert received.add(20)
    assert received.ranges(10) == [(20, 20)]


def test_at_least_one_range() -> None:
    """A limit of zero is refused."""
    with pytest.raises(LocalProtocolError, match="at least 1 range, not 0"):
        Received(0)
