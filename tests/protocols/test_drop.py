"""Peers that are gone for good: the others go on, and no process sees an effect without its cause."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from beforehand import protocols
from beforehand.errors import LocalProtocolError, PeerDroppedError, RemoteProtocolError
from beforehand.protocols.core import Core
from beforehand.protocols.effects import Deliver, Effect, Transmit
from beforehand.protocols.fence import Fenced
from beforehand.protocols.hybrid.frames import HybridAck, HybridMessage, HybridPermit
from tests.support.groups import core_of
from tests.support.network import World, unwrapped

HYBRIDS = ["hybrid", "hybrid-sps"]
BROADCASTS = ["newtop", "vector"]


def transmits(effects: list[Effect]) -> list[tuple[str, object]]:
    """(to, frame without fence) of what leaves."""
    return [(e.to, unwrapped(e.frame)) for e in effects if isinstance(e, Transmit)]


@pytest.mark.parametrize("protocol", HYBRIDS)
def test_a_dead_receiver_holds_up_no_permit(protocol: str) -> None:
    """Without the drop nobody would ever get a permit again; with it, it goes out at once."""
    a = protocols.create(protocol, "a")
    a.send("dead", b"1")
    a.send("b", b"2")
    a.receive("b", HybridAck(2))
    assert transmits(a.drop("dead")) == [("b", HybridPermit(2))]
    assert a.dropped() == {"dead"} and a.tick() == []


@pytest.mark.parametrize("protocol", HYBRIDS)
def test_a_dead_sender_holds_up_no_release(protocol: str) -> None:
    """What waits for a permit of the dropped peer goes; its own early messages are discarded."""
    a = protocols.create(protocol, "a")
    a.receive("dead", HybridMessage(2, 0, True, (b"flagged",)))
    a.receive("dead", HybridMessage(5, 4, False, (b"early",)))
    a.send("b", b"waits")
    assert len(a.held()) == 2
    ((to, frame),) = transmits(a.drop("dead"))
    assert (to, frame) == ("b", HybridMessage(1, 0, False, (b"waits",)))
    assert a.held() == []


@pytest.mark.parametrize("protocol", HYBRIDS)
def test_a_multicast_that_waits_only_for_the_dropped_peer_completes(protocol: str) -> None:
    """The others are permitted as if it had acknowledged, sent or not."""
    a = protocols.create(protocol, "a")
    a.send(["b", "c", "dead"], b"1")
    a.receive("b", HybridAck(1))
    assert transmits(a.receive("c", HybridAck(1))) == [("dead", HybridPermit(1))]
    granted = transmits(a.drop("dead"))
    assert sorted(granted, key=str) == [("b", HybridPermit(1)), ("c", HybridPermit(1))]


@pytest.mark.parametrize("protocol", HYBRIDS)
def test_nothing_from_a_dropped_peer_is_ever_accepted(protocol: str) -> None:
    """Its frames are ignored, whatever they are; the state stays as it is."""
    a = protocols.create(protocol, "a")
    a.drop("dead")
    before = a.fingerprint()
    for frame in (HybridMessage(1, 0, False, (b"x",)), HybridAck(7), HybridPermit(3)):
        assert a.receive("dead", frame) == []
    assert a.fingerprint() == before


@pytest.mark.parametrize("protocol", protocols.names())
def test_sending_to_a_dropped_peer_is_an_error_that_says_what_to_do(protocol: str) -> None:
    """Alone or among others, and nothing is sent to anybody then."""
    a = core_of(protocol, "a", ["a", "b", "dead"])
    a.drop("dead")
    assert a.drop("dead") == [], "to drop it again does nothing"
    before = a.fingerprint()
    casts = protocols.describe(protocol).casts
    receivers: list[str | list[str]] = ["dead"] if "unicast" in casts else []
    if "multicast" in casts:
        receivers.append(["b", "dead"])
    for to in receivers:
        with pytest.raises(PeerDroppedError, match="dead was dropped"):
            a.send(to, b"x")
    assert a.fingerprint() == before
    with pytest.raises(LocalProtocolError, match="cannot drop itself"):
        a.drop("a")


@pytest.mark.parametrize("protocol", BROADCASTS)
def test_a_broadcast_goes_to_everybody_but_a_dropped_peer(protocol: str) -> None:
    """ "Everybody" means all remaining peers, also in copies."""
    a = core_of(protocol, "a", ["a", "b", "dead"])
    assert {to for to, _ in transmits(a.send(None, b"1"))} == {"b", "dead"}
    a.drop("dead")
    for core in (a.copy(), a):
        effects = core.send(None, b"2")
        assert {to for to, _ in transmits(effects)} == {"b"}
        assert core.receive("dead", HybridAck(7)) == [], "whatever it says is not even looked at"


@pytest.mark.parametrize("protocol", HYBRIDS)
def test_drops_travel_with_frames_until_they_are_confirmed(protocol: str) -> None:
    """A frame lists the drops that its receiver has not confirmed; then frames are bare again."""
    a, b = protocols.create(protocol, "a"), protocols.create(protocol, "b")
    a.drop("dead")
    (first,) = a.send("b", b"1")
    assert isinstance(first, Transmit)
    assert first.frame == Fenced(0, ("dead",), 0, HybridMessage(1, 0, False, (b"1",)))
    delivered, ack = b.receive("a", first.frame)
    assert isinstance(delivered, Deliver) and b.dropped() == {"dead"}
    # b answers with its own log, in which the drop is news to nobody, and confirms that of a.
    assert isinstance(ack, Transmit) and ack.frame == Fenced(0, ("dead",), 1, HybridAck(1))
    assert a.receive("b", ack.frame) == []
    (second,) = a.send("b", b"2")
    assert isinstance(second, Transmit) and second.frame == Fenced(
        1, (), 1, HybridMessage(2, 1, False, (b"2",))
    )
    delivered, ack = b.receive("a", second.frame)
    assert isinstance(ack, Transmit) and ack.frame == HybridAck(2)
    a.receive("b", ack.frame)
    (third,) = a.send("b", b"3")
    assert isinstance(third, Transmit) and third.frame == HybridMessage(3, 2, False, (b"3",))


@pytest.mark.parametrize("protocol", HYBRIDS)
def test_impossible_fences_are_refused(protocol: str) -> None:
    """A fence that no correct peer could put around a frame changes nothing, nor does its frame."""
    a = protocols.create(protocol, "a")
    a.send("b", b"x")
    good = HybridAck(1)
    bad = [
        Fenced(0, ("a",), 0, good),  # it says that it dropped us
        Fenced(0, ("b",), 0, good),  # or itself
        Fenced(0, ("",), 0, good),
        Fenced(1, ("c",), 0, good),  # a gap in its log
        Fenced(-1, ("c",), 0, good),
        Fenced(0, ("c",), 1, good),  # confirms a drop that was never announced
        Fenced(0, ("c",), -1, good),
        Fenced(0, ("c",), 0, Fenced(0, ("d",), 0, good)),
        Fenced(0, ("c",), 0, HybridAck(9)),  # the fence is fine, the frame is not
    ]
    before = a.fingerprint()
    for frame in bad:
        with pytest.raises(RemoteProtocolError, match="^b: "):
            a.receive("b", frame)
        assert a.fingerprint() == before, frame
    assert a.dropped() == frozenset()


@pytest.mark.parametrize("protocol", HYBRIDS)
def test_a_dropped_peer_is_owed_nothing(protocol: str) -> None:
    """An ack that was put off is forgotten with the peer, in the core and in its copies."""
    core = protocols.create(protocol, "a", coalesce=True)
    core.receive("b", HybridMessage(1, 0, False, (b"x",)))
    core.drop("b")
    assert core.copy().fingerprint() == core.fingerprint()
    assert core.flush() == [] and core.copy().flush() == []


def falsely_suspected(fenced: bool) -> World:
    """0 gives up on 2, which is alive and has not yet received 0#1; then 1 receives from 0."""
    cores: dict[str, Core] = {name: protocols.create("hybrid-sps", name) for name in "012"}
    world = World(cores, seed=0)
    world.send("0", "2")
    world.drop("0", "2")
    world.send("0", "1")
    (frame,) = world.flight.pop(("0", "1"))
    world.carry_out("1", world.cores["1"].receive("0", frame if fenced else unwrapped(frame)))
    return world


def test_without_the_fence_the_dropped_peer_would_see_an_effect_before_its_cause() -> None:
    """The cause 0#1 was written off, so 1 may pass its effect on to 2: the reason for the fence."""
    world = falsely_suspected(fenced=False)
    world.send("1", "2")
    world.arrive(("1", "2"))
    world.arrive(("0", "2"))
    assert [violation.kind for violation in world.violations] == ["causal"]  # type: ignore[attr-defined]


def test_with_the_fence_no_process_that_knows_the_effect_sends_to_the_dropped_peer() -> None:
    """1 has made the same drop by the time it could act on what rests on it."""
    world = falsely_suspected(fenced=True)
    with pytest.raises(PeerDroppedError):
        world.cores["1"].send("2", b"x")
    world.arrive(("0", "2"))
    assert not world.violations


def drop_run(protocol: str, seed: int) -> Counter[str]:
    """A random run in which one process crashes or is only suspected, and is dropped by all."""
    rng = random.Random(seed)
    names = list("abcde"[: rng.randint(3, 5)])
    lossy = rng.random() < 0.5
    cores: dict[str, Core] = {name: protocols.create(protocol, name) for name in names}
    loss = 0.2 if lossy else 0.0
    world = World(cores, seed, loss=loss, duplicate=loss, mirror=rng.random() < 0.2)
    victim = rng.choice(names)
    survivors = [name for name in names if name != victim]
    crash = rng.random() < 0.5
    seen: Counter[str] = Counter()
    for _ in range(40):
        for _ in range(rng.randint(0, 6)):
            world.step()
        if rng.random() < 0.1:
            world.drop(rng.choice(survivors), victim)
            if crash:
                world.stop(victim)
        process = rng.choice([name for name in names if name not in world.stopped])
        known = cores[process].dropped()
        others = [name for name in names if name != process and name not in known]
        if others:
            most = rng.choice([1, len(others)])
            world.send(process, rng.sample(others, rng.randint(1, most)))
        seen["learnt from a frame"] += sum(bool(core.dropped()) for core in cores.values()) > 1
    for process in survivors:
        world.drop(process, victim)
    world.stop(victim)  # whatever it still waits for, nobody answers any more
    world.run_until_quiet()
    world.assert_causal_and_complete(survivors)
    left = [held for name in survivors for held in cores[name].held()]
    assert not left, f"{left[0]} in {world.about()}"
    seen.update(
        held=world.held_seen, lost=world.lost, fenced=crash, permits=world.kinds["HybridPermit"]
    )
    seen["false suspicion"] += not crash and len(world.delivered[victim]) > 0
    return seen


@pytest.mark.parametrize("protocol", HYBRIDS)
def test_survivors_finish_and_nobody_sees_a_violation(protocol: str) -> None:
    """Crashes and false suspicions at random moments, on any network: causal for everybody."""
    seen: Counter[str] = Counter()
    for seed in range(600):
        seen += drop_run(protocol, seed)
    for event in ("held", "lost", "permits", "fenced", "false suspicion", "learnt from a frame"):
        assert seen[event], f"never happened: {event}; {seen}"
