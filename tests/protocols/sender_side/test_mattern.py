"""`mattern`: one output buffer, one acknowledgement at a time, on a network that loses."""

from __future__ import annotations

import pytest

from beforehand.errors import LocalProtocolError
from beforehand.protocols.effects import Deliver, Effect, Held, Transmit, Wait
from beforehand.protocols.sender_side.mattern import Mattern, MatternAck, MatternMessage
from beforehand.protocols.support.windows import MAX_RESENT


def frames(effects: list[Effect]) -> list[tuple[str, object]]:
    """(to, frame) of what leaves."""
    return [(effect.to, effect.frame) for effect in effects if isinstance(effect, Transmit)]


def test_one_message_at_a_time() -> None:
    """The second message leaves when the first is acknowledged, also to the same receiver."""
    core = Mattern("a")
    assert frames(core.send("b", b"1")) == [("b", MatternMessage(1, 0, b"1"))]
    assert core.send("b", b"2") == []
    assert frames(core.receive("b", MatternAck(1))) == [("b", MatternMessage(2, 1, b"2"))]


def test_delivery_comes_before_its_ack() -> None:
    """Effects come in the order in which they must be carried out."""
    core = Mattern("b")
    effects = core.receive("a", MatternMessage(1, 0, b"1"))
    assert effects == [Deliver("a", 1, b"1"), Transmit("a", MatternAck(1))]


def test_a_duplicate_is_acknowledged_and_not_delivered() -> None:
    """The ack may have been lost: the receiver sends it again."""
    core = Mattern("b")
    core.receive("a", MatternMessage(1, 0, b"1"))
    core.receive("a", MatternMessage(4, 1, b"4"))
    again = core.receive("a", MatternMessage(1, 0, b"1"))
    assert again == [Transmit("a", MatternAck(4))]


def test_tick_sends_again_what_is_in_flight_only() -> None:
    """What waits behind has not been released and stays where it is."""
    core = Mattern("a")
    first = core.send("b", b"1")
    core.send("c", b"2")
    assert core.tick() == first
    core.receive("b", MatternAck(1))
    assert frames(core.tick()) == [("c", MatternMessage(2, 0, b"2"))]


def test_old_acks_change_nothing() -> None:
    """An ack that the network repeats later releases nothing."""
    core = Mattern("a")
    core.send("b", b"1")
    core.send("b", b"2")
    core.send("c", b"3")
    core.receive("b", MatternAck(1))
    before = core.fingerprint()
    assert core.receive("b", MatternAck(1)) == []
    assert core.fingerprint() == before
    core.receive("b", MatternAck(2))
    assert core.receive("b", MatternAck(2)) == []


def test_pipelined_acks_are_cumulative() -> None:
    """One ack covers all before it, and the next receiver follows when all are covered."""
    core = Mattern("a", fifo_links=True)
    core.send_many("b", [b"1", b"2", b"3"])
    assert core.send("c", b"4") == []
    assert core.receive("b", MatternAck(2)) == []
    assert frames(core.receive("b", MatternAck(3))) == [("c", MatternMessage(4, 0, b"4"))]


def test_pipelined_receivers_take_only_the_next_in_line() -> None:
    """A message whose predecessor is missing is ignored: it will come again."""
    core = Mattern("b")
    before = core.fingerprint()
    assert core.receive("a", MatternMessage(3, 1, b"3")) == []
    assert core.fingerprint() == before
    core.receive("a", MatternMessage(1, 0, b"1"))
    assert core.receive("a", MatternMessage(3, 1, b"3"))[0] == Deliver("a", 3, b"3")


def test_a_tick_resends_no_more_than_can_be_used() -> None:
    """A long pipeline does not make one tick arbitrarily long; the oldest go first."""
    core = Mattern("a", fifo_links=True)
    core.send_many("b", [b""] * (MAX_RESENT + 10))
    resent = frames(core.tick())
    assert len(resent) == MAX_RESENT
    assert resent[0] == ("b", MatternMessage(1, 0, b""))


@pytest.mark.parametrize("fifo_links", [False, True])
def test_held_names_the_one_ack_that_is_missing(fifo_links: bool) -> None:
    """Each held message names the ack that releases it; pipelined, a run waits for the same one."""
    core = Mattern("a", fifo_links)
    core.send("b", b"", now=1)
    for now, to in enumerate("ccb", start=2):
        core.send(to, b"", now=now)
    third = Wait("ack", "b", 1) if fifo_links else Wait("ack", "c", 2)
    assert core.held() == [
        Held("a", 2, ("c",), 2, (Wait("ack", "b", 1),)),
        Held("a", 3, ("c",), 3, (third,)),
        Held("a", 4, ("b",), 4, (Wait("ack", "c", 3),)),
    ]


def test_multicast_is_refused_with_a_remedy() -> None:
    """Nothing is sent, nothing is counted, and the error says what to do instead."""
    core = Mattern("a")
    before = core.fingerprint()
    with pytest.raises(LocalProtocolError, match="no multicast.*hybrid"):
        core.send(["b", "c"], b"")
    with pytest.raises(LocalProtocolError, match="no multicast"):
        core.send_many(["b", "c"], [b"", b""])
    assert core.fingerprint() == before


def test_to_oneself_and_one_other_is_not_a_multicast() -> None:
    """The copy to oneself is delivered at once and never travels."""
    core = Mattern("a")
    effects = core.send(["a", "b"], b"1")
    assert effects == [Transmit("b", MatternMessage(1, 0, b"1")), Deliver("a", 1, b"1")]


def test_metadata_is_constant() -> None:
    """Table 1 of Almeida: O(b) integers at the process, whatever the number of processes."""
    core = Mattern("a")
    empty = core.integers()
    for index in range(100):
        core.send(f"p{index % 50}", b"")
    assert core.integers() - empty == 2 * 100 + 1, "two for each message, one for the receiver"
