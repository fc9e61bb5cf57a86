"""docs/architecture.md cannot go stale: its picture is generated, and its walks name real functions."""

from __future__ import annotations

import pytest

from tests.architecture_page import PAGE, Hop, defines, reduced, revisited, rewritten, walks

TEXT = PAGE.read_text(encoding="utf-8")
WALKS = walks(TEXT)
MAX_FILES = 12  # that a newcomer has to open to follow a message


def test_the_picture_matches_the_rules() -> None:
    """After changing a rule, run `python -m tests.architecture_page --write`."""
    assert rewritten(TEXT) == TEXT


def test_there_are_three_walks() -> None:
    """A message, a trace file, a state: each with enough hops to follow it."""
    assert len(WALKS) == 3
    assert all(sum(map(len, stages)) >= 8 for stages in WALKS.values())


@pytest.mark.parametrize(
    ("title", "hop"),
    [(title, hop) for title, stages in WALKS.items() for hops in stages for hop in hops],
)
def test_every_function_of_a_walk_exists(title: str, hop: Hop) -> None:
    """In the file that the page names."""
    assert defines(hop), f"{title}: {hop.file} has no {hop.function}"


def test_the_walk_of_a_message_is_short() -> None:
    """At most a dozen files, and none of them twice except to return."""
    stages = next(iter(WALKS.values()))
    assert len(stages) == 3  # accepted, sent, received
    assert len({hop.file for hops in stages for hop in hops}) <= MAX_FILES
    assert [revisited(hops) for hops in stages] == [[], [], []]


def test_a_missing_function_is_noticed() -> None:
    """Neither a wrong name nor a wrong file passes."""
    assert defines(Hop("errors.py", "BeforehandError"))
    assert not defines(Hop("errors.py", "NoSuchError"))
    assert not defines(Hop("no/such/file.py", "BeforehandError"))
    assert defines(Hop("causality/oracle.py", "Oracle.deliver"))
    assert not defines(Hop("causality/oracle.py", "Oracle.no_such_method"))


def test_coming_back_to_a_file_that_was_left_is_noticed() -> None:
    """Returning to a caller is fine; visiting a finished file again is not."""

    def hops(files: str) -> list[Hop]:
        return [Hop(file, "f") for file in files]

    assert revisited(hops("abcba")) == []
    assert revisited(hops("abcbd")) == []
    assert revisited(hops("abacab")) == ["b"]


def test_the_picture_omits_implied_edges() -> None:
    """An edge is drawn only if no longer path implies it."""
    rules = {"a": [], "b": ["a"], "c": ["a", "b"]}
    assert reduced(rules) == [("b", "a"), ("c", "b")]
