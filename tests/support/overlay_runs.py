"""Small runs on an overlay, written as a line of steps, for what is easier to read than to draw.

    1!       1 broadcasts                       0>2      the next frame from 0 to 2 arrives
    1+2      1 opens a link to 2                0>>2     all that is in flight from 0 to 2 arrives
    1+2/0    the same, over the mediator 0      1-2      1 closes its link to 2
    3@1      3 joins through 1                  0x       0 crashes (and is not dropped yet)
    2~0      2 drops 0                          1t       1 ticks
    2?       2 answers the next message that it delivers, at once

A step that cannot be done in this run (no frame is there, no link to close) is left out, so that the
same steps can be taken by a core and by a broken copy of it. At the end everything settles.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress

from beforehand.errors import LocalProtocolError, RemoteProtocolError
from tests.support.overlay import Make, OverlayWorld, Pair

STEP = re.compile(r"(\w)(!|\+|>>|>|-|@|x|~|t|\?)(\w?)(?:/(\w))?$")


def both_ways(*pairs: str) -> list[Pair]:
    """Links in both directions, each given as two names of one letter."""
    return [link for two in pairs for link in ((two[0], two[1]), (two[1], two[0]))]


STAR = both_ways("01", "02")  # 0 mediates between 1 and 2
TRIANGLE = both_ways("01", "02", "12")
SQUARE = both_ways("01", "02", "31", "32")  # there are two mediators
TAIL = both_ways("01", "02", "13")


def world_for(make: Make, links: Iterable[Pair] = STAR) -> OverlayWorld:
    """A world on these links, in which nothing has happened."""
    pairs = list(links)
    return OverlayWorld(make, sorted({name for pair in pairs for name in pair}), pairs)


def play(world: OverlayWorld, steps: str) -> None:
    """Take these steps."""
    for step in steps.split():
        match = STEP.match(step)
        assert match is not None, f"{step!r} isn't a step"
        take(world, *match.groups())


def take(world: OverlayWorld, process: str, action: str, peer: str, mediator: str | None) -> None:
    """Take one step, unless it cannot be taken here."""
    if process in world.gone and not action.startswith(">"):
        return
    match action:
        case "!":
            world.send(process)
        case "+":
            # Without the route if the mediator cannot be reached any more.
            via = [mediator] if mediator and mediator in world.cores[process].links.out else None
            world.open(process, peer, via)
        case ">":
            world.arrive(process, peer)
        case ">>":
            for _ in range(len(world.flight.get((process, peer), ()))):
                world.arrive(process, peer)
        case "-":
            core = world.cores[process]
            if peer in core.links.out or core.is_opening(peer):
                world.close(process, peer)
        case "@":
            with suppress(LocalProtocolError):  # it is joining already
                world.join(process, peer)
        case "x":
            world.crash(process)
        case "~":
            world.drop(process, peer)
        case "t":
            world.tick(process)
        case _:
            world.answers[process] += 1


def outcome(make: Make, steps: str, links: Iterable[Pair] = STAR, forgets: bool = True) -> str:
    """What is wrong with the run after it has settled, empty if nothing is."""
    world = world_for(make, links)
    try:
        play(world, steps)
        world.settle()
    except (RemoteProtocolError, LocalProtocolError, AttributeError, KeyError) as error:
        return f"error: {type(error).__name__}: {error}"
    problem = world.problem()
    if not problem and forgets and world.entries():
        return f"kept: {world.entries()} entries at the end"
    return problem
