"""Human-readable figures, names and lists."""

from __future__ import annotations

import pytest

from beforehand.results.format import (
    counted,
    duration,
    elapsed,
    listed,
    number,
    percent,
    printable,
    rate,
    shortened,
    size,
    some,
    timestamp,
)


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (0, "0 s"),
        (0.25, "0.25 ns"),
        (1_500, "1.5 µs"),
        (999_600, "1 ms"),
        (15e6, "15 ms"),
        (119e9, "119 s"),
        (120e9, "2 min"),
        (3 * 3_600e9, "3 h"),
        (2 * 86_400e9, "2 days"),
        (1e18, "31.7 years"),
        (-15e6, "-15 ms"),
    ],
)
def test_durations_have_the_unit_that_fits(nanoseconds: float, text: str) -> None:
    """From nanoseconds to years, with three digits."""
    assert duration(nanoseconds) == text


def test_the_amount_of_a_duration_can_be_formatted_differently() -> None:
    """For estimates, and for times on an axis, which never switch to minutes."""
    assert duration(7_200e9, lambda hours: f"about {hours:.0f}") == "about 2 h"
    assert elapsed(1_234_567) == "1.235 ms" and elapsed(300e9) == "300 s"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "\u2013"),
        (-0.0, "0"),
        (12, "12"),
        (0.0123456, "0.0123"),
        (999.7, "1,000"),
        (1.23456e-5, "1.23e-05"),
    ],
)
def test_numbers_have_three_digits_or_are_whole(value: float | None, text: str) -> None:
    """Unknown values are shown as a dash."""
    assert number(value) == text


def test_sizes_rates_and_shares() -> None:
    """Each with its unit."""
    assert (size(1584.97), size(12_400), size(2.5e9)) == ("1,585 B", "12.4 kB", "2.5 GB")
    assert (rate(12), rate(0.2), rate(3.5 / 3_600)) == (
        "12 per second",
        "12 per minute",
        "3.5 per hour",
    )
    assert rate(1 / 86_400) == "1 per day"
    assert (percent(0.5), percent(0.99987), percent(None)) == ("50 %", "99.99 %", "\u2013")


def test_counts_and_lists() -> None:
    """All of a few names, or the first of many."""
    assert (counted(1, "run"), counted(2000, "run")) == ("1 run", "2,000 runs")
    assert counted(2, "process", "processes") == "2 processes"
    assert (listed([]), listed(["a"]), listed(["a", "b", "c"])) == ("", "a", "a, b and c")
    assert (some(["a", "b"]), some(list("abcde"))) == ("a, b", "a, b, c and 2 more")


def test_untrusted_text_cannot_control_a_terminal() -> None:
    """Unprintable characters are escaped, and long texts are shortened."""
    assert printable("grün") == "grün" and printable("a\x1b[2J\n") == "a\\x1b[2J\\n"
    assert shortened("a" * 70) == "a" * 59 + "…" and shortened("abc") == "abc"


def test_timestamps_are_to_the_minute_in_utc() -> None:
    """Text that isn't a timestamp is returned unchanged."""
    assert timestamp("2026-11-16T19:05:30+01:00") == "2026-11-16 18:05 UTC"
    for text in ("yesterday", "", "9999-12-31T23:59:59-12:00"):
        assert timestamp(text) == text
