"""`newtop`: the rules on small examples, one order for everybody, and null messages that end."""

from __future__ import annotations

from collections import Counter

import pytest

from beforehand.errors import LocalProtocolError
from beforehand.protocols.clocks.newtop import Newtop, NewtopMessage, NewtopNull
from beforehand.protocols.effects import Deliver, Effect, Held, Transmit, Wait
from tests.protocols.test_bad_input import refused
from tests.protocols.test_drop_random import dropped_in_the_middle
from tests.support.groups import world_of
from tests.support.network import World, unwrapped

ABC = ["a", "b", "c"]


def frames(effects: list[Effect]) -> list[tuple[str, object]]:
    """(to, frame without fence) of what leaves."""
    return [(e.to, unwrapped(e.frame)) for e in effects if isinstance(e, Transmit)]


def delivered(effects: list[Effect]) -> list[bytes]:
    """The payloads, in order."""
    return [effect.payload for effect in effects if isinstance(effect, Deliver)]


def message(number: int, clock: int) -> NewtopMessage:
    """A message whose payload is its clock."""
    return NewtopMessage(number, clock, b"%d" % clock)


# ---- sending ----


def test_a_broadcast_carries_the_clock_and_its_sender_delivers_it_in_turn() -> None:
    """It goes to all others; `held` names the peers that the sender's own copy waits for."""
    core = Newtop("b", ABC)
    frame = NewtopMessage(1, 1, b"x")
    assert core.send(None, b"x", now=7) == [Transmit("a", frame), Transmit("c", frame)]
    assert core.held() == [Held("b", 1, ("b",), 7, (Wait("clock", "a", 1), Wait("clock", "c", 1)))]
    assert frames(core.send(None, b"y"))[0] == ("a", NewtopMessage(2, 2, b"y"))


def test_a_run_of_broadcasts_is_as_many_sends() -> None:
    """The same effects in the same order, and the same state."""
    for names in (ABC, ["a"]):
        one, other = Newtop("a", names), Newtop("a", names)
        effects = one.send(None, b"1") + one.send(None, b"2")
        assert other.send_many(None, [b"1", b"2"]) == effects
        assert one.fingerprint() == other.fingerprint()
        assert one.send_many(None, []) == []


def test_the_clock_follows_received_clocks() -> None:
    """A message carries a higher clock than all that came before it, nulls too."""
    core = Newtop("a", ABC)
    core.receive("b", message(1, 5))
    assert frames(core.send(None, b""))[0][1] == NewtopMessage(1, 6, b"")
    core.receive("c", NewtopNull(9))
    assert frames(core.send(None, b""))[0][1] == NewtopMessage(2, 10, b"")
    core.receive("b", NewtopNull(7))
    assert frames(core.send(None, b""))[0][1] == NewtopMessage(3, 11, b""), "it never goes back"


def test_receivers_cannot_be_chosen() -> None:
    """A peer left out would never learn how far the clock of the sender has advanced."""
    core = Newtop("a", ABC)
    before = core.fingerprint()
    for to in ("b", ["b", "c"], ["a"], "a"):
        with pytest.raises(LocalProtocolError, match=r"only broadcasts; send\(None, payload\)"):
            core.send(to, b"")
    assert core.fingerprint() == before


def test_a_group_of_one_delivers_at_once() -> None:
    """A group of one sends nothing, waits for nobody and delivers at once."""
    core = Newtop("a", ["a"])
    assert core.send(None, b"x") == [Deliver("a", 1, b"x")]
    assert core.send_many(None, [b"y", b"z"]) == [Deliver("a", 2, b"y"), Deliver("a", 3, b"z")]
    assert core.held() == [] and core.tick() == []


# ---- delivering ----


def test_a_message_is_delivered_once_every_peer_has_reached_its_clock() -> None:
    """An equal clock is enough: on FIFO links nothing else with that clock can follow."""
    core = Newtop("a", ABC)
    assert core.receive("b", message(1, 2), now=3) == []
    assert core.held() == [Held("b", 1, ("a",), 3, (Wait("clock", "c", 2),))]
    assert core.receive("c", NewtopNull(1)) == [], "c may still send a message with clock 2"
    assert core.receive("c", NewtopNull(2)) == [Deliver("b", 1, b"2")]
    assert core.held() == []


def test_of_two_processes_each_delivers_the_others_message_at_once() -> None:
    """There is no third peer to wait for; `<` instead of `<=` would wait for one more message."""
    core = Newtop("a", ["a", "b"])
    assert core.receive("b", message(1, 1)) == [Deliver("b", 1, b"1")]


def test_messages_are_delivered_by_clock_and_then_by_sender() -> None:
    """Whatever the order of their arrival, the own ones among the others."""
    core = Newtop("b", ABC)
    core.send(None, b"own")
    assert core.receive("c", message(1, 1)) == []
    assert core.receive("c", message(2, 2)) == []
    assert core.receive("c", message(3, 7)) == []
    arrived = core.receive("a", message(1, 1))
    assert arrived == [Deliver("a", 1, b"1"), Deliver("b", 1, b"own"), Deliver("c", 1, b"1")]
    assert core.receive("a", message(2, 2)) == [Deliver("a", 2, b"2"), Deliver("c", 2, b"2")]
    assert [held.message_id for held in core.held()] == [3]


def test_held_lists_messages_in_delivery_order() -> None:
    """And names exactly the peers whose clocks are still too low."""
    core = Newtop("b", ABC)
    core.receive("c", message(1, 2))
    core.receive("c", message(2, 5))
    core.send(None, b"own")
    core.receive("a", message(1, 1))
    core.receive("a", message(2, 5))
    assert [(held.sender, held.message_id, held.waits) for held in core.held()] == [
        ("b", 1, (Wait("clock", "a", 6), Wait("clock", "c", 6))),
    ]
    core.receive("c", message(3, 7))
    core.receive("c", message(4, 8))
    assert [(held.sender, held.message_id, held.waits) for held in core.held()] == [
        ("b", 1, (Wait("clock", "a", 6),)),
        ("c", 3, (Wait("clock", "a", 7),)),
        ("c", 4, (Wait("clock", "a", 8),)),
    ]


# ---- null messages ----


def test_a_null_is_sent_if_the_clock_has_grown_since_it_was_announced() -> None:
    """A message announces it as well; an announced clock is not announced again."""
    core = Newtop("a", ABC)
    assert core.tick() == []
    core.send(None, b"")
    assert core.tick() == []
    core.receive("b", message(1, 4))
    assert frames(core.tick()) == [("b", NewtopNull(4)), ("c", NewtopNull(4))]
    assert core.tick() == []
    core.receive("c", NewtopNull(3))
    assert core.tick() == [], "the clock has not grown"


def test_a_null_carries_its_clock_and_no_message() -> None:
    """It belongs to no message."""
    null = NewtopNull(4)
    assert (null.messages(), null.payload_bytes(), null.about()) == (0, 0, 0)


def silent_group(ticks: bool) -> World:
    """One process sends, the others do not."""
    run = world_of("newtop", ABC, seed=1)
    run.send("a", None, count=3)
    run.run_until_quiet(tick=ticks)
    return run


def test_without_nulls_a_silent_process_holds_up_everybody() -> None:
    """So the protocol needs its timer even where nothing is lost."""
    run = silent_group(ticks=False)
    assert len(run.undelivered()) == 9 and run.held_seen
    run.run_until_quiet()
    run.assert_causal_and_complete()


def test_nulls_stop_when_nothing_happens() -> None:
    """Every process announces the last clock at most once; then there is nothing to announce."""
    run = silent_group(ticks=True)
    run.assert_causal_and_complete()
    assert run.kinds["NewtopNull"] == 4, "two silent processes, two receivers each"
    run.tick()
    assert not run.flight


# ---- bad input ----


def test_clocks_that_do_not_grow_are_refused() -> None:
    """A duplicate, an overtaken frame, a null with an old clock, a clock below 1."""
    core = Newtop("a", ABC)
    for clock in (0, -1):
        refused(core, "b", NewtopNull(clock))
    core.receive("b", message(1, 3))
    for frame in (message(1, 3), message(2, 3), message(2, 2), NewtopNull(3), NewtopNull(1)):
        assert "must grow" in refused(core, "b", frame)
    core.receive("b", NewtopNull(4))
    assert "must grow" in refused(core, "b", message(2, 4))
    core.receive("b", message(2, 5))


def test_gaps_and_strangers_are_refused() -> None:
    """Messages are numbered without gaps, and all senders are members."""
    core = Newtop("a", ABC)
    assert "not among" in refused(core, "z", message(1, 1))
    assert "not among" in refused(core, "z", NewtopNull(1))
    assert "message 2 came after message 0" in refused(core, "b", message(2, 2))
    assert "message 0 came after" in refused(core, "b", message(0, 1))
    core.receive("b", message(1, 1))
    assert "message 1 came after message 1" in refused(core, "b", message(1, 2))
    assert "message 3 came after message 1" in refused(core, "b", message(3, 9))


# ---- peers that are gone ----


def test_no_message_waits_for_a_dropped_peer() -> None:
    """Messages that waited only for it are delivered at once; a sole survivor waits for nobody."""
    core = Newtop("a", ABC)
    core.send(None, b"own")
    core.receive("b", message(1, 1))
    assert [held.waits for held in core.held()] == [(Wait("clock", "c", 1),)] * 2
    assert core.drop("c") == [Deliver("a", 1, b"own"), Deliver("b", 1, b"1")]
    core.send(None, b"2")
    assert delivered(core.drop("b")) == [b"2"]
    assert delivered(core.send(None, b"3")) == [b"3"] and core.held() == []
    assert core.tick() == [] and core.drop("stranger") == []


def test_messages_of_a_dropped_peer_keep_their_turn() -> None:
    """Two survivors that got the same of it deliver the same, though one had done so before."""
    a, b = Newtop("a", ABC), Newtop("b", ABC)
    last_words = message(1, 1)
    a.receive("c", last_words)
    assert a.receive("b", NewtopNull(1)) == [Deliver("c", 1, b"1")]
    b.receive("c", last_words)
    assert a.drop("c") == [] and b.drop("c") == []
    [(to, null)] = frames(a.tick())
    assert to == "b" and isinstance(null, NewtopNull)
    assert b.receive("a", null) == [Deliver("c", 1, b"1")]
    assert b.receive("c", message(2, 9)) == [], "nothing more is taken from it"


def test_dropping_the_peer_with_the_lowest_or_highest_clock() -> None:
    """Whichever peer is dropped, the minimum is that of the others."""
    for dropped, upto in (("b", 7), ("c", 3), ("d", 3)):
        core = Newtop("a", ["a", "b", "c", "d"])
        for number in range(1, 10):
            core.receive("d", message(number, number))
        core.receive("b", NewtopNull(3))
        core.receive("c", NewtopNull(7))
        core.drop(dropped)
        waiting = [held.message_id for held in core.held()]
        assert waiting == list(range(upto + 1, 10)), dropped


# ---- whole runs ----


def assert_one_order(run: World) -> None:
    """Any two processes deliver what both deliver in the same order."""
    for first in run.delivered.values():
        for second in run.delivered.values():
            both = set(first) & set(second)
            assert [m for m in first if m in both] == [m for m in second if m in both], run.about()


@pytest.mark.parametrize("link", [False, True])
def test_everybody_delivers_everything_in_one_causal_order(link: bool) -> None:
    """On FIFO links, and in reliable ones on a network that loses, doubles and reorders."""
    seen: Counter[str] = Counter()
    for seed in range(150):
        names = [f"p{number}" for number in range(1 + seed % 6)]
        run = world_of(
            "newtop", names, seed, bad=0.25 if link else 0.0, link=link, mirror=seed % 5 == 0
        )
        run.run_random(20, broadcast=True, burst=1 + seed % 3, hurry=0.1 + seed % 5 / 8, ticks=0.1)
        run.assert_causal_and_complete()
        orders = {tuple(order) for order in run.delivered.values()}
        assert len(orders) == 1 and {len(order) for order in orders} == {run.sent}, run.about()
        assert not any(core.held() for core in run.cores.values()), run.about()
        assert not any(core.tick() for core in run.cores.values()), run.about()
        seen.update(held=run.held_seen, lost=run.lost, reordered=run.reordered, **run.kinds)
    for event in ("held", "NewtopNull", *(("lost", "reordered") if link else ())):
        assert seen[event] > 150, seen


@pytest.mark.parametrize("link", [False, True])
def test_drops_leave_one_order(link: bool) -> None:
    """Whichever peer is dropped, alive or not, all processes deliver in the same order."""
    seen: Counter[str] = Counter()
    for seed in range(100):
        run = dropped_in_the_middle("newtop", link, seed)
        assert_one_order(run)
        sets = {frozenset(order) for order in run.delivered.values()}
        seen.update(held=run.held_seen, different=len(sets) > 1, nulls=run.kinds["NewtopNull"])
    assert seen["held"] > 100 and seen["different"] > 10 and seen["nulls"] > 100, seen


def test_links_that_reorder_are_noticed() -> None:
    """On links that are not FIFO it raises an error instead of delivering in any order."""
    a, b = Newtop("a", ABC), Newtop("b", ABC)
    first, second = (frames(a.send(None, b""))[0][1] for _ in range(2))
    assert isinstance(first, NewtopMessage) and isinstance(second, NewtopMessage)
    assert "message 2 came after message 0" in refused(b, "a", second)
    b.receive("a", first)
    b.receive("a", second)


# ---- what it costs ----


def test_the_state_is_counted_exactly() -> None:
    """Two integers for each process, three for each message that waits, and three of its own."""
    core = Newtop("a", ABC)
    assert (core.entries(), core.integers()) == (6, 9)
    core.send(None, b"")
    assert (core.entries(), core.integers()) == (9, 12)
    core.receive("b", NewtopNull(1))
    core.receive("c", NewtopNull(1))
    assert (core.entries(), core.integers()) == (6, 9)
