"""Logarithm and exponential: close to those of the C library, and bit by bit the same everywhere."""

from __future__ import annotations

import math
import re
from hashlib import sha256

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from beforehand.simulator.world.arithmetic import exp, ln


@given(st.floats(min_value=0.0, max_value=1e299, exclude_min=True))
@example(5e-324)
@example(0.7071067811865475)
@example(0.7071067811865476)
@example(1.4142135623730951)
@example(1.4142135623730954)
@example(9.99e299)
def test_the_logarithm_of_any_magnitude(x: float) -> None:
    """It is right to a relative 1e-14, from the smallest float on."""
    assert ln(x) == pytest.approx(math.log(x), rel=1e-14, abs=0.0)


@given(st.floats(1e-16, 0.5), st.sampled_from([-1.0, 1.0]))
def test_the_logarithm_near_1(off: float, sign: float) -> None:
    """Close to 1, where the result is close to 0, it loses no digits."""
    x = 1.0 + sign * off
    assert ln(x) == pytest.approx(math.log(x), rel=1e-14, abs=0.0)


@given(st.floats(-90.0, 90.0))
def test_the_exponential_where_distributions_need_it(x: float) -> None:
    """It is right to a relative 1e-14. (The greatest sigma is 10, ten deviations never come.)"""
    assert exp(x) == pytest.approx(math.exp(x), rel=1e-14, abs=0.0)


@given(st.floats(-700.0, 700.0))
@example(700.0)
@example(-700.0)
def test_the_exponential_up_to_its_limits(x: float) -> None:
    """An error in the last place of x is an error of x times that in the result."""
    assert exp(x) == pytest.approx(math.exp(x), rel=1e-14 + abs(x) * 2**-52, abs=0.0)


@given(st.floats(-90.0, 90.0))
def test_the_logarithm_inverts_the_exponential(x: float) -> None:
    """The logarithm of the exponential is what one began with."""
    assert ln(exp(x)) == pytest.approx(x, rel=1e-14, abs=1e-14)


def test_exact_values() -> None:
    """What has an exact result gives it."""
    assert ln(1.0) == 0.0
    assert exp(0.0) == exp(-0.0) == 1.0


@pytest.mark.parametrize("x", [0.0, -0.0, -1.0, 1e300, math.inf, -math.inf, math.nan])
def test_the_logarithm_refuses_invalid_arguments(x: float) -> None:
    """0, negative numbers, the very greatest ones and no numbers are refused, and named."""
    with pytest.raises(ValueError, match=re.escape(f"the logarithm of {x}")):
        ln(x)


@pytest.mark.parametrize("x", [700.1, -700.1, 1e300, math.inf, -math.inf, math.nan])
def test_the_exponential_refuses_invalid_arguments(x: float) -> None:
    """The error names an argument that is not a number, or whose result is not a normal float."""
    with pytest.raises(ValueError, match=re.escape(f"the exponential of {x}")):
        exp(x)


@pytest.mark.parametrize(
    ("x", "bits"),
    [
        (5e-324, "-0x1.74385446d71c3p+9"),
        (1e-300, "-0x1.5963447f87fb5p+9"),
        (2.3283064e-10, "-0x1.62e42ff3da0d8p+4"),
        (0.1, "-0x1.26bb1bbb55515p+1"),
        (0.5, "-0x1.62e42fefa39efp-1"),
        (0.7071067811865475, "-0x1.62e42fefa39f1p-2"),
        (0.7071067811865476, "-0x1.62e42fefa39eep-2"),
        (0.9999999999999999, "-0x1.0000000000000p-53"),
        (1.0000000000000002, "0x1.0000000000000p-52"),
        (1.4142135623730951, "0x1.62e42fefa39f0p-2"),
        (math.pi, "0x1.250d048e7a1bdp+0"),
        (1e6, "0x1.ba18a998fffa0p+3"),
        (1e18, "0x1.4b927f32bffb8p+5"),
        (9.99e299, "0x1.596323b6b9e02p+9"),
    ],
)
def test_the_bits_of_the_logarithm(x: float, bits: str) -> None:
    """They are the same on every machine, compiled or not: runs depend on it."""
    assert ln(x).hex() == bits


@pytest.mark.parametrize(
    ("x", "bits"),
    [
        (-700.0, "0x1.14f2b0fb92f8cp-1010"),
        (-93.7, "0x1.c3c7868d59a7cp-136"),
        (-10.0, "0x1.7cd79b5647c97p-15"),
        (-1.0, "0x1.78b56362cef38p-2"),
        (-0.34657359027997264, "0x1.6a09e667f3bccp-1"),
        (-1e-17, "0x1.0000000000000p+0"),
        (1e-10, "0x1.000000006df38p+0"),
        (0.5, "0x1.a61298e1e069cp+0"),
        (1.0, "0x1.5bf0a8b14576ap+1"),
        (math.pi, "0x1.724046eb09339p+4"),
        (10.0, "0x1.5829dcf950563p+14"),
        (93.7, "0x1.221fb7d477825p+135"),
        (345.678, "0x1.a22ad25ccb717p+498"),
        (700.0, "0x1.d945df4f8ee2dp+1009"),
    ],
)
def test_the_bits_of_the_exponential(x: float, bits: str) -> None:
    """They are the same on every machine, compiled or not: runs depend on it."""
    assert exp(x).hex() == bits


def digest(values: list[float]) -> str:
    """A short digest of every bit of all values."""
    return sha256(" ".join(value.hex() for value in values).encode()).hexdigest()[:12]


def test_the_bits_of_many() -> None:
    """A thousand values of each: a single other bit shows, such as one of a fused operation."""
    assert digest([ln(0.001 + number * 0.37) for number in range(1_000)]) == "5c5bd9df70e5"
    assert digest([exp(number * 0.037 - 20.0) for number in range(1_000)]) == "7c00ab8383ff"
