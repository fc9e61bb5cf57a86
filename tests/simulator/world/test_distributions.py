"""What is drawn: the right means and deviations, within the bounds, and the same in every build."""

from __future__ import annotations

from math import exp, log
from statistics import fmean, median, pstdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beforehand.simulator.specs import durations
from beforehand.simulator.world.distributions import (
    MAX_VALUE,
    Constant,
    Distribution,
    Exponential,
    Lognormal,
    Normal,
    Uniform,
    clamp,
    standard_normal,
)
from beforehand.simulator.world.random_streams import Stream

MS = 10**6
COUNT = 20_000


def drawn(distribution: Distribution, count: int = COUNT) -> list[int]:
    """Many draws, always the same ones."""
    stream = Stream("draws")
    return [int(distribution.draw(stream)) for _ in range(count)]


def test_a_constant_distribution() -> None:
    """It is what it is, and takes nothing from the stream."""
    stream, twin = Stream("constant"), Stream("constant")
    assert [Constant(7).draw(stream) for _ in range(3)] == [7, 7, 7]
    assert stream.uniform() == twin.uniform()


def test_a_uniform_distribution() -> None:
    """Mean and deviation are those of the formula."""
    values = drawn(Uniform(1 * MS, 9 * MS))
    assert 1 * MS <= min(values) < 1.01 * MS and 8.99 * MS < max(values) <= 9 * MS
    assert fmean(values) == pytest.approx(5 * MS, rel=0.01)
    assert pstdev(values) == pytest.approx(8 * MS / 12**0.5, rel=0.01)


def test_both_bounds_of_a_uniform_distribution_are_included() -> None:
    """Each integer from 3 to 5 comes, about equally often, and no other one."""
    values = drawn(Uniform(3, 5), 9_000)
    assert set(values) == {3, 4, 5}
    assert all(abs(values.count(value) - 3_000) < 200 for value in (3, 4, 5))
    assert set(drawn(Uniform(6, 6), 10)) == {6}


def test_a_normal_distribution() -> None:
    """Mean, deviation, and the shares within one and two deviations."""
    values = drawn(Normal(25 * MS, 5 * MS))
    assert fmean(values) == pytest.approx(25 * MS, rel=0.005)
    assert pstdev(values) == pytest.approx(5 * MS, rel=0.02)
    for deviations, share in ((1, 0.6827), (2, 0.9545)):
        inside = sum(abs(value - 25 * MS) < deviations * 5 * MS for value in values)
        assert inside / COUNT == pytest.approx(share, abs=0.01)


def test_negative_draws_become_0() -> None:
    """Half of a bell curve around 0 is cut; the other half is as it was."""
    values = drawn(Normal(0, 10 * MS))
    assert min(values) == 0
    assert values.count(0) / COUNT == pytest.approx(0.5, abs=0.015)
    assert fmean(values) == pytest.approx(10 * MS / (2 * 3.14159265) ** 0.5, rel=0.02)


def test_a_lognormal_distribution() -> None:
    """The median is as given, the logarithm has the deviation, and the mean follows from both."""
    values = drawn(Lognormal(40 * MS, 0.5))
    assert median(values) == pytest.approx(40 * MS, rel=0.015)
    assert pstdev([log(value) for value in values]) == pytest.approx(0.5, rel=0.02)
    assert fmean(values) == pytest.approx(40 * MS * exp(0.125), rel=0.02)


def test_an_exponential_distribution() -> None:
    """Mean and deviation are equal, and the median is the mean times ln 2."""
    values = drawn(Exponential(10 * MS))
    assert fmean(values) == pytest.approx(10 * MS, rel=0.02)
    assert pstdev(values) == pytest.approx(10 * MS, rel=0.03)
    assert median(values) == pytest.approx(10 * MS * log(2), rel=0.02)
    assert min(values) >= 0


def test_the_standard_normal() -> None:
    """Mean 0, deviation 1, no skew, and the tails of a bell curve."""
    stream = Stream("bell")
    values = [standard_normal(stream) for _ in range(COUNT)]
    assert abs(fmean(values)) < 0.03
    assert pstdev(values) == pytest.approx(1.0, abs=0.02)
    assert abs(fmean([value**3 for value in values])) < 0.1
    assert fmean([value**4 for value in values]) == pytest.approx(3.0, abs=0.2)


@pytest.mark.parametrize(
    ("distribution", "least", "most"),
    [
        (Constant(5), 0.0, 0.0),
        (Uniform(1, 9), 0.0, 0.0),
        (Normal(25 * MS, 5 * MS), 0.0, 0.005),
        (Lognormal(40 * MS, 0.5), 0.0, 0.005),
        (Exponential(10 * MS), 0.001, 0.02),
    ],
)
def test_the_high_value_is_seldom_exceeded(
    distribution: Distribution, least: float, most: float
) -> None:
    """It is right for a time-out: few draws are beyond, and it is no more than needed."""
    beyond = sum(value > distribution.high() for value in drawn(distribution)) / COUNT
    assert least <= beyond <= most


@pytest.mark.parametrize(
    "text", ["0s", "uniform:0s,0s", "normal:0s,0s", "lognormal:0s,3", "exponential:0s"]
)
def test_distributions_that_are_always_0_are_zero(text: str) -> None:
    """Every draw gives 0, and `is_zero` is true."""
    distribution = durations(text, "jitter")
    assert distribution.is_zero() and set(drawn(distribution, 100)) == {0}


@pytest.mark.parametrize(
    "text", ["1ns", "uniform:0s,1ns", "normal:0s,1ns", "lognormal:1ns,0", "exponential:1ns"]
)
def test_distributions_that_can_exceed_0_are_not_zero(text: str) -> None:
    """For the smallest parameters that allow another value, `is_zero` is false."""
    assert not durations(text, "jitter").is_zero()


@given(st.floats(0.0, MAX_VALUE))
def test_fractions_are_cut_off(value: float) -> None:
    """The integer below, for all that is not negative."""
    assert clamp(value) == int(value)


def test_whole_numbers_have_limits() -> None:
    """Less than 0 is 0, and more than half of all time is that half."""
    assert [clamp(value) for value in (-1e30, -0.5, 0.0, 0.99, 1.0)] == [0, 0, 0, 0, 1]
    assert (
        clamp(MAX_VALUE) == clamp(MAX_VALUE * 1.5) == clamp(1e300) == clamp(float("inf")) == 2**61
    )


def test_the_greatest_draws_are_cut() -> None:
    """A deviation of 10 takes long durations beyond all time; the draws stay within it."""
    values = drawn(Lognormal(3_600 * 10**9, 10.0), 2_000)
    assert max(values) == 2**61 and 0 < values.count(2**61) < 500


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("uniform:1ms,9ms", [5852236, 4849371, 4419699, 1594466]),
        ("normal:25ms,5ms", [37183730, 24356879, 23096223, 25387745]),
        ("lognormal:40ms,0.5", [135267252, 37508492, 33065876, 41581442]),
        ("exponential:10ms", [9327492, 6561815, 5576768, 772140]),
    ],
)
def test_draws_are_the_same_in_every_build(text: str, values: list[int]) -> None:
    """Another number here would make another run of every scenario."""
    stream = Stream("pinned")
    distribution = durations(text, "delay")
    assert [distribution.draw(stream) for _ in range(4)] == values
