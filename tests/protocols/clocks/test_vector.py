"""`vector`: the rule on small examples, at the earliest step, and what it keeps forever."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from beforehand.errors import LocalProtocolError
from beforehand.protocols.clocks.vector import Vector, VectorMessage
from beforehand.protocols.effects import Deliver, Effect, Held, Transmit, Wait
from tests.protocols.test_bad_input import refused
from tests.support.causal import Omniscient
from tests.support.groups import world_of
from tests.support.network import unwrapped

ABC = ["a", "b", "c"]


def frame_of(effects: list[Effect]) -> VectorMessage:
    """The frame that everybody else gets."""
    frame, *others = [unwrapped(e.frame) for e in effects if isinstance(e, Transmit)]
    assert isinstance(frame, VectorMessage) and all(other == frame for other in others)
    return frame


def delivered(effects: list[Effect]) -> list[bytes]:
    """The payloads, in order."""
    return [effect.payload for effect in effects if isinstance(effect, Deliver)]


def test_a_broadcast_goes_to_all_others_and_is_delivered_locally() -> None:
    """It carries the clock that counts it, and is delivered locally at once, after the frames."""
    core = Vector("b", ABC)
    frame = VectorMessage(1, (0, 1, 0), b"x")
    assert core.send(None, b"x") == [
        Transmit("a", frame),
        Transmit("c", frame),
        Deliver("b", 1, b"x"),
    ]
    assert core.clock == [0, 1, 0]


def test_a_run_of_broadcasts_is_as_many_sends() -> None:
    """The same effects in the same order, and the same state."""
    one, other = Vector("a", ABC), Vector("a", ABC)
    effects = one.send(None, b"1") + one.send(None, b"2")
    assert other.send_many(None, [b"1", b"2"]) == effects
    assert one.fingerprint() == other.fingerprint()
    assert one.send_many(None, []) == []


def test_a_delivery_is_counted_and_carried_by_the_next_message() -> None:
    """The next message of the receiver names what it has delivered."""
    a, b = Vector("a", ABC), Vector("b", ABC)
    assert b.receive("a", frame_of(a.send(None, b"x"))) == [Deliver("a", 1, b"x")]
    assert frame_of(b.send(None, b"y")) == VectorMessage(1, (1, 1, 0), b"y")


def test_the_second_message_of_a_sender_waits_for_the_first() -> None:
    """However many come too early, they are delivered in the order of their sender."""
    a, b = Vector("a", ABC), Vector("b", ABC)
    frames = [frame_of(a.send(None, b"%d" % number)) for number in range(50)]
    for frame in reversed(frames[1:]):
        assert b.receive("a", frame) == []
    assert b.held()[0] == Held("a", 2, ("b",), 0, (Wait("message", "a", 1),))
    assert delivered(b.receive("a", frames[0])) == [b"%d" % number for number in range(50)]
    assert b.held() == [] and b.clock == [50, 0, 0]


def test_an_answer_waits_for_the_question() -> None:
    """c holds b's answer until a's message has come, and `held` names that message."""
    a, b, c = (Vector(name, ABC) for name in ABC)
    question = frame_of(a.send(None, b"question"))
    b.receive("a", question)
    assert c.receive("b", frame_of(b.send(None, b"answer")), now=5) == []
    assert c.held() == [Held("b", 1, ("c",), 5, (Wait("message", "a", 1),))]
    assert delivered(c.receive("a", question)) == [b"question", b"answer"]
    assert c.held() == []


def test_unrelated_messages_do_not_wait() -> None:
    """Knowing as much as the receiver, or less, holds nothing up."""
    a, b, c = (Vector(name, ABC) for name in ABC)
    first = frame_of(a.send(None, b"1"))
    assert delivered(c.receive("b", frame_of(b.send(None, b"2")))) == [b"2"]
    assert delivered(c.receive("a", first)) == [b"1"]


def test_the_order_of_arrivals_leaves_no_trace() -> None:
    """Two ways to the same situation: the same fingerprint, and the same effects afterwards."""
    a = Vector("a", ABC)
    first, second, third = (frame_of(a.send(None, b"")) for _ in range(3))
    one, other = Vector("b", ABC), Vector("b", ABC)
    one.receive("a", second)
    one.receive("a", third)
    other.receive("a", third)
    other.receive("a", second)
    assert one.fingerprint() == other.fingerprint()
    assert one.receive("a", first) == other.receive("a", first)


def test_a_group_of_one_delivers_at_once() -> None:
    """A group of one sends nothing and delivers at once."""
    core = Vector("a", ["a"])
    assert core.send(None, b"x") == [Deliver("a", 1, b"x")]


def test_receivers_cannot_be_chosen() -> None:
    """A clock of one count for each process does not record who got what."""
    core = Vector("a", ABC)
    before = core.fingerprint()
    for to in ("b", ["b", "c"], ["a"], "a"):
        with pytest.raises(LocalProtocolError, match=r"only broadcasts; send\(None, payload\)"):
            core.send(to, b"")
        with pytest.raises(LocalProtocolError, match="only broadcasts"):
            core.send_many(to, [b""])
    assert core.fingerprint() == before


def test_the_clock_is_kept_forever() -> None:
    """n integers, delivered or not, and n more for each waiting message."""
    a, b = Vector("a", ABC), Vector("b", ABC)
    assert (b.entries(), b.integers()) == (3, 4)
    first, second = frame_of(a.send(None, b"")), frame_of(a.send(None, b""))
    b.receive("a", second)
    assert (b.entries(), b.integers()) == (6, 7)
    b.receive("a", first)
    assert (b.entries(), b.integers()) == (3, 4)


def test_impossible_clocks_are_refused() -> None:
    """Of a wrong length, negative, not counting the message, or counting sends that never happened."""
    core = Vector("a", ABC)
    assert "not among" in refused(core, "z", VectorMessage(1, (0, 1, 0), b""))
    assert "clock of 2" in refused(core, "b", VectorMessage(1, (0, 1), b""))
    assert "clock of 4" in refused(core, "b", VectorMessage(1, (0, 1, 0, 0), b""))
    assert "clock of 0" in refused(core, "b", VectorMessage(1, (), b""))
    assert "negative" in refused(core, "b", VectorMessage(1, (0, 1, -1), b""))
    assert "counts itself as 2" in refused(core, "b", VectorMessage(1, (0, 2, 0), b""))
    assert "counts itself as 0" in refused(core, "b", VectorMessage(0, (0, 0, 0), b""))
    invented = VectorMessage(1, (1, 1, 0), b"")
    assert "1 messages from a" in refused(core, "b", invented)
    core.send(None, b"")
    assert core.receive("b", invented) == [Deliver("b", 1, b"")]


def test_second_copies_are_refused() -> None:
    """Of what waits and of what has been delivered."""
    a, b = Vector("a", ABC), Vector("b", ABC)
    first, second = frame_of(a.send(None, b"")), frame_of(a.send(None, b""))
    b.receive("a", second)
    assert "second time" in refused(b, "a", second)
    b.receive("a", first)
    assert "second time" in refused(b, "a", first)
    assert "second time" in refused(b, "a", second)


def test_no_message_waits_for_messages_of_a_dropped_peer() -> None:
    """What follows its lost message is delivered, what had come from it is not."""
    names = ["a", "b", "d"]
    a, b, d = (Vector(name, names) for name in names)
    lost, early = frame_of(d.send(None, b"lost")), frame_of(d.send(None, b"early"))
    a.receive("d", lost)
    assert b.receive("a", frame_of(a.send(None, b"told"))) == []
    assert b.receive("d", early) == []
    assert b.drop("d") == [Deliver("a", 1, b"told")]
    assert b.held() == [] and b.receive("d", lost) == []
    effects = b.send(None, b"")
    assert frame_of(effects).clock == (1, 1, 0)
    assert [effect.to for effect in effects if isinstance(effect, Transmit)] == ["a"]
    assert b.drop("stranger") == []


def test_a_message_after_a_lost_one_still_waits_for_its_causes() -> None:
    """k's M follows d's lost Y, which followed s's X: q delivers X first although d is gone."""
    names = ["d", "k", "q", "s"]
    d, k, q, s = (Vector(name, names) for name in names)
    x = frame_of(s.send(None, b"X"))
    d.receive("s", x)
    k.receive("s", x)
    k.receive("d", frame_of(d.send(None, b"Y")))
    assert q.receive("k", frame_of(k.send(None, b"M"))) == []
    assert q.held()[0].waits == (Wait("message", "d", 1), Wait("message", "s", 1))
    assert q.drop("d") == []
    assert q.held()[0].waits == (Wait("message", "s", 1),)
    assert delivered(q.receive("s", x)) == [b"X", b"M"]


def earliest(seed: int) -> Counter[str]:
    """One random run: at each arrival, exactly what an omniscient receiver delivers."""
    rng = random.Random(seed)
    names = [f"p{number}" for number in range(2 + seed % 4)]
    cores = {name: Vector(name, names) for name in names}
    truth = Omniscient(names)
    flight: list[tuple[str, str, VectorMessage]] = []
    seen: Counter[str] = Counter()
    sends = rng.randint(4, 16)
    while sends or flight:
        if sends and (not flight or rng.random() < 0.35):
            sends -= 1
            sender = rng.choice(names)
            frame = frame_of(cores[sender].send(None, b""))
            others = [name for name in names if name != sender]
            truth.send((sender, int(frame.number)), others)
            flight += [(sender, receiver, frame) for receiver in others]
            continue
        sender, receiver, frame = flight.pop(rng.randrange(len(flight)))
        effects = cores[receiver].receive(sender, frame)
        delivered_now = [(e.sender, int(e.message_id)) for e in effects if isinstance(e, Deliver)]
        expected = set(truth.arrive(receiver, (sender, int(frame.number))))
        assert set(delivered_now) == expected and len(delivered_now) == len(expected), (
            f"seed {seed}"
        )
        assert len(cores[receiver].held()) == len(truth.waiting[receiver]), f"seed {seed}"
        seen["at once" if expected else "waited"] += 1
        seen["several at once"] += len(expected) > 1
    return seen


def test_it_delivers_at_the_earliest_possible_step() -> None:
    """No protocol could deliver any of these messages sooner."""
    seen: Counter[str] = Counter()
    for seed in range(800):
        seen += earliest(seed)
    assert min(seen["at once"], seen["waited"], seen["several at once"]) > 500, seen


@pytest.mark.parametrize("link", [False, True])
def test_everybody_delivers_everything_in_causal_order(link: bool) -> None:
    """On a network that reorders, and in a link on one that loses and doubles as well."""
    seen: Counter[str] = Counter()
    for seed in range(150):
        names = [f"p{number}" for number in range(1 + seed % 6)]
        bad = 0.25 if link else 0.0
        run = world_of("vector", names, seed, bad=bad, link=link, mirror=seed % 5 == 0)
        run.run_random(20, broadcast=True, burst=1 + seed % 3, hurry=0.1 + seed % 5 / 8)
        run.assert_causal_and_complete()
        for name, core in run.cores.items():
            assert len(run.delivered[name]) == len(set(run.delivered[name])) == run.sent
            assert not core.held(), run.about()
            assert core.entries() == len(names), run.about()
        orders = {tuple(order) for order in run.delivered.values()}
        seen.update(held=run.held_seen, reordered=run.reordered, lost=run.lost)
        seen["different orders"] += len(orders) > 1
    for event in ("held", "reordered", "different orders", *(("lost",) if link else ())):
        assert seen[event] > 50, seen
