"""What a tick of the hybrids sends again: what may be lost, as it would be sent now, nothing else."""

from __future__ import annotations

import pytest

from beforehand.protocols.effects import Deliver, Transmit
from beforehand.protocols.hybrid.core import HybridCore
from beforehand.protocols.hybrid.csps import Hybrid
from beforehand.protocols.hybrid.frames import HybridAck, HybridMessage, HybridPermit
from beforehand.protocols.hybrid.records import MAX_GROUP_RUN_BYTES, MAX_RUN
from beforehand.protocols.hybrid.sps import HybridSps
from beforehand.protocols.support.windows import MAX_RESENT

both = pytest.mark.parametrize("variant", [Hybrid, HybridSps])


@both
def test_a_quiet_process_sends_nothing(variant: type[HybridCore]) -> None:
    """When all is acknowledged and permitted, a tick is silent."""
    core = variant("a")
    core.send("b", b"1")
    core.receive("b", HybridAck(1))
    core.receive("b", HybridMessage(1, 0, False, (b"x",)))
    assert core.tick() == []


@both
def test_a_lost_message_keeps_its_flag_as_long_as_it_needs_a_permit(
    variant: type[HybridCore],
) -> None:
    """Sent again while an older one is open elsewhere: flagged; after that: plain."""
    core = variant("a")
    core.send("c", b"1")
    core.send("b", b"2")
    assert core.tick() == [
        Transmit("b", HybridMessage(2, 0, True, (b"2",))),
        Transmit("c", HybridMessage(1, 0, False, (b"1",))),
    ]
    assert core.receive("c", HybridAck(1)) == [Transmit("b", HybridPermit(2))]
    assert core.tick() == [Transmit("b", HybridMessage(2, 0, False, (b"2",)))]


@both
def test_equal_states_tick_alike(variant: type[HybridCore]) -> None:
    """The order in which a process met its peers makes no difference, not even to the order of sends."""
    cores = [variant("a"), variant("a")]
    for core, order in zip(cores, ("bc", "cb"), strict=True):
        for peer in order:
            core.receive(peer, HybridMessage(1, 0, False, (b"x",)))
        core.send("b", b"1")
        core.send("c", b"2")
    assert cores[0].fingerprint() == cores[1].fingerprint()
    assert cores[0].tick() == cores[1].tick() != []


@both
def test_a_tick_does_not_flood_a_peer(variant: type[HybridCore]) -> None:
    """After an outage the oldest records go first, a bounded number to each peer and tick."""
    core = variant("a")
    for number in range(500):
        core.send("bc"[number % 2], b"x")
    again = [effect for effect in core.tick() if isinstance(effect, Transmit)]
    assert len(again) == 2 * MAX_RESENT
    first = [effect.frame.key()[0] for effect in again if effect.to == "b"]
    assert first == list(range(1, 2 * MAX_RESENT, 2))


@both
def test_held_messages_do_not_leave_on_a_tick(variant: type[HybridCore]) -> None:
    """A message that waits for a permit is not sent; the ack that asks for the permit is."""
    core = variant("a")
    core.receive("b", HybridMessage(2, 0, True, (b"secret",)))
    core.send("c", b"waits")
    assert core.tick() == [Transmit("b", HybridAck(2))]
    assert core.receive("b", HybridPermit(2)) == [
        Transmit("c", HybridMessage(1, 0, False, (b"waits",)))
    ]


@both
def test_only_peers_whose_permits_are_missing_are_asked(variant: type[HybridCore]) -> None:
    """Plain messages ask for nothing, however long ago they came."""
    core = variant("a")
    core.receive("b", HybridMessage(1, 0, False, (b"plain",)))
    core.receive("c", HybridMessage(2, 0, True, (b"secret",)))
    assert core.tick() == [Transmit("c", HybridAck(2))]


@both
def test_a_repeated_ack_is_answered_with_the_latest_permit_and_an_older_one_is_not(
    variant: type[HybridCore],
) -> None:
    """Only an ack at the highest seen can mean that the permit is missing."""
    core = variant("a")
    for number in range(3):
        core.send("c", b"x")
        core.send("b", b"%d" % number)
    core.receive("c", HybridAck(5))
    core.receive("b", HybridAck(6))
    assert core.receive("b", HybridAck(6)) == [Transmit("b", HybridPermit(6))]
    assert core.receive("b", HybridAck(4)) == [], "an old ack that was delayed"
    plain = variant("a")
    plain.send("b", b"x")
    plain.receive("b", HybridAck(1))
    assert plain.receive("b", HybridAck(1)) == [], "nothing was flagged, so nothing is permitted"


@both
def test_old_and_repeated_permits_do_nothing(variant: type[HybridCore]) -> None:
    """Permits are cumulative: the highest one counts, in whatever order they come."""
    core = variant("a")
    core.receive("b", HybridPermit(7))
    before = core.fingerprint()
    assert core.receive("b", HybridPermit(7)) == [] and core.receive("b", HybridPermit(3)) == []
    assert core.fingerprint() == before
    core.receive("b", HybridMessage(5, 0, True, (b"permitted",)))
    assert core.send("c", b"goes at once")


@both
def test_a_long_run_is_several_records_and_still_one_run(variant: type[HybridCore]) -> None:
    """More than a record holds: none of it flagged, all of it delivered, each once."""
    a, b = variant("a"), variant("b")
    payloads = [b"%d" % number for number in range(2 * MAX_RUN + 5)]
    sent = a.send_many("b", payloads)
    frames = [effect.frame for effect in sent if isinstance(effect, Transmit)]
    assert [frame.messages() for frame in frames] == [MAX_RUN, MAX_RUN, 5]
    delivered = []
    for frame in reversed(frames):
        assert isinstance(frame, HybridMessage) and not frame.flagged
        effects = b.receive("a", frame)
        delivered += [effect.payload for effect in effects if isinstance(effect, Deliver)]
    assert delivered == payloads
    assert a.receive("b", HybridAck(len(payloads))) == [] and len(a.runs) == 0


@both
def test_multicast_records_fit_a_datagram(variant: type[HybridCore]) -> None:
    """A batch to several receivers is cut by size, and a message larger than that goes alone."""
    a = variant("a")
    small, large = bytes(500), bytes(5_000)
    sent = a.send_many(["b", "c"], [small, small, small, large, small])
    sizes = [
        [len(payload) for payload in effect.frame.payloads]
        for effect in sent
        if isinstance(effect, Transmit)
        and effect.to == "b"
        and isinstance(effect.frame, HybridMessage)
    ]
    assert sizes == [[500, 500], [500], [5_000], [500]]
    assert all(len(record) == 1 or sum(record) <= MAX_GROUP_RUN_BYTES for record in sizes)


@both
def test_early_messages_report_what_they_wait_for(variant: type[HybridCore]) -> None:
    """A message whose predecessor is missing is held at the receiver, since it came."""
    core = variant("a")
    assert core.receive("b", HybridMessage(4, 2, False, (b"x", b"y")), now=17) == []
    first, second = core.held()
    assert (first.sender, first.message_id, first.receivers, first.since) == ("b", 4, ("a",), 17)
    assert second.message_id == 5
    assert [(wait.kind, wait.peer, wait.message_id) for wait in first.waits] == [
        ("message", "b", 2)
    ]


@both
def test_held_messages_know_since_when(variant: type[HybridCore]) -> None:
    """Each message of a run that waits has the time of its own causal-send."""
    core = variant("a")
    core.receive("b", HybridMessage(2, 0, True, (b"secret",)), now=1)
    core.send("c", b"x", now=5)
    core.send_many("c", [b"y", b"z"], now=9)
    assert [(held.message_id, held.since) for held in core.held()] == [(1, 5), (2, 9), (3, 9)]
