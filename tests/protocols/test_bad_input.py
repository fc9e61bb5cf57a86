"""What no correct peer could send is refused by name and changes nothing; misuse names a remedy."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from beforehand import protocols
from beforehand.errors import LocalProtocolError, RemoteProtocolError
from beforehand.protocols.clocks.ks import Ks, KsMessage
from beforehand.protocols.clocks.ks_flush import KsFlush
from beforehand.protocols.clocks.newtop import NewtopMessage, NewtopNull
from beforehand.protocols.clocks.rst import Rst, RstMessage
from beforehand.protocols.clocks.vector import VectorMessage
from beforehand.protocols.controls import Fifo, FifoAck, FifoMessage, Raw, RawMessage
from beforehand.protocols.core import Core
from beforehand.protocols.effects import Effect, Transmit
from beforehand.protocols.fence import Fenced
from beforehand.protocols.frames import Frame
from beforehand.protocols.hybrid.frames import HybridAck, HybridMessage, HybridPermit
from beforehand.protocols.overlay.frames import Broadcast, Close, Leave
from beforehand.protocols.reliable import ReliableLink, Segment, SegmentAck
from beforehand.protocols.sender_side.cykas import Cykas, CykasAck, CykasMessage, CykasYouCanTell
from beforehand.protocols.sender_side.mattern import Mattern, MatternAck, MatternMessage
from beforehand.protocols.tree.frames import TreeAsk, TreeBroadcast, TreeMessage
from tests.support.groups import core_of, habits, world_of

ABC = ["a", "b", "c"]
ONLY_A = frozenset("a")
ZEROS = ((0, 0, 0),) * 3

FRAMES: dict[str, list[Frame]] = {
    "hybrid": [HybridMessage(1, 0, False, (b"",)), HybridAck(1), HybridPermit(1)],
    "mattern": [MatternMessage(1, 0, b""), MatternAck(1)],
    "cykas": [CykasMessage(1, False, b""), CykasAck(1), CykasYouCanTell(1)],
    "rst": [RstMessage(1, ("a",), ZEROS, b"")],
    "ks": [KsMessage(1, ONLY_A, (), b""), KsFlush("c", 0, 0)],
    "newtop": [NewtopMessage(1, 1, b""), NewtopNull(1)],
    "vector": [VectorMessage(1, (0, 1, 0), b"")],
    "tree": [TreeMessage("b", 1, ("a",), b""), TreeBroadcast("b", 1, b""), TreeAsk("c")],
    "overlay": [Broadcast("b", 1, b""), Close(1), Leave()],
    "fifo": [FifoMessage(1, 0, b""), FifoAck(1)],
    "raw": [RawMessage(1, b"")],
    "link": [Segment(1, RawMessage(1, b"")), SegmentAck(1)],
}


def family(name: str) -> str:
    """Which frames a protocol speaks."""
    if name in protocols.names() and protocols.describe(name).overlay == "links":
        return "overlay"
    return name.removesuffix("-sps").removesuffix("-unsafe")


def refused(core: Core, sender: str, frame: Frame) -> str:
    """The problem with which a frame is refused, after making sure that it changed nothing."""
    before, held = core.fingerprint(), core.held()
    with pytest.raises(RemoteProtocolError) as caught:
        core.receive(sender, frame)
    assert caught.value.peer == sender
    assert core.fingerprint() == before and core.held() == held
    return caught.value.problem


@pytest.mark.parametrize("name", [*protocols.names(), "link"])
def test_frames_of_other_protocols_are_refused(name: str) -> None:
    """Also inside a fence; each protocol knows its own frames only."""
    core = ReliableLink(Raw("a")) if name == "link" else core_of(name, "a", ABC)
    for other, frames in FRAMES.items():
        if other != family(name):
            for frame in frames:
                assert type(frame).__name__ in refused(core, "b", frame)
                if name != "link":
                    refused(core, "b", Fenced(0, ("c",), 0, frame))
    assert core.dropped() == frozenset()


@pytest.mark.parametrize("name", [*protocols.names(), "link"])
def test_frames_from_oneself_are_refused(name: str) -> None:
    """Messages to oneself never travel, so a frame from oneself is forged."""
    core = ReliableLink(Raw("a")) if name == "link" else core_of(name, "a", ABC)
    for frame in FRAMES[family(name)]:
        assert "the receiver itself" in refused(core, "a", frame)


@pytest.mark.parametrize("name", protocols.names())
def test_misuse_is_refused_with_a_remedy(name: str) -> None:
    """No receivers, no name, no bytes, no such cast: nothing is sent and nothing is counted."""
    core = core_of(name, "a", ABC)
    casts = protocols.describe(name).casts
    before = core.fingerprint()
    misuses: list[Callable[[], object]] = [
        lambda: core.send([], b""),
        lambda: core.send_many([], [b""]),
        lambda: core.send("", b""),
        lambda: core.send(["b", ""], b""),
        lambda: core.send(["b", 5], b""),  # type: ignore[list-item]
        lambda: core.send(b"b", b""),  # type: ignore[arg-type]
        lambda: protocols.create(name, 5, processes=ABC),
        lambda: protocols.create(name, "", processes=ABC),
        lambda: core.send("b", "text"),  # type: ignore[call-overload]
        lambda: core.send(None, "text"),  # type: ignore[call-overload]
        lambda: core.send_many("b", [b"", "text"]),  # type: ignore[list-item]
        lambda: core.drop("a"),
        lambda: core.drop(""),
    ]
    if "unicast" not in casts:
        misuses += [lambda: core.send("b", b""), lambda: core.send("a", b"")]
    if "broadcast" not in casts:
        misuses.append(lambda: core.send(None, b""))
    for misuse in misuses:
        with pytest.raises(LocalProtocolError):
            misuse()
    assert core.fingerprint() == before and core.sent == 0


@pytest.mark.parametrize("link", [False, True])
@pytest.mark.parametrize("name", protocols.names())
def test_frames_from_nobody_are_refused_before_anything_changes(name: str, link: bool) -> None:
    """A sender is a process like any other; one that cannot exist brings no drops either."""
    core = core_of(name, "a", ABC)
    frame = FRAMES[family(name)][0]
    if link:
        core, frame = ReliableLink(core), Segment(1, frame)
    before = core.fingerprint()
    for sender in ("", "x" * 300, "\ud800"):
        for tried in (frame, Fenced(0, ("c",), 0, frame)):
            with pytest.raises(LocalProtocolError, match="process id"):
                core.receive(sender, tried)
            assert core.fingerprint() == before


def test_mattern_refuses_impossible_acks() -> None:
    """Never sent, not yet released, somebody else's, or between two messages in flight."""
    core = Mattern("a", fifo_links=True)
    assert "was not sent" in refused(core, "b", MatternAck(1))
    core.send("c", b"1")
    assert "was not sent" in refused(core, "b", MatternAck(1))
    core.receive("c", MatternAck(1))
    core.send("b", b"2")
    core.send("b", b"3")
    core.send("c", b"4")
    core.send("b", b"5")
    for number in (-1, 0, 1, 4, 5, 6):
        refused(core, "b", MatternAck(number))
    refused(core, "c", MatternAck(4))
    core.receive("b", MatternAck(3))
    core.receive("c", MatternAck(4))
    core.send("b", b"6")
    refused(core, "b", MatternAck(4))
    core.receive("b", MatternAck(2))


def test_mattern_refuses_messages_that_contradict_each_other() -> None:
    """A predecessor that comes later, or one that skips what was delivered."""
    core = Mattern("a")
    refused(core, "b", MatternMessage(0, 0, b""))
    refused(core, "b", MatternMessage(2, 2, b""))
    refused(core, "b", MatternMessage(2, -1, b""))
    core.receive("b", MatternMessage(5, 0, b""))
    assert "skips message 5" in refused(core, "b", MatternMessage(7, 3, b""))


@pytest.mark.parametrize("kind", [Cykas, protocols.create("cykas-unsafe", "a").__class__])
def test_cykas_refuses_what_a_reliable_network_cannot_deliver(kind: type[Cykas]) -> None:
    """Second copies, acks without a message in flight, YCTs without a secret."""
    core = kind("a")
    refused(core, "b", CykasAck(0))
    refused(core, "b", CykasAck(1))
    refused(core, "b", CykasMessage(0, False, b""))
    core.send("b", b"")
    core.send("b", b"")
    refused(core, "c", CykasAck(1))
    refused(core, "b", CykasAck(2))
    core.receive("b", CykasAck(1))
    refused(core, "b", CykasAck(1))
    core.receive("b", CykasMessage(3, True, b""))
    assert "came after 3" in refused(core, "b", CykasMessage(3, True, b""))
    refused(core, "b", CykasMessage(2, False, b""))
    refused(core, "c", CykasYouCanTell(3))
    refused(core, "b", CykasYouCanTell(2))
    core.receive("b", CykasYouCanTell(3))
    assert "isn't a secret" in refused(core, "b", CykasYouCanTell(3))


def first_frame(effects: list[Effect]) -> Frame:
    """What leaves first."""
    effect = effects[0]
    assert isinstance(effect, Transmit)
    return effect.frame


def test_rst_refuses_impossible_matrices() -> None:
    """Of a wrong shape, with negative counts, or counting sends that never happened."""
    core = Rst("a", ABC)
    assert "2 rows" in refused(core, "b", RstMessage(1, ("a",), ZEROS[:2], b""))
    assert "row of 2" in refused(core, "b", RstMessage(1, ("a",), ((0, 0),) * 3, b""))
    negative = ((0, 0, 0), (0, 0, 0), (0, -1, 0))
    assert "negative" in refused(core, "b", RstMessage(1, ("a",), negative, b""))
    invented = ((0, 0, 1), (0, 0, 0), (0, 0, 0))
    assert "1 messages from a to c" in refused(core, "b", RstMessage(1, ("a",), invented, b""))
    core.send("c", b"")
    assert len(core.receive("b", RstMessage(1, ("a",), invented, b""))) == 1


def test_rst_refuses_impossible_receivers_and_second_copies() -> None:
    """Strangers, the sender itself, nobody, another process, duplicates, and old messages."""
    core, b = Rst("a", ABC), Rst("b", ABC)
    refused(core, "z", RstMessage(1, ("a",), ZEROS, b""))
    refused(core, "b", RstMessage(0, ("a",), ZEROS, b""))
    for receivers in [(), ("c",), ("a", "z"), ("a", "b"), ("a", "a")]:
        refused(core, "b", RstMessage(1, receivers, ZEROS, b""))
    first, second = first_frame(b.send("a", b"")), first_frame(b.send("a", b""))
    core.receive("b", second)
    assert "second time" in refused(core, "b", second)
    core.receive("b", first)
    refused(core, "b", first)
    refused(core, "b", second)


def test_ks_refuses_impossible_logs() -> None:
    """Strangers, messages to their own sender, duplicates, the future, and a wrong order."""
    core = Ks("a", ABC)
    for log in [
        (("z", 1, ONLY_A),),
        (("b", 1, frozenset("z")),),
        (("c", 1, frozenset("c")),),
        (("c", 0, ONLY_A),),
        (("c", 1, ONLY_A), ("c", 1, ONLY_A)),
        (("c", 1, ONLY_A), ("b", 1, ONLY_A)),
        (("a", 1, frozenset("b")),),
        (("b", 5, frozenset("c")),),
    ]:
        refused(core, "b", KsMessage(5, ONLY_A, log, b""))


def test_ks_refuses_impossible_receivers_second_copies_and_flushes() -> None:
    """The same as for matrices, and flushes that cannot be."""
    core, b = Ks("a", ABC), Ks("b", ABC)
    refused(core, "z", KsMessage(1, ONLY_A, (), b""))
    refused(core, "b", KsMessage(0, ONLY_A, (), b""))
    for receivers in ["", "c", "az", "ab"]:
        refused(core, "b", KsMessage(1, frozenset(receivers), (), b""))
    first, second = first_frame(b.send("a", b"")), first_frame(b.send("a", b""))
    core.receive("b", second)
    refused(core, "b", second)
    core.receive("b", first)
    refused(core, "b", first)
    for flush in [KsFlush("z", 0, 0), KsFlush("a", 0, 0), KsFlush("b", 0, 0), KsFlush("c", 2, 1)]:
        refused(core, "b", flush)
    core.receive("b", Fenced(0, ("c",), 0, KsFlush("c", 2, 2)))
    assert "second flush" in refused(core, "b", KsFlush("c", 2, 2))


def test_fifo_and_links_refuse_contradictions() -> None:
    """Acks for nothing, messages that skip, and two that follow the same one."""
    core = Fifo("a")
    refused(core, "b", FifoAck(1))
    core.send("c", b"")
    core.send("b", b"")
    for number in (-1, 0, 1, 3):
        refused(core, "b", FifoAck(number))
    refused(core, "b", FifoMessage(1, 1, b""))
    refused(core, "b", FifoMessage(1, -1, b""))
    core.receive("b", FifoMessage(9, 4, b""))
    assert "cannot both follow 4" in refused(core, "b", FifoMessage(8, 4, b""))
    core.receive("b", FifoMessage(3, 0, b""))
    assert "skips 3" in refused(core, "b", FifoMessage(6, 2, b""))
    link = ReliableLink(Raw("a"))
    refused(link, "b", SegmentAck(1))
    refused(link, "b", Segment(0, RawMessage(1, b"")))
    refused(link, "b", Fenced(0, ("c",), 0, Segment(1, RawMessage(1, b""))))
    refused(Raw("a"), "b", RawMessage(0, b""))


def mutated(value: object, rng: random.Random) -> object:
    """The same kind of value with something in it changed, left out or doubled."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + rng.choice([-value, -value - 1, -2, -1, 1, 2, 1_000_000])
    if isinstance(value, str):
        return rng.choice(["p0", "p1", "p2", "stranger"])
    if isinstance(value, tuple | frozenset):
        items = list(value)
        if items and rng.random() < 0.8:
            index = rng.randrange(len(items))
            items[index] = mutated(items[index], rng)
        elif len({type(item) for item in items}) == 1:
            items.append(items[-1])
        return type(value)(items)
    if isinstance(value, Frame):
        return forged(value, rng)
    return value


def forged(frame: Frame, rng: random.Random) -> Frame:
    """A frame of the same class with one field changed; the keys are the constructor's arguments."""
    fields = list(frame.key())
    if not fields:
        return frame
    index = rng.randrange(len(fields))
    fields[index] = mutated(fields[index], rng)
    return type(frame)(*fields)


@pytest.mark.parametrize("link", [False, True])
@pytest.mark.parametrize("name", protocols.names())
def test_forged_frames_are_refused_whole_or_taken(name: str, link: bool) -> None:
    """Whatever is forged, nothing else than RemoteProtocolError comes out, and then nothing changed."""
    names = ["p0", "p1", "p2"]
    caught = taken = 0
    for seed in range(25):
        run = world_of(name, names, seed, link=link)
        run.run_random(12, settle=False, hurry=0.5, **habits(name))
        run.drop("p0", "p2") if seed % 4 == 0 else None
        flight = [(link, frame) for link, frames in run.flight.items() for frame in frames]
        for (sender, receiver), frame in flight * 3:
            core = run.cores[receiver]
            before = core.fingerprint()
            try:
                core.receive(sender, forged(frame, run.random))
                taken += 1
            except RemoteProtocolError as error:
                caught += 1
                assert error.peer == sender and core.fingerprint() == before, f"seed {seed}"
            assert hash(core.fingerprint()) == hash(core.copy().fingerprint())
            core.held()
    assert caught > 50 and taken > 50, (caught, taken)
