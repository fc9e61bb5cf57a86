"""Exchanging neighbours, in the manner of Spray (Nédelec, Tanke, Frey, Molli and Mostéfaoui 2017).

Every process has chosen some neighbours: its view. Periodically it picks its oldest neighbour, and the
two give each other half of their views. The number of choices stays the same; only their owners change.
So the links between processes become a random graph, and stay one.
"""

from collections.abc import Callable

from beforehand.simulator.world.random_streams import Stream

Move = tuple[int, int, int]  # giver, taker, the neighbour that is given


def exchange(
    views: list[dict[int, int]],
    process: int,
    stream: Stream,
    may_give: Callable[[int, int], bool],
) -> list[Move]:
    """The moves between a process and its oldest neighbour, for the caller to carry out.

    A neighbour that the other has chosen or was chosen by is not given: so the number of choices stays.
    The choice of the oldest neighbour itself is reversed at once, since that needs no other link.
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
    """Half of one view, without the processes that the other has chosen or is chosen by."""
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
        index = int(stream.below(len(choices)))
        chosen.append((giver, taker, choices[index]))
        choices[index] = choices[-1]
        choices.pop()
    return chosen
