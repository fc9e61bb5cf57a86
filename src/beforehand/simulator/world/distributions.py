"""Random durations and sizes: constant, uniform, normal, lognormal, exponential.

Numbers are drawn from a uniform stream that the caller seeds, by arithmetic that gives the same bits on
every machine (`arithmetic.py`). Negative results become 0. `specs.py` has the syntax.
"""

from math import sqrt
from typing import Final

from mypy_extensions import i64

from beforehand.simulator.world.arithmetic import exp, ln
from beforehand.simulator.world.random_streams import Stream

MAX_VALUE: Final = 2.0**61  # larger draws are clamped: half of MAX_TIME


class Distribution:
    """A distribution of integers that are not negative."""

    def draw(self, stream: Stream) -> i64:
        """One number."""
        raise NotImplementedError

    def high(self) -> i64:
        """A value that is rarely exceeded: for time-outs."""
        raise NotImplementedError

    def is_zero(self) -> bool:
        """Whether every draw gives 0."""
        return self.high() == 0


class Constant(Distribution):
    """Always the same."""

    def __init__(self, value: i64) -> None:
        self.value = value

    def draw(self, stream: Stream) -> i64:
        return self.value

    def high(self) -> i64:
        return self.value


class Uniform(Distribution):
    """Any integer from `low` to `top`, both included."""

    def __init__(self, low: i64, top: i64) -> None:
        self.low = low
        self.top = top

    def draw(self, stream: Stream) -> i64:
        return self.low + i64(stream.uniform() * float(self.top - self.low + 1))

    def high(self) -> i64:
        return self.top


class Normal(Distribution):
    """The normal distribution, clamped at 0."""

    def __init__(self, mean: i64, deviation: i64) -> None:
        self.mean = mean
        self.deviation = deviation

    def draw(self, stream: Stream) -> i64:
        return clamp(float(self.mean) + float(self.deviation) * standard_normal(stream))

    def high(self) -> i64:
        return self.mean + 3 * self.deviation


class Lognormal(Distribution):
    """Its logarithm is normal with deviation `sigma`; half of the values are below the median."""

    def __init__(self, median: i64, sigma: float) -> None:
        self.median = median
        self.sigma = sigma

    def draw(self, stream: Stream) -> i64:
        return clamp(float(self.median) * exp(self.sigma * standard_normal(stream)))

    def high(self) -> i64:
        return clamp(float(self.median) * exp(3.0 * self.sigma))


class Exponential(Distribution):
    """The gaps of a Poisson process."""

    def __init__(self, mean: i64) -> None:
        self.mean = mean

    def draw(self, stream: Stream) -> i64:
        return clamp(-float(self.mean) * ln(1.0 - stream.uniform()))

    def high(self) -> i64:
        return 5 * self.mean


def standard_normal(stream: Stream) -> float:
    """Marsaglia's polar method. Its second number is discarded, so that no state is kept."""
    while True:
        x = 2.0 * stream.uniform() - 1.0
        y = 2.0 * stream.uniform() - 1.0
        square = x * x + y * y
        if 0.0 < square < 1.0:
            return x * sqrt(-2.0 * ln(square) / square)


def clamp(value: float) -> i64:
    """The integer below, between 0 and `MAX_VALUE`."""
    if value <= 0.0:
        return 0
    return i64(value if value < MAX_VALUE else MAX_VALUE)
