"""The sentences of violations, in the cases that are hard to word."""

from __future__ import annotations

import pytest

from beforehand.causality import Oracle


def test_a_sentence_about_many_processes_names_only_the_relevant_ones() -> None:
    """A broadcast to a hundred processes still makes a sentence that a person can follow."""
    oracle = Oracle()
    crowd = [f"p{i:02}" for i in range(100)]
    question = oracle.send("alice", crowd)
    oracle.deliver("p07", question)
    answer = oracle.send("p07", crowd)
    oracle.deliver("p42", answer)
    (violation,) = oracle.deliver("p42", question)
    assert violation.sentence.endswith(
        ": alice sent alice#1 to p07, p42 and 98 others; "
        "p07 delivered alice#1, then sent p07#1 to itself, p42 and 98 others."
    )
    (misled,) = oracle.deliver("bob", question)
    assert (
        misled.sentence == "bob delivered alice#1, which alice sent to p00 and 99 others instead."
    )


@pytest.mark.parametrize(
    ("receivers", "words"),
    [
        ("bob", "bob"),
        (["bob", "carol"], "bob and carol"),
        (["dave", "carol", "bob"], "bob, carol and dave"),
        (["alice", "bob"], "itself and bob"),
        (["bob", "carol", "dave", "erin"], "bob and 3 others"),
        ([], "nobody"),
    ],
)
def test_receivers_are_listed_as_a_person_would(receivers: str | list[str], words: str) -> None:
    """A few receivers are all named, in the order of their names, and many are counted."""
    oracle = Oracle()
    message = oracle.send("alice", receivers)
    (violation,) = oracle.deliver("zoe", message)
    assert violation.sentence == f"zoe delivered alice#1, which alice sent to {words} instead."


def test_a_single_remaining_receiver_is_one_other() -> None:
    """Nobody writes "1 others"."""
    oracle = Oracle()
    question = oracle.send("alice", ["alice", "bob", "carol", "dave"])
    oracle.deliver("bob", question)
    answer = oracle.send("bob", "carol")
    oracle.deliver("alice", question)
    oracle.deliver("carol", answer)
    (violation,) = oracle.deliver("carol", question)
    assert (
        "alice sent alice#1 to itself, bob, carol and 1 other; bob delivered" in violation.sentence
    )


def test_a_chain_is_explained_process_by_process() -> None:
    """What a process delivered and what it then sent is one clause, however long the chain."""
    oracle = Oracle()
    late = oracle.send("alice", "dave")
    for sender, receiver in (("alice", "bob"), ("bob", "carol"), ("carol", "dave")):
        oracle.deliver(receiver, oracle.send(sender, receiver))
    (violation,) = oracle.deliver("dave", late)
    assert violation.sentence == (
        "dave delivered carol#1 before alice#1, but alice#1 happened before carol#1: "
        "alice sent alice#1 to dave, then alice#2 to bob; "
        "bob delivered alice#2, then sent bob#1 to carol; "
        "carol delivered bob#1, then sent carol#1 to dave."
    )
