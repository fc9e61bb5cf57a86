"""Nédelec, Molli and Mostéfaoui, "Causal Broadcast: How to Forget?": its figures, step by step.

A is linked with B and with C, in both directions. Where the paper sends alpha over safe links, here it
is the first frame of the new link, which is one hop less.
"""

from __future__ import annotations

import pytest

from beforehand.causality.ids import MessageId
from beforehand.protocols.overlay.frames import Alpha, Broadcast, Buffered
from tests.support.overlay import OverlayWorld, maker
from tests.support.overlay_runs import both_ways, play, world_for

LINKS = both_ways("AB", "AC")


def world_of(name: str) -> OverlayWorld:
    """A, B and C."""
    return world_for(maker(name), LINKS)


def memory(world: OverlayWorld) -> dict[str, set[str]]:
    """What is expected on each link, as "from>to": only links on which something is."""
    return {
        f"{peer}>{name}": {label(message) for message in core.expected.over(peer)}
        for name, core in world.cores.items()
        for peer in core.links.incoming
        if core.expected.over(peer)
    }


def label(message: tuple[str, int]) -> str:
    """A message as the paper writes it."""
    return f"{message[0].lower()}{message[1]}"


def names_of(messages: list[MessageId]) -> list[str]:
    """Messages as the paper writes them."""
    return [label(message) for message in messages]


@pytest.mark.parametrize("name", ["link-memory", "prc"])
def test_figure_1_link_memory_step_by_step(name: str) -> None:
    """What each process expects after each step; at the end no process remembers the message."""
    world = world_of(name)
    play(world, "B!")
    assert memory(world) == {"A>B": {"b1"}}  # a
    play(world, "B>A")
    assert memory(world) == {"A>B": {"b1"}, "C>A": {"b1"}}  # b
    play(world, "A>B A>C")
    assert memory(world) == {"C>A": {"b1"}}  # c
    play(world, "C>A")
    assert memory(world) == {} and not world.flight and world.entries() == 0  # d
    assert [names_of(world.delivered[name]) for name in "ABC"] == [["b1"]] * 3


# A broadcasts, C gets it and forgets it, B adds a link to C, and only then gets the message.
FIGURE_2 = "A! A>C C>A B+C/A B>C A>B"


def test_figure_2_a_new_link_without_memory_delivers_twice() -> None:
    """To all others too, since C considers it new and forwards it."""
    world = world_of("link-memory")
    play(world, FIGURE_2)
    assert memory(world) == {"B>A": {"a1"}}
    play(world, "B>C")
    assert names_of(world.delivered["C"]) == ["a1", "a1"]
    assert (
        str(world.violations[0]) == "duplicate: C delivered A#1 again, having already delivered it."
    )
    play(world, "B>A C>A")  # the last copy that A expects, and then one more: "cascading effects"
    assert names_of(world.delivered["A"]) == ["a1", "a1"]


def test_figure_2_prc_does_the_same_and_delivers_once() -> None:
    """The new link is not used before it has a memory: the same steps, another outcome."""
    world = world_of("prc")
    play(world, FIGURE_2)
    play(world, "B>C")
    assert names_of(world.delivered["C"]) == ["a1"] and not world.safe
    world.settle()
    assert world.safe == [("B", "C")] and not world.problem() and world.entries() == 0
    play(world, "A!")
    world.settle()
    assert names_of(world.delivered["C"]) == ["a1", "a2"] and world.entries() == 0


def test_figure_4_prc_step_by_step() -> None:
    """B adds a link to C, which A mediates: the buffers, and what C makes of them (figure 4j)."""
    world = world_of("prc")
    b, c = world.cores["B"], world.cores["C"]
    play(world, "B+C/A")  # a
    assert world.flight["B", "C"][0] == Alpha(1, ("A", "B"))
    play(world, "B>C C!")  # c
    s = c.accepting["B"]
    assert {label(message) for message in s.alpha} == {"c1"} and not s.got_pi
    play(world, "C>A C>A")  # d: beta, c1
    play(world, "A>C A>B A>B B!")  # e: C discards c1; beta, c1 and b1 at B
    assert [label(message.id) for message in b.opening["C"].buffer] == ["c1", "b1"]
    play(world, "B>A B>A B>A C!")  # f: pi, c1 which is discarded, b1; and c2
    assert {label(message) for message in s.alpha} == {"c1", "c2"}
    play(world, "C>A B! A>C A>C C!")  # g: c2 at A; b2; pi, b1 and c3 at C
    assert s.got_pi and {label(message) for message in s.alpha} == {"c1", "c2"}
    assert {label(message) for message in s.pi} == {"b1", "c3"}
    # h: c2 and rho at B, in the midst of the messages that A passes on
    play(world, "C>A C>A B>A C>A A>B A>B")
    assert names_of(world.delivered["B"]) == ["c1", "b1", "b2", "c2"] and not world.safe
    play(world, "A>B")
    assert world.safe == [("B", "C")]
    sent = world.flight["B", "C"][0]
    assert isinstance(sent, Buffered)
    assert [label(message.id) for message in sent.frames] == ["c1", "b1", "b2", "c2"]
    # i and j: c1, b1 and c2 to ignore, b2 to deliver, c3 to expect from B
    assert names_of(world.delivered["C"]) == ["c1", "c2", "b1", "c3"]
    play(world, "B>C")
    assert names_of(world.delivered["C"]) == ["c1", "c2", "b1", "c3", "b2"]
    assert c.expected.over("B") == {("C", 3)}
    assert ("B", 2) in c.expected.over("A")  # "expects another copy from Process A"
    world.settle()
    assert not world.problem() and world.entries() == 0


def control_frames(world: OverlayWorld) -> int:
    """The number of frames without a message."""
    return sum(world.count[kind] for kind in ("Alpha", "Routed", "Flood", "Pong"))


def test_section_2_5_control_messages_for_an_added_link() -> None:
    """8 with a mediator each way, and 6 if B has a link to A: here one less, for alpha's hop."""
    world = world_of("prc")
    play(world, "B+C/A")
    world.settle()
    assert world.safe == [("B", "C")] and control_frames(world) == 7
    world.open("C", "B", ["A"], [])  # and now B has a link to C
    world.settle()
    assert world.safe[1:] == [("C", "B")] and control_frames(world) == 7 + 5


def test_section_2_5_without_a_route_control_goes_to_everybody() -> None:
    """Beta, pi and rho each travel once over every link in use."""
    world = world_of("prc")
    play(world, "B+C")
    world.settle()
    assert world.safe == [("B", "C")] and world.count["Alpha"] == 1
    assert world.count["Flood"] == 3 * len(LINKS)


def test_table_1_preventive_needs_half_of_that_and_remembers() -> None:
    """A ping through the mediator and a pong; but every sender is remembered permanently."""
    world = world_of("preventive")
    play(world, "B+C/A")
    world.settle()
    assert world.safe == [("B", "C")] and control_frames(world) == 3
    assert world.entries() == 0
    play(world, "A! B!")
    world.settle()
    assert world.entries() == 6 and not world.problem()


def test_section_2_5_messages_carry_a_scalar() -> None:
    """Nothing but the name of the message, however many processes there are."""
    world = world_for(maker("prc"), both_ways(*[f"A{name}" for name in "BCDEFGHIJK"]))
    play(world, "B! B>A")
    assert {frame for frames in world.flight.values() for frame in frames} == {
        Broadcast("B", 1, b"1")
    }
    assert world.entries() == 1 + 9  # B from A, and A from everybody but B
