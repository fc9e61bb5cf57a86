"""Exchanging neighbours, in the manner of Spray (Nédelec, Tanke, Frey, Molli and Mostéfaoui 2017).

Each process has chosen some neighbours: its view. From time to time it picks the one that it has had
longest, and the two give each other half of their views. The choices are neither more nor fewer after
it; what changes is who has them. So the links between processes become a random graph, and stay one.
"""

from __future__ import annotations

from collections.abc import Callable

from beforehand.simulator.world.random_streams import Stream

Move = tuple[int, int, int]  # giver, taker, the neighbour that is given


def exchange(
    views: list[dict[int, int]],
    process: int,
    stream: Stream,
    may_give: Callable[[int, int], bool],
) -> list[Move]:
    """What a process and its oldest neighbour give each other: for the caller to carry out.

    Nothing is given that the other has chosen or was chosen by: so the number of choices stays. The
    choice of that neighbour itself is turned around at once, since it needs no other link.
    """
    view = views[process]
    for peer in view:
        view[peer] += 1
    partners = [peer for peer in view if may_give(process, peer)]
    if not partners:
        return []
    partner = max(partners, key=lambda peer: (view[peer], -peer))
    del view[partner]
    views[partner][process] = 0
    moves = _half(views, process, partner, stream, may_give)
    moves += _half(views, partner, process, stream, may_give)
    return moves


def _half(
    views: list[dict[int, int]],
    giver: int,
    taker: int,
    stream: Stream,
    may_give: Callable[[int, int], bool],
) -> list[Move]:
    """Half of one view, without what the other has chosen or is chosen by."""
    view = views[giver]
    choices = [
        peer
        for peer in view
        if peer != taker
        and peer not in views[taker]
        and taker not in views[peer]
        and may_give(giver, peer)
    ]
    wanted = (len(view) + 1) // 2
    chosen: list[Move] = []
    while choices and len(chosen) < wanted:
        place = int(stream.below(len(choices)))
        chosen.append((giver, taker, choices[place]))
        choices[place] = choices[-1]
        choices.pop()
    return chosen
