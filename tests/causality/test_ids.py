"""Names of processes and messages."""

from __future__ import annotations

import pytest

from beforehand.causality import MAX_PROCESS_NAME, MessageId, check_message, check_process
from beforehand.errors import LocalProtocolError


def test_a_message_prints_as_sender_and_number() -> None:
    """A message id reads well in a sentence."""
    assert str(MessageId("alice", 3)) == "alice#3"


def test_messages_of_one_sender_sort_in_the_order_of_sending() -> None:
    """Number 10 comes after number 9, although it would not as text."""
    assert sorted([MessageId("a", 10), MessageId("a", 9)]) == [
        MessageId("a", 9),
        MessageId("a", 10),
    ]


@pytest.mark.parametrize("name", ["a", "Zoë", "进程", " ", "a#1", "x" * MAX_PROCESS_NAME])
def test_a_good_name_comes_back_unchanged(name: str) -> None:
    """Any text that fits can name a process."""
    assert check_process(name) == name


@pytest.mark.parametrize(
    ("name", "problem", "remedy"),
    [
        ("", "must not be empty", "give the process a name"),
        (7, "must be a str, not int (7)", "str()"),
        (b"alice", "must be a str, not bytes", "str()"),
        (None, "must be a str, not NoneType", "str()"),
        ("\ud800", "lone surrogate", "right encoding"),
        ("x" * (MAX_PROCESS_NAME + 1), "takes 256 bytes", "shorter name"),
        ("é" * 128, "takes 256 bytes", "shorter name"),
    ],
)
def test_a_bad_name_is_refused_with_a_remedy(name: object, problem: str, remedy: str) -> None:
    """What cannot name a process raises an error with the problem and a remedy."""
    with pytest.raises(LocalProtocolError) as caught:
        check_process(name)
    assert problem in str(caught.value)
    assert remedy in str(caught.value)


def test_the_limit_on_names_is_in_bytes() -> None:
    """127 letters of two bytes fit, and one more byte still does."""
    assert check_process("é" * 127 + "x")


@pytest.mark.parametrize("name", ["x" * 10**6, "\ud800" * 10**6, [0] * 10**6])
def test_the_error_about_a_huge_name_is_short_and_printable(name: object) -> None:
    """A megabyte of bad name does not end up in a log, nor a character that no log can encode."""
    with pytest.raises(LocalProtocolError) as caught:
        check_process(name)
    assert len(str(caught.value).encode("ascii")) < 250


def test_a_message_is_not_named_by_text_or_a_bare_tuple() -> None:
    """Misuse is caught at the call rather than reported as an invented message."""
    assert check_message(MessageId("a", 1)) == ("a", 1)
    for wrong in ("alice#1", ("alice", 1), None):
        with pytest.raises(LocalProtocolError, match=r"use MessageId\(sender, number\)"):
            check_message(wrong)
