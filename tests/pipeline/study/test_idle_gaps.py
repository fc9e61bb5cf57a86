"""Long idle gaps are shortened; dense workloads stay as they are."""

from __future__ import annotations

from typing import Any

from beforehand.pipeline.study.idle_gaps import LIMITS, SECOND, shorten
from tests.pipeline.characterise.messages import message

DAY = 86_400 * SECOND


def at(*times: int) -> list[dict[str, Any]]:
    """A message at each of these times."""
    return [message(f"m{number}", "p", "q", time_ns=time) for number, time in enumerate(times)]


def times(rows: list[dict[str, Any]]) -> list[int]:
    """The send times of the rows."""
    return [row["time_ns"] for row in rows]


def test_dense_workloads_are_unchanged() -> None:
    """A single pause does not make a workload sparse."""
    rows = at(5, 7, 60 * SECOND)
    assert shorten(rows, 10) == (rows, None)


def test_days_of_silence_become_seconds() -> None:
    """Rows may come in any order; short pauses and equal times are kept."""
    rows = at(400 * DAY, DAY, DAY + SECOND, DAY, 400 * DAY + 3)
    shortened, limit = shorten(rows, 10)
    assert limit == 10 * SECOND
    assert times(shortened) == [11 * SECOND, 0, SECOND, 0, 11 * SECOND + 3]
    assert times(rows)[0] == 400 * DAY  # the input is unchanged


def test_many_processes_get_a_smaller_limit() -> None:
    """The limit is the largest one that makes the whole run short enough."""
    rows = at(*(n * DAY for n in range(1_001)))
    for processes, limit in ((1, 10), (100, 10), (101, 1), (2_000, 0.1)):
        assert shorten(rows, processes)[1] == limit * SECOND
    shortened, limit_ns = shorten(rows, 10**9)
    assert limit_ns == LIMITS[-1] and times(shortened)[-1] == 1_000 * LIMITS[-1]
