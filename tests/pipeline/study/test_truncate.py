"""The beginning of a run is causally closed: it contains the causes of all its messages."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from beforehand.errors import PipelineError
from beforehand.pipeline.study.truncate import first_messages
from tests.pipeline.characterise.messages import message, random_messages

COLUMNS = pa.schema(
    [
        *((name, pa.string()) for name in ("run", "id", "sender", "kind")),
        ("time_ns", pa.int64()),
        ("after", pa.list_(pa.string())),
    ]
)


def first(rows: list[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    """The first messages as rows."""
    table = pa.Table.from_pylist(rows, COLUMNS)
    messages: list[dict[str, Any]] = first_messages(table, count).to_pylist()
    return messages


@pytest.mark.parametrize("seed", range(10))
def test_causes_are_included_and_come_first(seed: int) -> None:
    """Times are random here, so most clocks are wrong."""
    rows = list(random_messages(seed, 100))
    for count in (1, 30, 99, 100, 200):
        ids = [row["id"] for row in first(rows, count)]
        assert len(ids) == min(count, 100)
        indices = {name: index for index, name in enumerate(ids)}
        after = {row["id"]: row["after"] for row in rows}
        assert all(indices[cause] < indices[name] for name in ids for cause in after[name])


def test_messages_are_taken_by_time() -> None:
    """With correct clocks, the earliest messages are taken."""
    rows = [message(f"m{number}", "p", "q", time_ns=100 - number) for number in range(10)]
    assert [row["id"] for row in first(rows, 3)] == ["m9", "m8", "m7"]


def test_a_late_cause_delays_its_effects() -> None:
    """By its clock, b is first, but its cause has to precede it."""
    rows = [
        message("b", "q", "p", ["a"], time_ns=1),
        message("a", "p", "q", time_ns=9),
        message("c", "r", "p", time_ns=5),
    ]
    assert [row["id"] for row in first(rows, 3)] == ["c", "a", "b"]


@pytest.mark.parametrize("after", [["a"], ["nobody"]])
def test_messages_without_an_order_are_refused(after: list[str]) -> None:
    """A message follows itself, or one that does not exist."""
    with pytest.raises(PipelineError, match="the messages have no order .* ingest them again"):
        first([message("a", "p", "q", after)], 1)
