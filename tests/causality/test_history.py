"""Happens-before, on histories small enough to follow by hand."""

from __future__ import annotations

from collections.abc import Container

import pytest

from beforehand.causality import CausalSend, Delivery, History, MessageId
from beforehand.errors import LocalProtocolError


def test_section_4_1_figure_1_only_causal_send_and_delivery_count() -> None:
    """Delivered before the causal-send happens before it; delivered after it does not."""
    history = History()
    a, b = history.send("alice", "i"), history.send("bob", "i")
    history.deliver("i", a)
    c = history.send("i", "dave")
    history.deliver("i", b)
    assert history.happens_before(a, c)
    assert not history.happens_before(b, c)
    assert not history.happens_before(c, a)


def test_sends_of_one_process_happen_one_before_the_other() -> None:
    """Case (2) holds whoever the receivers are."""
    history = History()
    first, second = history.send("a", "b"), history.send("a", "c")
    assert history.happens_before(first, second)
    assert not history.happens_before(second, first)
    assert not history.happens_before(first, first)


def test_receiving_processes_alone_relate_nothing() -> None:
    """Two messages delivered one after the other at the same process stay unrelated."""
    history = History()
    a, b = history.send("a", "c"), history.send("b", "c")
    history.deliver("c", a)
    history.deliver("c", b)
    assert not history.happens_before(a, b)
    assert not history.happens_before(b, a)


def test_the_shortest_chain_prefers_the_short_way() -> None:
    """Of a direct way and one through a third process, the direct one is the witness."""
    history = History()
    question = history.send("a", ["b", "c"])
    history.deliver("b", question)
    relayed = history.send("b", "c")
    history.deliver("c", relayed)
    history.deliver("c", question)
    answer = history.send("c", "a")
    assert history.shortest_chain(question, {answer}) == (question, answer)
    assert history.shortest_chain(question, {relayed, answer}) == (question, relayed)
    assert history.shortest_chain(relayed, {answer}) == (relayed, answer)
    assert history.shortest_chain(answer, {question, relayed}) is None


def test_a_process_reached_again_earlier_is_searched_from_there() -> None:
    """The first way into a process may be late; a longer way that enters earlier still counts."""
    history = History()
    start = history.send("a", ["b", "c"])
    history.deliver("b", start)
    relayed = history.send("b", "c")
    history.deliver("c", relayed)
    middle = history.send("c", "d")
    history.deliver("c", start)
    late = history.send("c", "d")
    assert history.shortest_chain(start, {late}) == (start, late)
    assert history.shortest_chain(start, {middle}) == (start, relayed, middle)


def test_logs_may_be_recorded_process_by_process() -> None:
    """A delivery may be recorded before its causal-send: only the order at each process counts."""
    history = History()
    question = MessageId("a", 1)
    history.deliver("b", question)
    answer = history.send("b", "a")
    assert history.happens_before(question, answer)
    assert history.send("a", "b") == question
    assert history.happens_before(question, answer)
    assert not history.happens_before(answer, question)


def test_an_impossible_record_ends_in_a_cycle_and_not_in_an_endless_search() -> None:
    """Two processes that each deliver the other's message before sending their own."""
    history = History()
    a, b = MessageId("a", 1), MessageId("b", 1)
    history.deliver("a", b)
    history.deliver("b", a)
    history.send("a", "b")
    history.send("b", "a")
    assert history.shortest_chain(a, {a}) == (a, b, a)
    assert history.shortest_chain(a, set()) is None


def test_unknown_messages_happen_before_nothing() -> None:
    """An unknown message is not an error: logs have gaps."""
    history = History()
    known = history.send("a", "b")
    assert not history.happens_before(MessageId("z", 1), known)
    assert not history.happens_before(known, MessageId("a", 9))


def test_a_history_can_be_read_back() -> None:
    """Events per process, receivers per message, and sends per process can be read back."""
    history = History()
    message = history.send("b", ["a", "b", "a"])
    history.deliver("a", message)
    assert history.processes == ("a", "b")
    assert history.events("a") == (Delivery(message),)
    assert history.events("b") == (CausalSend(message, frozenset("ab")),)
    assert history.events("z") == ()
    assert history.receivers(message) == frozenset("ab")
    assert history.receivers(MessageId("b", 2)) is None
    assert (history.sends("a"), history.sends("b"), history.sends("z")) == (0, 1, 0)


def test_a_lone_name_is_one_receiver() -> None:
    """A str is not treated as the set of its letters."""
    history = History()
    assert history.receivers(history.send("a", "bob")) == frozenset({"bob"})


def test_a_copy_is_independent() -> None:
    """What is recorded in a copy is not seen by the original, nor the other way round."""
    history = History()
    message = history.send("a", "b")
    twin = history.copy()
    twin.deliver("b", message)
    answer = twin.send("b", "a")
    assert twin.happens_before(message, answer)
    assert history.send("a", "c") == MessageId("a", 2)
    assert not history.happens_before(message, answer)
    assert history.events("b") == ()
    assert twin.sends("a") == 1


def test_misuse_is_refused_and_changes_nothing() -> None:
    """A number out of turn, or a bad name, raises an error and records nothing."""
    history = History()
    with pytest.raises(LocalProtocolError, match=r"its next message is a#1; record every"):
        history.send("a", "b", number=2)
    for process, receivers in (("", "b"), ("a", ""), ("a", ["b", ""])):
        with pytest.raises(LocalProtocolError, match="must not be empty"):
            history.send(process, receivers)
    with pytest.raises(LocalProtocolError, match="must not be empty"):
        history.deliver("", MessageId("a", 1))
    assert history.processes == ()
    assert history.send("a", "b", number=1) == MessageId("a", 1)


class _Counting(Container[MessageId]):
    """An empty set of targets that counts its lookups."""

    def __init__(self) -> None:
        self.asked: list[MessageId] = []

    def __contains__(self, message: object) -> bool:
        assert isinstance(message, MessageId)
        self.asked.append(message)
        return False


def test_a_search_looks_at_each_causal_send_once() -> None:
    """In a dense history, where everything is reached in very many ways, the cost stays linear."""
    history = History()
    names = [f"p{i}" for i in range(10)]
    first = history.send("p0", names)
    sent = [first]
    for turn in range(1000):
        for name in names:
            history.deliver(name, sent[-1])
        sent.append(history.send(names[turn % 10], names))
    targets = _Counting()
    assert history.shortest_chain(first, targets) is None
    assert sorted(targets.asked) == sorted(sent[1:])
