"""Peers dropped in the middle of random schedules, falsely: they are alive and go on talking.

Nobody may see an effect before its cause, the dropped process included, and the survivors must get
all that they sent each other.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from beforehand import protocols
from beforehand._build import is_compiled
from beforehand.protocols.clocks.ks import Ks, KsMessage
from beforehand.protocols.clocks.ks_flush import KsFlush
from beforehand.protocols.clocks.rst import Rst
from beforehand.protocols.controls import Fifo, FifoMessage
from beforehand.protocols.effects import Deliver, Effect, Transmit, Wait
from beforehand.protocols.frames import Frame
from beforehand.protocols.sender_side.cykas import Cykas, CykasAck, CykasMessage, CykasYouCanTell
from beforehand.protocols.sender_side.mattern import Mattern, MatternMessage
from tests.support.groups import habits, world_of
from tests.support.network import World, unwrapped

CAUSAL = [
    ("hybrid", False),
    ("hybrid-sps", False),
    ("mattern", False),
    ("cykas", False),
    ("cykas", True),
    ("rst", False),
    ("rst", True),
    ("ks", False),
    ("ks", True),
    ("newtop", False),
    ("newtop", True),
    ("vector", False),
    ("vector", True),
]
RUNS = 120 if is_compiled() else 50  # pure cores are slower, and behave the same


def dropped_in_the_middle(name: str, link: bool, seed: int, **options: Any) -> World:
    """A run in which one or two peers are dropped by somebody, and later by everybody else."""
    rng = random.Random(seed)
    names = [f"p{index}" for index in range(3 + seed % 4)]
    caps = protocols.describe(name)
    bad = 0.2 if link or caps.network == "lossy" else 0.0
    run = world_of(name, names, seed, bad=bad, link=link, mirror=seed % 6 == 0, **options)
    casts = habits(name)
    dropped_peers = rng.sample(names, rng.choice([1, 1, 2]) if len(names) > 3 else 1)
    survivors = [process for process in names if process not in dropped_peers]

    run.run_random(rng.randint(3, 20), settle=False, hurry=0.4, **casts)
    for peer in dropped_peers:
        run.drop(rng.choice(survivors), peer)
    run.run_random(rng.randint(3, 20), settle=False, hurry=0.4, **casts)
    for process in survivors:
        if rng.random() < 0.5:
            run.drop(process, dropped_peers[0])
    run.run_random(10, settle=False, **casts)
    for process in survivors:
        for peer in dropped_peers:
            run.drop(process, peer)
    for _ in range(200):
        while run.step():
            pass
        run.tick(*survivors)  # the dropped ones would go on forever
        if not run.flight:
            break
    assert not run.flight, f"not quiet: {run.about()}"
    run.assert_causal_and_complete(survivors)
    for process in survivors:
        assert run.cores[process].dropped() == set(dropped_peers), run.about()
        assert not run.cores[process].held(), run.about()
    return run


@pytest.mark.parametrize(("name", "link"), CAUSAL)
def test_a_peer_that_is_dropped_while_alive(name: str, link: bool) -> None:
    """No causal violation anywhere, and nothing lost between survivors."""
    happened: Counter[str] = Counter()
    for seed in range(RUNS):
        run = dropped_in_the_middle(name, link, seed)
        happened.update(held=run.held_seen, undelivered=len(run.oracle.undelivered()))
    assert happened["held"] > RUNS
    assert happened["undelivered"] > RUNS, "some messages from or to the dropped ones were lost"


def test_a_pipelined_mattern_peer_that_is_dropped_while_alive() -> None:
    """The same for runs to one receiver that are cut off."""
    for seed in range(RUNS):
        dropped_in_the_middle("mattern", False, seed, fifo_links=True)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "link"), CAUSAL)
def test_many_peers_that_are_dropped_while_alive(name: str, link: bool) -> None:
    """The same on many more schedules."""
    for seed in range(10_000, 12_000):
        dropped_in_the_middle(name, link, seed)


def frames(effects: list[Effect]) -> dict[str, Frame]:
    """Receiver -> frame of what leaves, at most one to each."""
    return {effect.to: effect.frame for effect in effects if isinstance(effect, Transmit)}


def transmitted(effects: list[Effect]) -> list[tuple[str, Frame]]:
    """(to, frame without fence) of what leaves, in order."""
    return [(e.to, unwrapped(e.frame)) for e in effects if isinstance(e, Transmit)]


def test_mattern_goes_on_behind_a_dropped_receiver() -> None:
    """What was for it goes away, in flight or waiting, and the next message leaves."""
    core = Mattern("a")
    for to in ("d", "d", "b", "d"):
        core.send(to, b"")
    assert transmitted(core.drop("d")) == [("b", MatternMessage(3, 0, b""))]
    assert core.held() == []


def test_cykas_treats_a_dropped_peer_as_having_sent_its_acks_and_ycts() -> None:
    """YCTs that waited for it go out, its secrets no longer count, and messages leave."""
    core = Cykas("a")
    core.send("d", b"1")
    core.send("b", b"2")
    core.receive("b", CykasAck(2))
    core.receive("d", CykasMessage(7, True, b"secret"))
    core.send("d", b"3")
    core.send("c", b"4")
    assert transmitted(core.drop("d")) == [
        ("b", CykasYouCanTell(2)),
        ("c", CykasMessage(4, False, b"4")),
    ]
    assert core.held() == []


def test_rst_goes_on_without_the_messages_of_a_dropped_peer() -> None:
    """What waits for them is delivered, what it had buffered from the peer is discarded."""
    names = ["a", "b", "d"]
    a, b, d = (Rst(name, names) for name in names)
    d.send("b", b"lost")
    a.receive("d", frames(d.send("a", b"heard"))["a"])
    late = frames(d.send("b", b"buffered"))["b"]
    b.receive("d", late)
    assert b.receive("a", frames(a.send("b", b"told"))["b"]) == []
    assert b.drop("d") == [Deliver("a", 1, b"told")]
    assert b.held() == [] and b.receive("d", late) == []


def test_ks_flushes_before_it_goes_on() -> None:
    """q must not deliver M, which names only the lost Y, before X, which only Y named."""
    names = ["d", "k", "q", "s"]
    d, k, q, s = (Ks(name, names) for name in names)
    question = frames(s.send(["d", "q"], b"X"))
    d.receive("s", question["d"])
    d.send("q", b"Y: lost")
    k.receive("d", frames(d.send("k", b"Z"))["k"])
    message = frames(k.send("q", b"M"))["q"]
    assert isinstance(message, KsMessage)
    named = [(sender, clock) for sender, clock, to in message.log if "q" in to]
    assert named == [("d", 1)], "of X, to q as well, it says nothing"

    assert q.receive("k", message) == []
    assert transmitted(q.drop("d")) == [("k", KsFlush("d", 0, 0)), ("s", KsFlush("d", 0, 0))]
    [held] = q.held()
    assert held.waits == (Wait("flush", "k", 0), Wait("flush", "s", 0))
    assert q.receive("k", frames(k.drop("d"))["q"]) == []
    assert q.receive("s", frames(s.drop("d"))["q"]) == []
    assert q.held()[0].waits == (Wait("message", "s", 1),)
    delivered = q.receive("s", question["q"])
    assert [e.payload for e in delivered if isinstance(e, Deliver)] == [b"X", b"M"]
    assert q.held() == []


def test_ks_keeps_the_order_of_what_waits_for_the_same_dropped_peer() -> None:
    """X needs one lost message of d, M a later one that alone knew of X: X must come first."""
    run = World({name: Ks(name, ["d", "k", "q", "s"]) for name in "dkqs"}, seed=0)
    lose(run, "d", "q")
    run.send("d", "s")
    run.arrive(("d", "s"))
    run.send("s", ["q", "d"], b"X")
    run.arrive(("s", "d"))
    lose(run, "d", "q")
    run.send("d", "k")
    run.arrive(("d", "k"))
    run.send("k", "q", b"M")
    run.arrive(("k", "q"))
    run.arrive(("s", "q"))
    assert [held.sender for held in run.cores["q"].held()] == ["k", "s"]
    run.drop("q", "d")
    run.run_until_quiet()
    assert [message.sender for message in run.delivered["q"]] == ["s", "k"]
    run.assert_causal_and_complete("kqs")


def test_ks_keeps_the_order_of_what_comes_after_a_flush() -> None:
    """M comes when nobody waits for d any more; X, which it must follow, waits for e's flush."""
    run = World({name: Ks(name, ["d", "e", "k", "q", "s"]) for name in "dekqs"}, seed=0)
    lose(run, "e", "q")
    run.send("e", "s")
    run.arrive(("e", "s"))
    run.send("s", ["q", "d"], b"X")
    run.arrive(("s", "d"))
    run.arrive(("s", "q"))
    lose(run, "d", "q")
    run.send("d", "k")
    run.arrive(("d", "k"))
    run.drop("q", "d")
    run.drop("q", "e")
    run.arrive(("q", "k"))  # k drops d, and does not know of e
    run.send("k", "q", b"M")
    for link in [("q", "s"), ("q", "s"), ("s", "q"), ("s", "q"), ("k", "q")]:
        run.arrive(link)
    run.arrive(("k", "q"))
    waits = {held.sender: held.waits for held in run.cores["q"].held()}
    assert waits == {"k": (Wait("message", "s", 1),), "s": (Wait("flush", "k", 0),)}
    run.run_until_quiet()
    assert [message.sender for message in run.delivered["q"]] == ["s", "k"]
    run.assert_causal_and_complete("kqs")


def lose(run: World, sender: str, receiver: str) -> None:
    """A message that the network swallows."""
    run.send(sender, receiver)
    run.take((sender, receiver))


def test_ks_does_not_mention_a_dropped_destination() -> None:
    """No process that learns of the drop will ever send there, so the entry is useless."""
    a, b = Ks("a", ["a", "b", "d"]), Ks("b", ["a", "b", "d"])
    a.send("d", b"")
    to_b = frames(a.send("b", b""))["b"]
    a.drop("d")
    b.drop("d")
    b.receive("a", to_b)
    for core, peer in ((a, "b"), (b, "a")):
        frame = unwrapped(frames(core.send(peer, b""))[peer])
        assert isinstance(frame, KsMessage)
        assert not any("d" in to for _, _, to in frame.log)


def test_fifo_forgets_a_dropped_peer() -> None:
    """It neither resends to it nor keeps anything of it."""
    core = Fifo("a")
    core.send(["b", "d"], b"")
    core.receive("d", FifoMessage(4, 2, b"early"))
    core.drop("d")
    assert core.held() == [] and transmitted(core.tick()) == [("b", FifoMessage(1, 0, b""))]


def test_strangers_can_be_dropped() -> None:
    """A fixed membership is not disturbed by the drop of a process that was never in it."""
    for core in (Rst("a", ["a", "b"]), Ks("a", ["a", "b"])):
        assert core.drop("z") == []
        assert core.dropped() == {"z"} and len(core.send("b", b"")) == 1
