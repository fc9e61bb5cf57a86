"""What never arrived at the end of a run, and what is excused from arriving."""

from __future__ import annotations

from beforehand.causality import MessageId, Oracle


def test_a_process_that_is_gone_excuses_what_cannot_arrive() -> None:
    """Nothing to it or by it is missing any more, whether sent before or after it went."""
    oracle = Oracle()
    to_bob = oracle.send("alice", ["bob", "carol"])
    oracle.send("bob", "carol")
    oracle.excuse("bob")
    oracle.send("alice", "bob")
    assert oracle.undelivered() == [(to_bob, "carol")]


def test_a_process_that_is_gone_is_still_judged() -> None:
    """What it sent and does arrive must arrive in order."""
    oracle = Oracle()
    first, second = oracle.send("bob", "carol"), oracle.send("bob", "carol")
    oracle.excuse("bob")
    oracle.deliver("carol", second)
    assert [v.kind for v in oracle.deliver("carol", first)] == ["causal", "fifo"]


def test_the_undelivered_come_sorted() -> None:
    """The list is the same whatever the order of the run: by sender, number, receiver."""
    oracle = Oracle()
    oracle.send("b", ["z", "y"])
    oracle.send("a", "x")
    assert oracle.undelivered() == [
        (MessageId("a", 1), "x"),
        (MessageId("b", 1), "y"),
        (MessageId("b", 1), "z"),
    ]


def test_a_message_to_nobody_is_never_missing() -> None:
    """It takes a number, happens before what follows, and no process waits for it."""
    oracle = Oracle()
    oracle.send("a", [])
    assert oracle.undelivered() == []
    (violation,) = oracle.deliver("b", MessageId("a", 1))
    assert violation.sentence == "b delivered a#1, which a sent to nobody instead."
