"""The counts: nothing may be missing from them."""

from __future__ import annotations

import pytest

from beforehand.pipeline.ingest.summary import Tally, summed


def test_a_row_that_got_lost_is_noticed() -> None:
    """It would be an error of this program, so it is an assertion."""
    tallies = [Tally("", "f", "list", "rows", 3), Tally("", "f", "list", "accepted", 2)]
    with pytest.raises(AssertionError, match="rows lost: .*rows=3, accepted=2"):
        summed(tallies, ["f"])
    assert summed([*tallies, Tally("", "f", "list", "duplicates", 1)], ["f"]).total("rows") == 3


def test_a_file_that_got_lost_is_noticed() -> None:
    """Spark passes over some files without a word."""
    with pytest.raises(AssertionError, match="not read"):
        summed([], ["f"])


def test_counts_of_many_tasks_are_added_up() -> None:
    """By file, by run and by flag."""
    tallies = [
        Tally("", "f", "list", "rows", 2, "a note"),
        Tally("", "f", "list", "accepted", 1),
        Tally("", "f", "list", "accepted", 1),
        Tally("", "f", "list", "flagged", 1),
        Tally("", "f", "list", "flag: odd", 1),
        Tally("list\0/d\0", "", "", "messages", 4),
        Tally("list\0/d\0", "", "", "messages", 5),
    ]
    found = summed(tallies, ["f"]).to_dict()
    assert found["files"] == [
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
    assert found["runs"] == [{"run": "d", "messages": 9, "events": 0}]
    assert found["flags"] == {"odd": 1} and found["formats"] == ["list"]
