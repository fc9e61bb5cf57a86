"""The overlay at the start of a run: who has a link to whom.

    ring                     every process with its two neighbours
    complete                 every process with every other
    random[:DEGREE]          about DEGREE random neighbours each; connected by a random ring
    tree[:ARITY]             a tree filled level by level; or tree:child=parent,child=parent,...
    spray[:PERIOD[,UNTIL]]   random views of about ln(n) neighbours, exchanged every PERIOD
    links:a>b,b>a,...        just these, each in its direction

All but the last have links in both directions. `dynamics.py` is about how they change.
"""

from typing import Final

from beforehand.errors import ScenarioError
from beforehand.simulator import units
from beforehand.simulator.overlays.peer_sampling import exchange
from beforehand.simulator.world.random_streams import Stream

SYNTAX: Final = (
    "ring, complete, random[:DEGREE], tree[:ARITY], tree:child=parent,..., "
    "spray[:PERIOD[,UNTIL]], links:a>b,..."
)
MIXING: Final = 10  # rounds of exchanges before the run: the order of joining must not matter
MINUTE: Final = 60 * 10**9
MAX_LINKS: Final = 20_000_000


class OverlayLayout:
    """Links between processes by their indexes, and the parameters of exchanges."""

    def __init__(self, links: list[list[int]]) -> None:
        self.period: int = 0  # of exchanges, in nanoseconds; 0: there are none
        self.until: int = 0  # when exchanges end; 0: with the traffic
        self.links = links  # process -> the peers that its links lead to
        self.parents: dict[int, int] = {}  # of a tree: child -> parent
        self.views: list[list[int]] = []  # process -> neighbours it has chosen; empty if one-way


def build_layout(text: str, names: list[str], seed: int) -> OverlayLayout:
    """The layout of an overlay, from its name and parameters."""
    name, colon, rest = text.partition(":")
    fields = [field.strip() for field in rest.split(",")] if colon else []
    count = len(names)
    stream = Stream(f"{seed}/overlay")
    if name == "links" and fields:
        return _explicit(fields, names)
    if name == "tree":
        return _tree(text, fields, names)
    if name == "ring" and not fields:
        return _both_ways([[(index + 1) % count] for index in range(count)])
    if name == "complete" and not fields:
        _check_size(count * (count - 1))
        return _both_ways([list(range(index + 1, count)) for index in range(count)])
    if name == "random" and len(fields) <= 1:
        return _random(fields, count, stream)
    if name == "spray" and len(fields) <= 2:
        layout = _both_ways(spray_views(count, stream))
        layout.period = units.duration(fields[0], "spray: PERIOD") if fields else MINUTE
        layout.until = units.duration(fields[1], "spray: UNTIL") if len(fields) > 1 else 0
        if layout.period == 0:
            raise ScenarioError("spray: PERIOD is 0; give a duration, such as 1min")
        return layout
    raise ScenarioError(f"there is no overlay {text!r}; the overlays: {SYNTAX}")


def _both_ways(views: list[list[int]]) -> OverlayLayout:
    """A link in both directions for every choice; a process that chose itself is skipped."""
    chosen: list[list[int]] = [
        [peer for peer in view if peer != index] for index, view in enumerate(views)
    ]
    links: list[dict[int, None]] = [{} for _ in views]
    for index, view in enumerate(chosen):
        for peer in view:
            links[index][peer] = None
            links[peer][index] = None
    layout = OverlayLayout([list(peers) for peers in links])
    # A pair that chose each other counts as one choice, of the first.
    layout.views = [
        [peer for peer in dict.fromkeys(view) if peer > index or index not in chosen[peer]]
        for index, view in enumerate(chosen)
    ]
    return layout


def _random(fields: list[str], count: int, stream: Stream) -> OverlayLayout:
    degree = 2 * len(str(count)) + 2
    if fields:
        degree = units.whole(fields[0], "random: DEGREE", 2, MAX_LINKS)
    if degree >= count - 1:
        _check_size(count * (count - 1))
        return _both_ways([list(range(index + 1, count)) for index in range(count)])
    _check_size(count * degree)
    ring = stream.permutation(count)
    views: list[list[int]] = [[] for _ in range(count)]
    for index in range(count):
        views[ring[index]].append(ring[(index + 1) % count])
    for index in range(count):
        view = views[index]
        while len(view) < degree // 2:
            peer = int(stream.below(count))
            if peer != index and peer not in view:
                view.append(peer)
    return _both_ways(views)


def spray_views(count: int, stream: Stream) -> list[list[int]]:
    """Views as if the processes had joined one after the other, and then mixed.

    A newcomer chooses its contact, and the neighbours of the contact choose the newcomer: that makes
    about count * ln(count) choices, although no process knows the count.
    """
    views: list[dict[int, int]] = [{} for _ in range(count)]
    for newcomer in range(1, count):
        contact = int(stream.below(newcomer))
        for peer in views[contact]:
            views[peer][newcomer] = 0
        views[newcomer][contact] = 0
    for _ in range(MIXING):
        for index in range(count):
            for giver, taker, peer in exchange(views, index, stream, _any_link):
                del views[giver][peer]
                views[taker][peer] = 0
    return [list(view) for view in views]


def _any_link(one: int, other: int) -> bool:
    return True


def _tree(text: str, fields: list[str], names: list[str]) -> OverlayLayout:
    indexes = {name: index for index, name in enumerate(names)}
    parents: dict[int, int] = {}
    if fields and "=" in fields[0]:
        for field in fields:
            start, equals, end = field.partition("=")
            if not equals:
                raise ScenarioError(f"tree: {field!r} is not understood; write it as child=parent")
            child = units.process_index(start, indexes, "tree")
            if child in parents:
                raise ScenarioError(
                    f"tree: {start.strip()} has two parents; give every process one"
                )
            parents[child] = units.process_index(end, indexes, "tree")
    elif len(fields) <= 1:
        arity = units.whole(fields[0], "tree: ARITY") if fields else 2
        parents = {child: (child - 1) // arity for child in range(1, len(names))}
    else:
        raise ScenarioError(f"tree: {text!r} is not understood; write it as {SYNTAX}")
    views: list[list[int]] = [[] for _ in names]
    for child, parent in parents.items():
        if child != parent:
            views[child].append(parent)
    layout = _both_ways(views)
    layout.parents = parents
    return layout


def _explicit(fields: list[str], names: list[str]) -> OverlayLayout:
    indexes = {name: index for index, name in enumerate(names)}
    links: list[list[int]] = [[] for _ in names]
    for field in fields:
        start, arrow, end = field.partition(">")
        if not arrow:
            raise ScenarioError(f"links: {field!r} is not understood; write it as a>b")
        one = units.process_index(start, indexes, "links")
        other = units.process_index(end, indexes, "links")
        if one == other:
            raise ScenarioError(
                f"links: {field!r} is a link from a process to itself; name two processes"
            )
        if other not in links[one]:
            links[one].append(other)
    return OverlayLayout(links)


def _check_size(links: int) -> None:
    if links > MAX_LINKS:
        raise ScenarioError(
            f"the overlay would have {links:,} links, beyond {MAX_LINKS:,}; choose a sparser one"
        )
