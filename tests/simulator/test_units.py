"""Durations, sizes, rates and shares as people write them, and how the wrong ones are refused."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beforehand.errors import ScenarioError
from beforehand.simulator import units


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("0s", 0),
        ("1ns", 1),
        ("3us", 3_000),
        ("5ms", 5_000_000),
        ("2s", 2 * 10**9),
        ("4m", 240 * 10**9),
        ("4min", 240 * 10**9),
        ("24h", 86_400 * 10**9),
        ("2.5s", 2_500_000_000),
        ("0.1us", 100),
        ("0.000000001s", 1),
        ("1.50ms", 1_500_000),
        ("1.0ns", 1),
        (" 5 ms ", 5_000_000),
        ("-0s", 0),
        (0, 0),
        (0.0, 0),
        ("0", 0),
        ("5\N{MICRO SIGN}s", 5_000),
        ("5\N{GREEK SMALL LETTER MU}s", 5_000),
    ],
)
def test_durations(text: str | int, nanoseconds: int) -> None:
    """They are nanoseconds in the end, exactly."""
    assert units.duration(text, "delay") == nanoseconds


@given(st.integers(0, units.LONGEST), st.sampled_from(["ns", "us", "ms", "s"]))
def test_a_duration_with_all_its_digits(nanoseconds: int, unit: str) -> None:
    """Whatever the unit, a fraction that is a whole number of nanoseconds is kept to the last digit."""
    factor = units.NANOSECONDS[unit]
    digits = len(str(factor)) - 1
    text = f"{nanoseconds // factor}.{nanoseconds % factor:0{digits}d}{unit}" if digits else ""
    assert units.duration(text or f"{nanoseconds}ns", "delay") == nanoseconds


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("5", "has no unit; write it like 5ms"),
        (5, "has no unit; write it like 5ms"),
        (5.0, "has no unit; write it like 5ms"),
        (-1, "has no unit; write it like 5ms"),
        ("", "such as 5ms"),
        ("ms", "such as 5ms"),
        ("5 m s", "such as 5ms"),
        ("5ms6us", "such as 5ms"),
        ("1e3ms", "such as 5ms"),
        (".5s", "such as 5ms"),
        ("5.s", "such as 5ms"),
        ("+5s", "such as 5ms"),
        ("5days", "units: ns, us, ms, s, m, min, h"),
        ("5MS", "units: ns, us, ms, s, m, min, h"),
        ("\N{ARABIC-INDIC DIGIT FIVE}s", "such as 5ms"),
        ("nan", "such as 5ms"),
        ("0.5ns", "isn't a whole number"),
        ("1.0000001ms", "isn't a whole number"),
        ("0.0000000001s", "isn't a whole number"),
        ("-1ms", "negative"),
        (True, "such as 5ms"),
        (None, "such as 5ms"),
    ],
)
def test_an_invalid_duration_is_rejected(text: Any, error: str) -> None:
    """The error names the field and the text, and what to write instead."""
    with pytest.raises(ScenarioError, match=f"^jitter: {re.escape(repr(text))} .*{error}"):
        units.duration(text, "jitter")


@pytest.mark.parametrize(
    "text", ["1.00000000000000000000000000000001s", "1000000000000000000.0000000001s"]
)
def test_no_fraction_is_too_small_to_be_refused(text: str) -> None:
    """A fraction of the smallest unit is rejected, however many digits it has."""
    with pytest.raises(ScenarioError, match="isn't a whole number"):
        units.duration(text, "delay")


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("100", 100),
        ("100B", 100),
        ("64kB", 64_000),
        ("1.5kB", 1_500),
        ("2MB", 2_000_000),
        ("1GB", 10**9),
        ("0.001kB", 1),
        (" 7 ", 7),
        (1500, 1500),
        ("0", 0),
    ],
)
def test_sizes(text: str | int, count: int) -> None:
    """They are bytes in the end; a kB is 1,000 of them."""
    assert units.size(text, "payload") == count


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "such as 100, 1500B or 64kB"),
        ("5ms", "units: B, kB, MB, GB"),
        ("5KB", "units: B, kB, MB, GB"),
        ("5kb", "units: B, kB, MB, GB"),
        ("5KiB", "units: B, kB, MB, GB"),
        ("1.5", "isn't a whole number"),
        ("0.0001kB", "isn't a whole number"),
        ("-5", "negative"),
        (-5, "negative"),
        (False, "such as 100"),
        (1.5, "such as 100"),
        (None, "such as 100"),
    ],
)
def test_an_invalid_size_is_rejected(text: Any, error: str) -> None:
    """The error names the field and the text, and what to write instead."""
    with pytest.raises(ScenarioError, match=f"^payload: {re.escape(repr(text))} .*{error}"):
        units.size(text, "payload")


@pytest.mark.parametrize(
    ("text", "count"),
    [("50kB/s", 50_000), ("10MB/s", 10**7), ("1/s", 1), ("1.5kB /s ", 1_500), (9, 9)],
)
def test_rates(text: str | int, count: int) -> None:
    """They are bytes per second in the end."""
    assert units.rate(text, "bandwidth") == count


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("50kB", "write it like 50kB/s"),
        ("50kB/min", "write it like 50kB/s"),
        ("", "write it like 50kB/s"),
        ("/s", "is not a number of bytes"),
        ("fast/s", "is not a number of bytes"),
        ("5ms/s", "units: B, kB, MB, GB"),
        ("-5kB/s", "negative"),
        ("0/s", "never send anything; omit it"),
        ("0kB/s", "never send anything; omit it"),
        (0, "never send anything; omit it"),
        (True, "is not a number of bytes"),
        (1.5, "is not a number of bytes"),
    ],
)
def test_an_invalid_rate_is_rejected(text: Any, error: str) -> None:
    """Also 0, with which nothing would ever leave."""
    with pytest.raises(ScenarioError, match=f"^bandwidth: .*{error}"):
        units.rate(text, "bandwidth")


@pytest.mark.parametrize("value", [0, 1, 0.0, 0.3, 1.0])
def test_shares(value: float) -> None:
    """From 0 to 1, both included."""
    share = units.share(value, "loss")
    assert share == value and isinstance(share, float)


@pytest.mark.parametrize(
    ("text", "share"),
    [("0.3", 0.3), ("30%", 0.3), (" 7 % ", 0.07), ("12.5%", 0.125), ("0%", 0.0), ("100%", 1.0)],
)
def test_shares_as_people_write_them(text: str, share: float) -> None:
    """A percentage is exactly the number that people mean by it."""
    assert units.share(text, "loss") == share


@pytest.mark.parametrize(
    "value",
    [
        -0.01,
        1.01,
        2,
        -1,
        float("nan"),
        float("inf"),
        True,
        False,
        None,
        "",
        "x",
        "101%",
        "-1%",
        "nan",
    ],
)
def test_an_invalid_share_is_rejected(value: object) -> None:
    """The error names the field and the value, and what to give."""
    expected = f"^loss: {re.escape(repr(value))} isn't a share; .*from 0 to 1, such as 0.3"
    with pytest.raises(ScenarioError, match=expected):
        units.share(value, "loss")


@pytest.mark.parametrize(("text", "value"), [("0.5", 0.5), (" 3 ", 3.0), ("-1e3", -1000.0)])
def test_plain_numbers(text: str, value: float) -> None:
    """As Python reads them."""
    assert units.number(text, "rate", "a number") == value


@pytest.mark.parametrize("text", ["", "many", "nan", "inf", "-inf", "1e15", "1,5", "5ms"])
def test_an_invalid_number_is_rejected(text: str) -> None:
    """The error names the field and what it accepts."""
    with pytest.raises(ScenarioError, match=f"^rate: {text!r} is not a number of broadcasts"):
        units.number(text, "rate", "a number of broadcasts")
