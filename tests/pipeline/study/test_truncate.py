"""The beginning of a run is closed: no message is in it without its causes."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from beforehand.errors import PipelineError
from beforehand.pipeline.study.truncate import first_messages
from tests.pipeline.characterise.messages import at_random, message

COLUMNS = pa.schema(
    [
        *((name, pa.string()) for name in ("run", "id", "sender", "kind")),
        ("time_ns", pa.int64()),
        ("after", pa.list_(pa.string())),
    ]
)


def first(rows: list[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    """The first messages as rows."""
    found: list[dict[str, Any]] = first_messages(
        pa.Table.from_pylist(rows, COLUMNS), count
    ).to_pylist()
    return found


@pytest.mark.parametrize("seed", range(10))
def test_causes_are_in_it(seed: int) -> None:
    """Times are drawn at random here, so clocks are wrong most of the time."""
    rows = list(at_random(seed, 100))
    for count in (1, 30, 99, 100, 200):
        found = [row["id"] for row in first(rows, count)]
        assert len(found) == min(count, 100)
        places = {name: place for place, name in enumerate(found)}
        after = {row["id"]: row["after"] for row in rows}
        assert all(places[cause] < places[name] for name in found for cause in after[name])


def test_it_goes_by_time() -> None:
    """Where clocks are right, the earliest are taken."""
    rows = [message(f"m{number}", "p", "q", time_ns=100 - number) for number in range(10)]
    assert [row["id"] for row in first(rows, 3)] == ["m9", "m8", "m7"]


def test_a_cause_that_is_late_puts_its_effects_off() -> None:
    """The clock says that b came first, and that cannot be."""
    rows = [
        message("b", "q", "p", ["a"], time_ns=1),
        message("a", "p", "q", time_ns=9),
        message("c", "r", "p", time_ns=5),
    ]
    assert [row["id"] for row in first(rows, 3)] == ["c", "a", "b"]


@pytest.mark.parametrize("after", [["a"], ["nobody"]])
def test_without_an_order_there_is_no_beginning(after: list[str]) -> None:
    """A message after itself, or after one that does not exist."""
    with pytest.raises(PipelineError, match="the messages have no order .* ingest them again"):
        first([message("a", "p", "q", after)], 1)
