"""Sparse traffic is made denser, and only that."""

from __future__ import annotations

from typing import Any

from beforehand.pipeline.study.idle_gaps import LIMITS, SECOND, shorten
from tests.pipeline.characterise.messages import message

DAY = 86_400 * SECOND


def at(*times: int) -> list[dict[str, Any]]:
    """A message at each of these times."""
    return [message(f"m{place}", "p", "q", time_ns=time) for place, time in enumerate(times)]


def times(rows: list[dict[str, Any]]) -> list[int]:
    """When they are sent."""
    return [row["time_ns"] for row in rows]


def test_what_is_dense_stays_as_it_is() -> None:
    """Also with a pause in it."""
    rows = at(5, 7, 60 * SECOND)
    assert shorten(rows, 10) == (rows, None)


def test_days_of_quiet_become_seconds() -> None:
    """In any order of the rows; short pauses and equal times are kept."""
    rows = at(400 * DAY, DAY, DAY + SECOND, DAY, 400 * DAY + 3)
    found, limit = shorten(rows, 10)
    assert limit == 10 * SECOND
    assert times(found) == [11 * SECOND, 0, SECOND, 0, 11 * SECOND + 3]
    assert times(rows)[0] == 400 * DAY  # what was given is as it was


def test_many_processes_get_a_smaller_limit() -> None:
    """The largest with which the whole is short enough."""
    rows = at(*(n * DAY for n in range(1_001)))
    for processes, limit in ((1, 10), (100, 10), (101, 1), (2_000, 0.1)):
        assert shorten(rows, processes)[1] == limit * SECOND
    found, limit_ns = shorten(rows, 10**9)
    assert limit_ns == LIMITS[-1] and times(found)[-1] == 1_000 * LIMITS[-1]
