"""The instruments: histograms against sorted values, levels and samples by hand."""

from __future__ import annotations

import pickle
from math import ceil

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from beforehand.simulator.measures.instruments import (
    DurationSummary,
    Gauge,
    Histogram,
    LevelSummary,
    Samples,
)
from beforehand.simulator.world.random_streams import Stream

SHARES = (0.0, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1.0)


def histogram(values: list[int]) -> Histogram:
    """A histogram of some values."""
    result = Histogram()
    for value in values:
        result.add(value)
    return result


def exact(values: list[int], share: float) -> int:
    """The least value that so many do not exceed."""
    return sorted(values)[max(1, ceil(share * len(values))) - 1]


def sizes() -> st.SearchStrategy[int]:
    """Values of all magnitudes."""
    return st.integers(0, 62).flatmap(lambda bits: st.integers(0, 1 << bits))


@given(st.lists(sizes(), min_size=1, max_size=60))
@example([1_023, 1_024, 1_025, 2_047, 2_048, 2_049, 4_095, 4_096, 4_097])
@example([2**62, 2**62 - 1, 0])
def test_quantiles_against_sorted_values(values: list[int]) -> None:
    """Right to a thousandth; count, mean and maximum are exact."""
    result = histogram(values)
    for share in SHARES:
        wanted = exact(values, share)
        assert abs(result.quantile(share) - wanted) * 1_000 <= wanted
    summary = result.summary()
    assert (summary.count, summary.max) == (len(values), max(values))
    assert summary.mean == sum(values) / len(values)
    assert summary.p50 == result.quantile(0.5) and summary.p99 == result.quantile(0.99)


@given(st.lists(st.integers(0, 2_047), min_size=1, max_size=200))
def test_small_values_are_exact(values: list[int]) -> None:
    """Each has a bucket of its own."""
    result = histogram(values)
    assert [result.quantile(share) for share in SHARES] == [
        exact(values, share) for share in SHARES
    ]


@given(sizes(), st.integers(1, 50))
def test_equal_values_are_exact(value: int, count: int) -> None:
    """With constant delays, all quantiles are what they should be to the last digit."""
    summary = histogram([value] * count).summary()
    assert summary == DurationSummary(count, float(value), value, value, value)


def test_many_values() -> None:
    """Ten thousand of them, as latencies might be; among them constant ones, which stay exact."""
    stream = Stream("latencies")
    values = [5_000_000] * 4_000
    values += [5_000_001 + int(stream.below(10**8)) for _ in range(6_000)]
    result = histogram(values)
    assert result.quantile(0.2) == 5_000_000
    for share in SHARES:
        assert result.quantile(share) == pytest.approx(exact(values, share), rel=0.001)


@pytest.mark.parametrize("bits", range(15, 26))
def test_the_largest_error_of_a_bucket(bits: int) -> None:
    """One value as far as possible above a thousand others, but in the same bucket."""
    low = 2**30
    high = low + 2**bits - 1
    result = histogram([low] * 1_000 + [high])
    assert result.quantile(0.5) == pytest.approx(low, rel=0.001)
    assert result.quantile(1.0) == pytest.approx(high, rel=0.001)


@pytest.mark.parametrize("count", [1, 2, 3, 99, 100, 101, 200, 700, 1_000])
def test_ranks(count: int) -> None:
    """Of 1, 2, ... n the median is n / 2 and the 99th percentile 0.99 n, rounded up."""
    summary = histogram(list(range(1, count + 1))).summary()
    assert summary.p50 == -(-count // 2)
    assert summary.p99 == -(-99 * count // 100)


def test_sums_beyond_64_bits() -> None:
    """Neither the mean nor the quantiles of very long durations overflow."""
    summary = histogram([2**62] * 10).summary()
    assert summary == DurationSummary(10, float(2**62), 2**62, 2**62, 2**62)


def test_an_empty_histogram() -> None:
    """All zero."""
    assert Histogram().summary() == DurationSummary(0, 0.0, 0, 0, 0)
    assert Histogram().quantile(0.5) == 0


def test_a_gauge_by_hand() -> None:
    """0 until 10, 3 until 20, 1 until 40, 5 until 50: 30 + 20 + 50 in 50."""
    gauge = Gauge()
    gauge.change(3, 10)
    gauge.change(-2, 20)
    gauge.change(4, 40)
    assert gauge.value == 5
    assert gauge.summary(50) == LevelSummary(peak=5, mean=2.0)


def test_up_and_down_in_one_instant_is_not_a_peak() -> None:
    """Only values that last count: the one at the end of the instant."""
    gauge = Gauge()
    gauge.change(7, 10)
    gauge.change(-7, 10)
    assert gauge.summary(20) == LevelSummary(0, 0.0)
    gauge = Gauge()
    for by in (9, -4, 1, -4):
        gauge.change(by, 10)
    gauge.change(-2, 20)
    assert gauge.summary(20) == LevelSummary(2, 1.0)


def test_a_level_that_lasts_a_nanosecond_is_a_peak() -> None:
    """However short, it was there."""
    gauge = Gauge()
    gauge.change(1_000, 10)
    gauge.change(-1_000, 11)
    assert gauge.summary(100) == LevelSummary(1_000, 10.0)


def test_a_gauge_can_be_set() -> None:
    """Setting is changing by the difference."""
    gauge = Gauge()
    gauge.set(4, 0)
    gauge.set(2, 10)
    gauge.set(2, 15)
    assert gauge.value == 2
    assert gauge.summary(20) == LevelSummary(4, 3.0)


def test_a_summary_may_be_taken_twice() -> None:
    """Nothing is counted double, and the time between is counted."""
    gauge = Gauge()
    gauge.change(2, 0)
    assert gauge.summary(10) == gauge.summary(10) == LevelSummary(2, 2.0)
    gauge.change(-2, 10)
    assert gauge.summary(20) == LevelSummary(2, 1.0)


def test_a_gauge_without_time() -> None:
    """At time 0 there is no mean."""
    assert Gauge().summary(0) == LevelSummary(0, 0.0)


def test_a_gauge_beyond_64_bits() -> None:
    """Many messages for a long time: the area does not overflow."""
    gauge = Gauge()
    gauge.change(10**9, 0)
    assert gauge.summary(2**62) == LevelSummary(10**9, 1e9)


changes = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), max_size=40)


@given(changes, st.integers(1, 5))
def test_a_gauge_against_a_list_of_instants(steps: list[tuple[int, int]], rest: int) -> None:
    """Peak and mean of the value at each nanosecond."""
    gauge = Gauge()
    values: list[int] = []
    now = value = 0
    for number, (pause, level) in enumerate(steps):
        values += [value] * pause
        now += pause
        gauge.set(level, now) if number % 2 else gauge.change(level - value, now)
        value = level
    values += [value] * rest
    assert gauge.summary(now + rest) == LevelSummary(max(values), sum(values) / len(values))


def test_samples_by_hand() -> None:
    """The greatest and the mean of what was seen."""
    samples = Samples()
    assert samples.summary() == LevelSummary(0, 0.0)
    for value in (3, 0, 9, 4):
        samples.add(value)
    assert samples.summary() == LevelSummary(9, 4.0)
    for _ in range(4):
        samples.add(2**62)
    assert samples.summary() == LevelSummary(2**62, (4 * 2**62 + 16) / 8)


def test_results_can_be_sent_to_other_processes() -> None:
    """They survive pickling, in every build."""
    for summary in (DurationSummary(1, 2.5, 3, 4, 5), LevelSummary(7, 0.5)):
        assert pickle.loads(pickle.dumps(summary)) == summary
