"""`cykas`: eager messages, secret mode, and the one unacknowledged message for each receiver."""

from __future__ import annotations

import pytest

from beforehand.errors import LocalProtocolError
from beforehand.protocols.effects import Deliver, Held, Transmit, Wait
from beforehand.protocols.sender_side.cykas import Cykas, CykasAck, CykasMessage, CykasYouCanTell
from beforehand.protocols.sender_side.cykas_unsafe import CykasUnsafe


def test_a_message_is_eager_exactly_if_an_older_one_is_unacknowledged() -> None:
    """The first goes as usual, the second eagerly, and after both acks it is as at first."""
    core = Cykas("a")
    assert core.send("b", b"1") == [Transmit("b", CykasMessage(1, False, b"1"))]
    assert core.send("c", b"2") == [Transmit("c", CykasMessage(2, True, b"2"))]
    core.receive("c", CykasAck(2))
    assert core.receive("b", CykasAck(1)) == [Transmit("c", CykasYouCanTell(2))]
    assert core.send("c", b"3") == [Transmit("c", CykasMessage(3, False, b"3"))]


def test_one_message_in_flight_to_each_receiver() -> None:
    """A second one to the same receiver waits, and all behind it wait with it."""
    core = Cykas("a")
    core.send("b", b"1")
    assert core.send("b", b"2") == [] and core.send("c", b"3") == []
    assert core.receive("b", CykasAck(1)) == [
        Transmit("b", CykasMessage(2, False, b"2")),
        Transmit("c", CykasMessage(3, True, b"3")),
    ]


def test_yct_does_not_overtake_its_own_message() -> None:
    """Though all older messages are acknowledged, the YCT waits for the ack of the message itself."""
    core = Cykas("a")
    core.send("b", b"1")
    core.send("c", b"2")
    assert core.receive("b", CykasAck(1)) == []
    assert core.receive("c", CykasAck(2)) == [Transmit("c", CykasYouCanTell(2))]


def test_in_secret_mode_it_delivers_and_acknowledges_but_releases_nothing() -> None:
    """Everything that comes is taken; what the process itself sends waits."""
    core = Cykas("a")
    effects = core.receive("b", CykasMessage(2, True, b"secret"))
    assert effects == [Deliver("b", 2, b"secret"), Transmit("b", CykasAck(2))]
    assert core.send("c", b"1") == []
    assert core.receive("d", CykasMessage(1, False, b"no secret"))[0].__class__ is Deliver
    assert core.send("b", b"2") == [], "not even to the source of the secret"
    assert core.receive("b", CykasYouCanTell(2)) == [
        Transmit("c", CykasMessage(1, False, b"1")),
        Transmit("b", CykasMessage(2, True, b"2")),
    ]


def test_secret_mode_ends_with_the_last_yct() -> None:
    """YCTs may come in any order; the number of them decides."""
    core = Cykas("a")
    core.receive("b", CykasMessage(2, True, b""))
    core.receive("b", CykasMessage(4, True, b""))
    core.receive("c", CykasMessage(7, True, b""))
    core.send("d", b"1")
    assert core.receive("b", CykasYouCanTell(4)) == []
    assert core.receive("c", CykasYouCanTell(7)) == []
    assert core.held()[0].waits == (Wait("you-can-tell", "b", 2),)
    assert len(core.receive("b", CykasYouCanTell(2))) == 1


def test_held_lists_ycts_and_acks() -> None:
    """A message waits for its own ack and for those that the messages ahead of it wait for."""
    core = Cykas("a")
    core.send("b", b"", now=1)
    core.send("c", b"", now=2)
    core.receive("d", CykasMessage(9, True, b""), now=3)
    for now, to in enumerate("bebc", start=4):
        core.send(to, b"", now=now)
    secret = Wait("you-can-tell", "d", 9)
    assert core.held() == [
        Held("a", 3, ("b",), 4, (secret, Wait("ack", "b", 1))),
        Held("a", 4, ("e",), 5, (secret, Wait("ack", "b", 1))),
        Held("a", 5, ("b",), 6, (secret, Wait("ack", "b", 3))),
        Held("a", 6, ("c",), 7, (secret, Wait("ack", "b", 3), Wait("ack", "c", 2))),
    ]


def test_the_order_of_acks_leaves_no_trace() -> None:
    """Two histories that lead to the same situation have the same fingerprint."""
    cores = []
    for order in ("bcd", "dcb", "cbd"):
        core = Cykas("a")
        for to in "bcde":
            core.send(to, b"")
        numbers = dict(zip("bcd", (1, 2, 3), strict=True))
        for peer in order:
            core.receive(peer, CykasAck(numbers[peer]))
        cores.append(core.fingerprint())
    assert cores[0] == cores[1] == cores[2]


def test_multicast_is_refused_with_a_remedy() -> None:
    """Nothing changes, and the error says what to do instead."""
    core = Cykas("a")
    before = core.fingerprint()
    with pytest.raises(LocalProtocolError, match="no multicast.*hybrid"):
        core.send(["b", "c"], b"")
    assert core.fingerprint() == before


def test_the_unsafe_variant_answers_the_last_secret_only() -> None:
    """It may send to the sender of the eager message delivered last, also if that changes."""
    core = CykasUnsafe("a")
    core.receive("b", CykasMessage(2, True, b""))
    assert core.send("c", b"1") == []
    released = core.receive("c", CykasMessage(2, True, b""))
    assert released[-1] == Transmit("c", CykasMessage(1, False, b"1"))
    assert core.send("b", b"2") == []
    assert core.held()[0].waits == (Wait("you-can-tell", "b", 2), Wait("you-can-tell", "c", 2))


def test_wait_lists_count_as_state() -> None:
    """Table 1 of Almeida's hybrid-buffering paper: O(n o + b), here exactly what is waited for."""
    core = Cykas("a")
    empty = core.integers()
    for index in range(10):
        core.send(f"p{index}", b"")
    in_flight, wait_lists = 10, sum(1 + older for older in range(1, 10))
    assert core.integers() - empty == in_flight + wait_lists
