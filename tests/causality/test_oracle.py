"""The oracle, on runs small enough to judge by eye."""

from __future__ import annotations

import dataclasses

import pytest

from beforehand.causality import MessageId, Oracle, Violation
from beforehand.errors import LocalProtocolError


def kinds(violations: tuple[Violation, ...]) -> list[str]:
    """The kinds of violation, in the order of the report."""
    return [violation.kind for violation in violations]


def overtaken() -> tuple[Oracle, Violation]:
    """alice sends to carol, then to bob; bob sends to carol, who delivers bob's message first."""
    oracle = Oracle()
    first, second = oracle.send("alice", "carol"), oracle.send("alice", "bob")
    assert oracle.deliver("bob", second) == ()
    third = oracle.send("bob", "carol")
    assert oracle.deliver("carol", third) == ()
    (violation,) = oracle.deliver("carol", first)
    return oracle, violation


def test_a_run_in_causal_order_has_no_violations() -> None:
    """The triangle in the right order passes, and everything is counted."""
    oracle = Oracle()
    first, second = oracle.send("alice", "carol"), oracle.send("alice", "bob")
    oracle.deliver("bob", second)
    third = oracle.send("bob", "carol")
    assert oracle.undelivered() == [(first, "carol"), (third, "carol")]
    assert oracle.deliver("carol", first) == oracle.deliver("carol", third) == ()
    assert (oracle.sends, oracle.deliveries) == (3, 3)
    assert oracle.violations == ()
    assert oracle.undelivered() == []


def test_an_answer_before_its_question_is_a_causal_violation() -> None:
    """The violation names both messages, the shortest chain between them, and explains it."""
    oracle, violation = overtaken()
    alice1, alice2, bob1 = MessageId("alice", 1), MessageId("alice", 2), MessageId("bob", 1)
    assert violation == Violation(
        kind="causal",
        process="carol",
        message=alice1,
        early=bob1,
        chain=(alice1, alice2, bob1),
        sentence=(
            "carol delivered bob#1 before alice#1, but alice#1 happened before bob#1: "
            "alice sent alice#1 to carol, then alice#2 to bob; "
            "bob delivered alice#2, then sent bob#1 to carol."
        ),
    )
    assert str(violation).startswith("causal: carol delivered bob#1 before alice#1")
    assert oracle.violations == (violation,)
    with pytest.raises(dataclasses.FrozenInstanceError):
        violation.kind = "fifo"  # type: ignore[misc]


def test_two_messages_of_one_sender_swapped_break_fifo_and_causal_order() -> None:
    """Both are reported, causal first, because each is a promise of its own."""
    oracle = Oracle()
    first, second = oracle.send("alice", "bob"), oracle.send("alice", "bob")
    assert oracle.deliver("bob", second) == ()
    violations = oracle.deliver("bob", first)
    assert kinds(violations) == ["causal", "fifo"]
    for violation in violations:
        assert (violation.message, violation.early) == (first, second)
        assert violation.chain == (first, second)
    assert violations[0].sentence == (
        "bob delivered alice#2 before alice#1, but alice#1 happened before alice#2: "
        "alice sent alice#1 to bob, then alice#2 to bob."
    )
    assert violations[1].sentence == (
        "bob delivered alice#2 before alice#1, but alice sent alice#1 to bob first."
    )


def test_concurrent_messages_may_come_in_any_order() -> None:
    """Two senders that do not know of each other promise nothing."""
    oracle = Oracle()
    a, b = oracle.send("alice", ["carol", "dave"]), oracle.send("bob", ["carol", "dave"])
    for process, message in (("carol", a), ("carol", b), ("dave", b), ("dave", a)):
        assert oracle.deliver(process, message) == ()


def test_a_message_to_oneself_is_not_late_because_of_ones_own_sends() -> None:
    """alice sends to herself, then elsewhere, then delivers: she had delivered nothing after it."""
    oracle = Oracle()
    note = oracle.send("alice", "alice")
    oracle.send("alice", "bob")
    assert oracle.deliver("alice", note) == ()


def test_an_answer_before_the_message_to_oneself_is_a_violation() -> None:
    """The run S0>0 S0>1 R(0>1) S1>0 R(1>0): the answer comes before the note to self."""
    oracle = Oracle()
    note, question = oracle.send("alice", "alice"), oracle.send("alice", "bob")
    oracle.deliver("bob", question)
    answer = oracle.send("bob", "alice")
    assert oracle.deliver("alice", answer) == ()
    (violation,) = oracle.deliver("alice", note)
    assert violation.kind == "causal"
    assert violation.chain == (note, question, answer)
    assert "alice sent alice#1 to itself, then alice#2 to bob; bob" in violation.sentence


def test_notes_to_oneself_in_the_wrong_order_break_fifo() -> None:
    """FIFO holds for the pair of a process and itself too."""
    oracle = Oracle()
    first, second = oracle.send("alice", "alice"), oracle.send("alice", "alice")
    oracle.deliver("alice", second)
    violations = oracle.deliver("alice", first)
    assert kinds(violations) == ["causal", "fifo"]
    assert violations[1].sentence.endswith("but alice sent alice#1 to itself first.")


def test_a_multicast_is_one_message_judged_at_each_receiver() -> None:
    """The answer to a multicast is late at one receiver and fine at the other."""
    oracle = Oracle()
    question = oracle.send("alice", ["bob", "carol", "dave"])
    oracle.deliver("bob", question)
    answer = oracle.send("bob", ["carol", "dave"])
    assert oracle.deliver("carol", question) == oracle.deliver("carol", answer) == ()
    assert oracle.deliver("dave", answer) == ()
    (violation,) = oracle.deliver("dave", question)
    assert violation.chain == (question, answer)
    assert violation.sentence.endswith(
        ": alice sent alice#1 to bob, carol and dave; "
        "bob delivered alice#1, then sent bob#1 to carol and dave."
    )


def test_a_duplicate_is_reported_and_changes_nothing() -> None:
    """A second delivery is a violation of its own, and not one of order."""
    oracle = Oracle()
    first, second = oracle.send("alice", "bob"), oracle.send("alice", "bob")
    oracle.deliver("bob", first)
    oracle.deliver("bob", second)
    before = oracle.fingerprint()
    (violation,) = oracle.deliver("bob", first)
    assert violation == Violation(
        "duplicate",
        "bob",
        first,
        None,
        (),
        "bob delivered alice#1 again, having already delivered it.",
    )
    assert oracle.fingerprint() == before
    assert oracle.deliveries == 2


def test_an_invented_message_is_reported_and_changes_nothing() -> None:
    """It was never sent, or not to that process: either way its clock is not merged."""
    oracle = Oracle()
    (violation,) = oracle.deliver("bob", MessageId("alice", 1))
    assert violation.kind == "invented"
    assert violation.sentence == "bob delivered alice#1, which alice never sent: it sent nothing."
    first, second = oracle.send("alice", "carol"), oracle.send("alice", ["bob", "dave"])
    before = oracle.fingerprint()
    sentences = [
        violation.sentence
        for message in (MessageId("alice", 3), MessageId("alice", 0), first)
        for violation in oracle.deliver("bob", message)
    ]
    assert sentences == [
        "bob delivered alice#3, which alice never sent: its last was alice#2.",
        "bob delivered alice#0, which alice never sent: its last was alice#2.",
        "bob delivered alice#1, which alice sent to carol instead.",
    ]
    assert oracle.fingerprint() == before
    assert oracle.deliveries == 0
    assert oracle.deliver("bob", second) == ()


def test_the_oracle_goes_on_correctly_after_a_violation() -> None:
    """A late message counts as delivered: it is not missing, and later sends depend on it."""
    oracle, _ = overtaken()
    assert oracle.undelivered() == []
    report = oracle.send("carol", "dave")
    again = oracle.send("alice", ["carol", "dave"])
    assert oracle.deliver("dave", again) == ()
    assert oracle.deliver("dave", report) == ()
    assert oracle.deliver("carol", again) == ()
    assert kinds(oracle.deliver("carol", again)) == ["duplicate"]
    assert kinds(oracle.violations) == ["causal", "duplicate"]


def test_a_late_delivery_still_adds_to_its_receivers_past() -> None:
    """erin's message reaches carol only through the late alice#1, and is late after it."""
    oracle = Oracle()
    hidden, passed = oracle.send("erin", "carol"), oracle.send("erin", "alice")
    oracle.deliver("alice", passed)
    first, second = oracle.send("alice", "carol"), oracle.send("alice", "carol")
    oracle.deliver("carol", second)
    assert kinds(oracle.deliver("carol", first)) == ["causal", "fifo"]
    assert kinds(oracle.deliver("carol", hidden)) == ["causal"]


def test_a_number_may_be_given_and_must_be_the_next() -> None:
    """Callers who know the number have it checked, and a wrong one changes nothing."""
    oracle = Oracle()
    assert oracle.send("a", "b", number=1) == MessageId("a", 1)
    for wrong in (0, 1, 3):
        with pytest.raises(LocalProtocolError, match=f"cannot causal-send a#{wrong} now"):
            oracle.send("a", "b", number=wrong)
    assert oracle.send("a", "b", number=2) == MessageId("a", 2)
    assert oracle.sends == 2


def test_misuse_is_an_error_and_not_a_violation() -> None:
    """Bad names of processes and messages are the caller's fault, not a finding about the run."""
    oracle = Oracle()
    with pytest.raises(LocalProtocolError):
        oracle.deliver("", MessageId("a", 1))
    # Compiled code checks the types of arguments itself.
    with pytest.raises((LocalProtocolError, TypeError)):
        oracle.deliver("b", "a#1")  # type: ignore[arg-type]
    with pytest.raises(LocalProtocolError):
        oracle.excuse("")
    assert oracle.violations == ()


def test_the_history_of_an_oracle_is_a_copy() -> None:
    """Changing the returned history does not affect the oracle."""
    oracle, violation = overtaken()
    history = oracle.history
    assert history.happens_before(violation.message, MessageId("bob", 1))
    history.send("alice", "bob")
    assert oracle.send("alice", "bob") == MessageId("alice", 3)
