"""Formatting of values, and axes of charts."""

from __future__ import annotations

import math

import pytest

from beforehand.report.model import Value
from beforehand.report.page.axes import scale
from beforehand.report.page.formats import moment, raw, shown, visible
from beforehand.results.schema import Unit


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (461327.0, "time", "461 µs"),
        (999_600, "time", "1 ms"),
        (3.68e9, "time", "3.68 s"),
        (300 * 10**9, "time", "5 min"),
        (0, "time", "0 s"),
        (0.25, "time", "0.25 ns"),
        (2e-5, "seconds", "20 µs"),
        (8.580320094842916, "bytes", "8.58 B"),
        (1584.97, "bytes", "1,585 B"),
        (2_500_000, "bytes", "2.5 MB"),
        (1807, "count", "1,807"),
        (0.0123456, "number", "0.0123"),
        (999.7, "number", "1,000"),
        (0.0000123456, "number", "1.23e-05"),
        (-0.001, "exponent", "0.00"),
        (-0.06, "exponent", "\u22120.06"),
        (0.9945, "share", "99.45 %"),
        (None, "time", "\u2013"),
        (True, "text", "yes"),
        (math.nan, "number", "nan"),
        ("clean", "text", "clean"),
    ],
)
def test_values_are_formatted_with_units(value: Value, kind: Unit, text: str) -> None:
    """Three digits and a unit; unknown values are a dash."""
    assert shown(value, kind) == text


@pytest.mark.parametrize("value", [0.1 + 0.2, 1e-300, 223389.89596015494, 2**60 + 1, -0.0])
def test_raw_values_are_exact(value: float) -> None:
    """Parsing them gives the same number."""
    parsed = type(value)(raw(value))
    assert parsed == value and math.copysign(1, parsed) == math.copysign(1, value)


def test_text_that_a_page_cannot_hold_is_made_visible() -> None:
    """Control characters become control pictures, and lone surrogates are escaped."""
    assert visible("a\x00b\x1b\x7f\x85") == "a\u2400b\u241b\u2421\ufffd"
    assert visible("\ud800").encode() == b"\\ud800"
    assert visible("a\tb\nc") == "a\tb\nc"


def test_timestamps_are_to_the_minute_in_utc() -> None:
    """Text that isn't a timestamp is returned unchanged."""
    assert moment("2026-11-16T19:05:30+01:00") == "2026-11-16 18:05 UTC"
    for text in ("yesterday", "", "9999-12-31T23:59:59-12:00"):
        assert moment(text) == text


def test_values_far_apart_get_a_logarithmic_axis() -> None:
    """Ticks have units and lie within the axis, and zero lies left of all other values."""
    times = scale([0.0, 2.2e5, 4.0e10, None], "time")
    axis = times.axis("latency")
    assert axis["title"]["text"] == "latency (ms to s, log scale)"
    assert times.log and axis["type"] == "log"
    assert axis["ticktext"][0] == "0" and "1 ms" in axis["ticktext"]
    low, high = axis["range"]
    assert all(low < math.log10(tick) < high for tick in axis["tickvals"])
    zero = times.position(0.0)
    assert zero is not None and zero < 2.2e5
    assert times.position(5.0) == 5.0 and times.position(None) is None


def test_values_close_together_get_a_linear_axis_from_zero() -> None:
    """So that differences are drawn to scale."""
    axis = scale([3.0, 4.5], "number").axis("messages")
    assert axis["type"] == "linear" and axis["tickvals"] == [0, 2, 4]
    assert axis["title"]["text"] == "messages"
    assert axis["range"][0] < 0 < 4.5 < axis["range"][1]


@pytest.mark.parametrize("values", [[], [None], [0.0], [1e-12], [5.0, 5.0], [1e-9, 1e12]])
def test_any_values_have_an_axis(values: list[float | None]) -> None:
    """No values, only zeros or a huge range: the axis has a few ticks."""
    for log in (None, True):
        axis = scale(values, "count", log=log).axis("x")
        assert 1 <= len(axis["tickvals"]) <= 7
        assert axis["range"][0] < axis["range"][1]
