"""The summary accounts for every row."""

from __future__ import annotations

import pytest

from beforehand.pipeline.ingest.summary import Tally, summed


def test_a_lost_row_is_noticed() -> None:
    """It would be a bug in this program, so it is an assertion."""
    tallies = [Tally("", "f", "list", "rows", 3), Tally("", "f", "list", "accepted", 2)]
    with pytest.raises(AssertionError, match="rows lost: .*rows=3, accepted=2"):
        summed(tallies)
    assert summed([*tallies, Tally("", "f", "list", "duplicates", 1)]).total("rows") == 3


def test_counts_of_many_tasks_are_added_up() -> None:
    """Counts are added by file, by run and by flag."""
    tallies = [
        Tally("", "f", "list", "rows", 2, "a note"),
        Tally("", "f", "list", "accepted", 1),
        Tally("", "f", "list", "accepted", 1),
        Tally("", "f", "list", "flagged", 1),
        Tally("", "f", "list", "flag: odd", 1),
        Tally("list\0/d\0", "", "", "messages", 4),
        Tally("list\0/d\0", "", "", "messages", 5),
    ]
    summary = summed(tallies).to_dict()
    assert summary["files"] == [
        {
            "file": "f",
            "format": "list",
            "rows": 2,
            "accepted": 2,
            "rejected": 0,
            "duplicates": 0,
            "flagged": 1,
            "note": "a note",
        }
    ]
    assert summary["runs"] == [{"run": "d", "messages": 9, "events": 0}]
    assert summary["flags"] == {"odd": 1} and summary["formats"] == ["list"]
