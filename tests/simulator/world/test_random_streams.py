"""The random numbers: equal to those L'Ecuyer published, one sequence per text, evenly spread."""

from __future__ import annotations

from itertools import pairwise

import pytest

from beforehand.simulator.world.random_streams import M1, M2, Stream

NORM = 2.328306549295727688e-10  # 1 / (M1 + 1): what the published code multiplies by


def starting_at(first: tuple[int, int, int], second: tuple[int, int, int]) -> Stream:
    """A stream in a given state, the oldest number of each component first."""
    stream = Stream("")
    stream.a0, stream.a1, stream.a2 = first
    stream.b0, stream.b1, stream.b2 = second
    return stream


def next_integer(stream: Stream) -> int:
    """The integer from which the next number is made."""
    number = stream.uniform()
    numerator = round(number * M1)
    assert number == numerator / M1
    return numerator


def by_definition(first: list[int], second: list[int], count: int) -> list[int]:
    """The recurrences of the paper, in integers without bound."""
    numbers = []
    for _ in range(count):
        first = [*first[1:], (1403580 * first[1] - 810728 * first[0]) % M1]
        second = [*second[1:], (527612 * second[2] - 1370589 * second[0]) % M2]
        numbers.append((first[2] - second[2]) % M1)
    return numbers


def test_the_published_numbers() -> None:
    """From the published start state, all six 12345, come the published first numbers."""
    stream = starting_at((12345, 12345, 12345), (12345, 12345, 12345))
    published = [0.127011122046577, 0.318527565396794, 0.309186015583270]
    numbers = [next_integer(stream) for _ in published]
    assert numbers == [545508589, 1368065410, 1327943761]
    assert [number * NORM for number in numbers] == pytest.approx(published, abs=1e-15)


def test_the_numbers_of_rosetta_code() -> None:
    """The task "Combined recursive generator MRG32k3a" lists these for the seed 1234567, plus 1."""
    stream = starting_at((0, 0, 1234567), (0, 0, 1234567))
    numbers = [next_integer(stream) + 1 for _ in range(5)]
    assert numbers == [1459213977, 2827710106, 4245671317, 3877608661, 2595287583]


@pytest.mark.parametrize("state", [(1, 1, 1), (M2 - 1, M2 - 1, M2 - 1), (0, 0, 1), (M2 - 1, 0, 0)])
def test_extreme_states(state: tuple[int, int, int]) -> None:
    """No product overflows: 1,000 numbers are those of the definition."""
    stream = starting_at(state, state)
    numbers = [next_integer(stream) for _ in range(1_000)]
    assert numbers == by_definition(list(state), list(state), 1_000)


def test_a_text_determines_the_stream() -> None:
    """The same text gives the same numbers, in every build; other texts give others."""
    first, second = Stream("7/network"), Stream("7/network")
    assert [first.uniform() for _ in range(100)] == [second.uniform() for _ in range(100)]
    texts = ["", "7/network", "7/faults", "8/network", "7/networ", "7/\N{SNOWMAN}"]
    assert len({tuple(Stream(text).uniform() for _ in range(3)) for text in texts}) == len(texts)
    pinned = Stream("x")
    assert [next_integer(pinned) for _ in range(4)] == [
        3653660576,
        4156519518,
        60596444,
        2064323322,
    ]


def test_numbers_are_spread_evenly() -> None:
    """Mean, variance, 16 buckets, and pairs of neighbours are as they should be, to 4 deviations."""
    count = 40_000
    stream = Stream("spread")
    numbers = [stream.uniform() for _ in range(count)]
    assert all(0.0 <= number < 1.0 for number in numbers)
    mean = sum(numbers) / count
    assert abs(mean - 1 / 2) < 4 * (1 / 12 / count) ** 0.5
    variance = sum((number - mean) ** 2 for number in numbers) / count
    assert abs(variance - 1 / 12) < 4 * (1 / 180 / count) ** 0.5
    buckets = [0] * 16
    for number in numbers:
        buckets[int(number * 16)] += 1
    assert all(abs(bucket - count / 16) < 4 * (count / 16) ** 0.5 for bucket in buckets)
    products = sum(a * b for a, b in pairwise(numbers)) / (count - 1)
    assert abs(products - 1 / 4) < 4 * (7 / 144 / count) ** 0.5


def test_streams_of_neighbouring_texts_are_unrelated() -> None:
    """The first numbers of many streams are spread as evenly as those of one."""
    count = 10_000
    firsts = [Stream(f"1/workload/p{number}").uniform() for number in range(count)]
    assert abs(sum(firsts) / count - 1 / 2) < 4 * (1 / 12 / count) ** 0.5
    assert len(set(firsts)) > count - 3


def test_below() -> None:
    """Every number below the bound comes, about equally often, and no other one."""
    stream = Stream("below")
    counts = [0] * 7
    for _ in range(14_000):
        counts[stream.below(7)] += 1
    assert all(abs(count - 2_000) < 4 * 2_000**0.5 for count in counts)
    assert [stream.below(1) for _ in range(10)] == [0] * 10


def extremes() -> tuple[Stream, Stream]:
    """Streams whose next numbers are the least and the greatest that there are."""
    least = starting_at((0, 0, 1), (0, 1, 0))  # a difference of 0 - 0
    greatest = starting_at((0, 0, 1), (0, 0, pow(527612, -1, M2)))  # of 0 - 1
    return least, greatest


def test_the_least_and_the_greatest_number() -> None:
    """0 is possible, 1 is not."""
    least, greatest = extremes()
    assert least.uniform() == 0.0
    assert greatest.uniform() == (M1 - 1) / M1 < 1.0


@pytest.mark.parametrize("count", [1, 2, 10**9, 2**32, 2**40, 2**62 - 1])
def test_below_never_reaches_its_bound(count: int) -> None:
    """The least number gives 0, and the greatest one less than the bound."""
    least, greatest = extremes()
    assert least.below(count) == 0
    below = greatest.below(count)
    assert count - 1 - count // M1 - 2 < below < count
