"""`ReliableLink`: exactly once and in order over a network that does neither."""

from __future__ import annotations

import pytest

from beforehand import protocols
from beforehand.errors import LocalProtocolError, PeerDroppedError, RemoteProtocolError
from beforehand.protocols.controls import Raw, RawMessage
from beforehand.protocols.effects import Deliver, Held, Transmit, Wait
from beforehand.protocols.fence import Fenced
from beforehand.protocols.reliable import ReliableLink, Segment, SegmentAck
from beforehand.protocols.sender_side.cykas import Cykas, CykasAck, CykasMessage
from beforehand.protocols.sender_side.mattern import Mattern, MatternMessage
from tests.support.network import World


def segment(seq: int) -> Segment:
    """The seq-th message of a raw core."""
    return Segment(seq, RawMessage(seq, b"%d" % seq))


def test_frames_are_numbered_for_each_peer() -> None:
    """The sequence is that of the link, not of the messages."""
    link = ReliableLink(Raw("a"))
    assert link.send(["b", "c"], b"1") == [
        Transmit("b", Segment(1, RawMessage(1, b"1"))),
        Transmit("c", Segment(1, RawMessage(1, b"1"))),
    ]
    assert link.send("c", b"2") == [Transmit("c", Segment(2, RawMessage(2, b"2")))]
    assert link.sent == 2


def test_segments_are_used_in_order_and_once() -> None:
    """Early ones wait; each answer acknowledges all that has been used."""
    link = ReliableLink(Raw("b"))
    assert link.receive("a", segment(3), now=9) == []
    assert link.held() == [Held("a", 3, ("b",), 9, (Wait("segment", "a", 2),))]
    assert link.receive("a", segment(1)) == [Deliver("a", 1, b"1"), Transmit("a", SegmentAck(1))]
    assert link.receive("a", segment(2)) == [
        Deliver("a", 2, b"2"),
        Deliver("a", 3, b"3"),
        Transmit("a", SegmentAck(3)),
    ]
    assert link.receive("a", segment(2)) == [Transmit("a", SegmentAck(3))]
    assert link.held() == []


def test_tick_resends_what_is_not_acknowledged() -> None:
    """Until the cumulative ack comes; acks are not acknowledged themselves."""
    link = ReliableLink(Raw("a"))
    sent = link.send("b", b"1") + link.send("b", b"2") + link.send("c", b"3")
    assert link.tick() == sent
    assert link.receive("b", SegmentAck(2)) == []
    assert link.tick() == sent[2:]
    link.receive("c", SegmentAck(1))
    assert link.tick() == []


def test_tick_reaches_the_inner_core() -> None:
    """Whatever it wants to send then travels in new segments."""
    link = ReliableLink(Mattern("a"))
    link.send("b", b"1")
    link.receive("b", SegmentAck(1))
    assert link.tick() == [Transmit("b", Segment(2, MatternMessage(1, 0, b"1")))]


def test_control_frames_travel_in_segments_too() -> None:
    """Whatever the inner core transmits is made reliable, and may be an answer."""
    link = ReliableLink(Cykas("b"))
    assert link.receive("a", Segment(1, CykasMessage(1, False, b"1"))) == [
        Deliver("a", 1, b"1"),
        Transmit("a", Segment(1, CykasAck(1))),
        Transmit("a", SegmentAck(1)),
    ]


def test_a_frame_that_the_core_refuses_is_refused_whole() -> None:
    """Nothing changes, and the right segment can still come."""
    link = ReliableLink(Raw("b"))
    before = link.fingerprint()
    with pytest.raises(RemoteProtocolError, match="a: CykasAck isn.t a frame of raw"):
        link.receive("a", Segment(1, CykasAck(1)))
    assert link.fingerprint() == before
    assert link.receive("a", segment(1))[0] == Deliver("a", 1, b"1")


def test_a_bad_frame_that_came_early_does_not_take_good_ones_with_it() -> None:
    """What precedes it is delivered, what follows it waits, and its next copy is refused."""
    link = ReliableLink(Raw("b"))
    link.receive("a", segment(3))
    link.receive("a", Segment(2, CykasAck(1)))
    assert link.receive("a", segment(1)) == [Deliver("a", 1, b"1"), Transmit("a", SegmentAck(1))]
    with pytest.raises(RemoteProtocolError, match="a frame of raw"):
        link.receive("a", Segment(2, CykasAck(1)))
    assert len(link.receive("a", segment(2))) == 3


def test_drops_are_handled_by_the_inner_core() -> None:
    """The dropped peer is ignored, not sent to, and forgotten; the fence is inside the segments."""
    link = ReliableLink(Raw("a"))
    link.send("d", b"1")
    link.receive("d", segment(2))
    assert link.drop("d") == [] and link.dropped() == {"d"}
    assert link.tick() == [] and link.held() == []
    assert link.receive("d", segment(1)) == [] and link.receive("d", SegmentAck(1)) == []
    with pytest.raises(PeerDroppedError):
        link.send("d", b"2")
    fenced = Segment(1, Fenced(0, ("d",), 0, RawMessage(2, b"2")))
    assert link.send("b", b"2") == [Transmit("b", fenced)]
    peer = ReliableLink(Raw("b"))
    peer.send("d", b"1")
    peer.receive("a", fenced)
    assert peer.dropped() == {"d"} and peer.tick() == []


def test_two_drops_in_one_frame_leave_no_stream_to_a_dropped_peer() -> None:
    """The first drop may make the core send to the second peer; nothing of it is kept."""
    link = ReliableLink(Cykas("a"))
    link.send("d", b"1")
    link.send("e", b"2")
    link.receive("e", SegmentAck(1))
    link.receive("e", Segment(1, CykasAck(2)))
    both = Segment(1, Fenced(0, ("d", "e"), 0, CykasMessage(1, False, b"")))
    effects = link.receive("b", both)
    assert {effect.to for effect in effects if isinstance(effect, Transmit)} == {"b"}
    assert {effect.to for effect in link.tick() if isinstance(effect, Transmit)} == {"b"}


def test_misuse_reaches_the_caller_and_changes_nothing() -> None:
    """The errors of the inner core are those of the link."""
    link = ReliableLink(protocols.create("cykas", "a"))
    before = link.fingerprint()
    with pytest.raises(LocalProtocolError, match="no multicast"):
        link.send(["b", "c"], b"")
    with pytest.raises(LocalProtocolError, match="payload"):
        link.send("b", "text")
    assert link.fingerprint() == before


@pytest.mark.parametrize("seed", range(60))
def test_raw_in_a_link_is_exactly_once_and_fifo(seed: int) -> None:
    """Over loss, duplication and reordering the inner core sees a reliable network with FIFO links."""
    names = "abcde"[: 2 + seed % 4]
    world = World({name: ReliableLink(Raw(name)) for name in names}, seed, 0.25, 0.25, mirror=True)
    world.run_random(25, multicast=True)
    assert not world.undelivered(), world.about()
    for messages in world.delivered.values():
        for sender in names:
            numbers = [message.number for message in messages if message.sender == sender]
            assert numbers == sorted(set(numbers)), world.about()
    assert world.lost and world.duplicated, world.about()
