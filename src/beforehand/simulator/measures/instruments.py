"""Instruments in constant memory: histograms of durations, gauges over time, and samples."""

from dataclasses import dataclass
from operator import truediv
from typing import Final

from mypy_extensions import i64

PRECISION: Final = 10  # bits: values of one bucket differ by less than a thousandth
EXACT: Final = 1 << PRECISION


@dataclass(frozen=True)
class DurationSummary:
    """The summary of a histogram, in nanoseconds; all zero if nothing was measured."""

    count: int
    mean: float
    p50: int
    p99: int
    max: int

    def __reduce__(self) -> tuple[object, ...]:  # compiled frozen dataclasses need it spelt out
        return (DurationSummary, (self.count, self.mean, self.p50, self.p99, self.max))


@dataclass(frozen=True)
class LevelSummary:
    """The highest value of a quantity, and its mean over time."""

    peak: int
    mean: float

    def __reduce__(self) -> tuple[object, ...]:
        return (LevelSummary, (self.peak, self.mean))


@dataclass(frozen=True)
class SeriesPoint:
    """The state of the whole system at a time, as plotted by Nédelec et al. (2018), figure 5."""

    time_ns: int
    processes: int  # that take part
    entries: float  # about messages, held per process
    most_entries: int  # of one process
    control_per_second: float  # control frames received per process since the last point
    delivered: int  # so far
    delay_ns: int  # of a frame sent now

    def __reduce__(self) -> tuple[object, ...]:
        fields = (self.time_ns, self.processes, self.entries, self.most_entries)
        return (SeriesPoint, (*fields, self.control_per_second, self.delivered, self.delay_ns))


class Histogram:
    """Durations, counted in buckets that grow with the value.

    Below `EXACT` each value has a bucket of its own; above, the buckets of each power of two are
    `EXACT` in number. A bucket also sums its values, so where all values of a bucket are equal, as
    with constant delays, quantiles are exact; elsewhere they are right to a thousandth.
    """

    def __init__(self) -> None:
        self.count: i64 = 0
        self.total: int = 0  # of all values: beyond 64 bits in long runs
        self.largest: i64 = 0
        self._zeros: i64 = 0
        self._counts: list[int] = []  # of the values above 0
        self._totals: list[int] = []

    def add(self, value: i64) -> None:
        """Count a value that is not negative."""
        self.count += 1
        if value == 0:  # the most frequent value in most runs: nothing had to wait
            self._zeros += 1
            return
        shift: i64 = 0
        head = value
        while head >= 2 * EXACT:
            head >>= 1
            shift += 1
        bucket = shift * EXACT + head
        if bucket >= len(self._counts):
            more = int(bucket) + 1 - len(self._counts)
            self._counts.extend([0] * more)
            self._totals.extend([0] * more)
        self._counts[bucket] += 1
        self._totals[bucket] += int(value)
        self.total += int(value)
        if value > self.largest:
            self.largest = value

    def quantile(self, share: float) -> int:
        """The value that this share of all values does not exceed."""
        rank = max(1, -int(-share * float(self.count) // 1))
        seen = int(self._zeros)
        if seen >= rank:
            return 0
        for bucket, count in enumerate(self._counts):
            seen += count
            if seen >= rank:
                return self._totals[bucket] // count
        return 0

    def summary(self) -> DurationSummary:
        """The figures for the result."""
        if self.count == 0:
            return DurationSummary(0, 0.0, 0, 0, 0)
        mean = ratio(self.total, int(self.count))
        return DurationSummary(
            int(self.count), mean, self.quantile(0.5), self.quantile(0.99), int(self.largest)
        )


class Gauge:
    """A quantity, its peak, and the area under it, which divided by time is its mean.

    Only values that last count: what rises and falls within one instant isn't a peak.
    """

    def __init__(self) -> None:
        self.value: i64 = 0
        self._peak: i64 = 0
        self._since: i64 = 0
        self._area: int = 0

    def change(self, by: i64, now: i64) -> None:
        """The value rises or falls."""
        if now > self._since:
            self._settle(now)
        self.value += by

    def set(self, value: i64, now: i64) -> None:
        """The value is now this."""
        self.change(value - self.value, now)

    def _settle(self, now: i64) -> None:
        if self.value > self._peak:
            self._peak = self.value
        self._area += int(self.value) * int(now - self._since)
        self._since = now

    def summary(self, now: i64) -> LevelSummary:
        """The figures for the time until now."""
        self._settle(now)
        return LevelSummary(int(self._peak), ratio(self._area, int(now)))


class Samples:
    """Values that are too costly to follow continuously, measured now and then."""

    def __init__(self) -> None:
        self._count: i64 = 0
        self._total: int = 0
        self._peak: i64 = 0

    def add(self, value: i64) -> None:
        """One more value."""
        self._count += 1
        self._total += int(value)
        if value > self._peak:
            self._peak = value

    def summary(self) -> LevelSummary:
        """The figures for the result."""
        return LevelSummary(int(self._peak), ratio(self._total, int(self._count)))


def ratio(total: int, count: int) -> float:
    """A mean, rounded once; 0 if the count is 0.

    Compiled code would convert both to floats first, and differ in the last bit for large sums.
    """
    return float(truediv(total, count)) if count else 0.0
