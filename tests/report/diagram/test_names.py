"""Labels and order of processes."""

from __future__ import annotations

from beforehand.report.diagram.names import labels, natural, quoted, some_of

FIRST = "n1@9c017489ccba3459"
RESTARTED = "n1@f164aac3ae2ea23b"


def test_incarnations_are_shown_only_if_necessary() -> None:
    """The bare name if it is unique, then with a few digits of the incarnation, then in full."""
    assert labels([FIRST, "n2@cfc2a92702a355bc"]) == ("n1", "n2")
    assert labels([FIRST, RESTARTED]) == ("n1@9c01", "n1@f164")
    assert labels([FIRST, "n1@9c01ffffffffffff"]) == (FIRST, "n1@9c01ffffffffffff")
    assert labels([FIRST, "n1"]) == ("n1@9c01", "n1")
    assert labels(["me@example", "n1@9c01"]) == ("me@example", "n1@9c01")


def test_labels_are_unique() -> None:
    """Even if some names look like the short forms of others."""
    names = [FIRST, RESTARTED, "n1@9c01", "x@1234@0123456789abcdef", "x@1234567890abcdef", "x@1234"]
    assert len(set(labels(names))) == len(names)


def test_names_are_sorted_naturally() -> None:
    """p2 comes before p10."""
    names = ["p10", "p2", "p1", "a", "p2b", "7", "p"]
    assert sorted(names, key=natural) == ["7", "a", "p", "p1", "p2", "p2b", "p10"]


def test_names_in_sentences() -> None:
    """Short, printable, and a few of many."""
    assert quoted("") == "(no name)" and quoted("a\nb") == "a\\nb"
    assert len(quoted("x" * 10_000)) == 60
    assert some_of(["a", "b", "c", "d", "e"]) == "a, b, c and 2 more"
