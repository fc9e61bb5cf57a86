"""Table 1 of Nédelec et al., measured: what a broadcast costs as more and more processes broadcast.

The systems of the table, and their counterparts here:

    causal broadcast [2]        `vector`
    preventive broadcast [2]    `preventive`
    this paper                  `prc`
    reliable broadcast [9]      not implemented: it filters duplicates like `preventive`, so its figures
                                are those of `preventive` while no link is added. Instead:
    (Algorithm 1)               `link-memory`, on links that do not change

Real cores run in rounds: in each round one process broadcasts, a frame takes one to three rounds, and
frames of a link do not overtake each other. There are two ways in which N, the number of processes that
ever broadcast, can grow: N of a fixed number of processes broadcast, or all of N processes do. The
clocks of `vector` are as long as its membership, whoever broadcasts: its O(N) shows in the second only.
"""

from __future__ import annotations

import heapq
import random
from collections import Counter
from dataclasses import dataclass
from typing import Any

SYSTEMS = {
    "link-memory": "Algorithm 1",
    "vector": "causal broadcast",
    "preventive": "preventive broadcast",
    "prc": "this paper",
}
PAYLOAD = b"x" * 32
SLOWEST = 3  # rounds that a frame takes at most
COUNTED = 6  # broadcasts during which lines are counted
SEED = 4

DYNAMIC = ("preventive", "prc")  # the systems in which links are made with control messages
SETUPS = ("mediated", "returning", "flooded", "worst")


Call = tuple[object, ...]  # the name of a measurement, and its arguments


@dataclass(frozen=True)
class Sizes:
    """The sizes of all measurements."""

    broadcasters: tuple[int, ...] = (10, 30, 100, 300)
    degree: int = 8
    degrees: tuple[int, ...] = (4, 8, 16, 32)
    crowds: tuple[int, ...] = (10, 30, 100)  # for the cost of a link

    @property
    def size(self) -> int:
        """Processes, where their number does not grow."""
        return self.broadcasters[-1]


QUICK = Sizes((8, 24, 72), 4, (4, 8), (12, 36))


class Crowd:
    """Cores, frames in flight, and counts of what they did."""

    def __init__(self, protocol: str, names: list[str], links: list[list[int]]) -> None:
        from beforehand import protocols

        self.cores = {
            name: protocols.create(
                protocol, name, processes=names, links=[names[peer] for peer in links[index]]
            )
            for index, name in enumerate(names)
        }
        self.random = random.Random(SEED)
        self.now = 0
        self.flight: list[tuple[int, int, str, str, Any]] = []  # arrival, order, from, to, frame
        self.arrivals: dict[tuple[str, str], int] = {}  # of the last frame on each link
        self.control: Counter[str] = Counter()
        self.sent = 0  # frames
        self.frames = 0  # those with a message
        self.metadata_bytes = 0
        self.receipts = 0
        self.delivered = 0
        self.safe = 0

    def carry(self, name: str, effects: Any) -> None:
        """Carry out the effects of a core."""
        from beforehand import wire
        from beforehand.protocols import Deliver, Transmit
        from beforehand.protocols.effects import Safe

        for effect in effects:
            if isinstance(effect, Transmit):
                frame = effect.frame
                if frame.messages():
                    self.frames += 1
                    self.metadata_bytes += wire.size(frame) - frame.payload_bytes()
                else:
                    self.control[kind_of(frame)] += 1
                link = (name, effect.to)
                at = self.now + self.random.randint(1, SLOWEST)
                at = max(at, self.arrivals.get(link, 0))
                self.arrivals[link] = at
                self.sent += 1
                heapq.heappush(self.flight, (at, self.sent, name, effect.to, frame))
            elif isinstance(effect, Deliver):
                self.delivered += 1
            elif isinstance(effect, Safe):
                self.safe += 1

    def broadcast(self, name: str) -> None:
        """One process broadcasts."""
        self.carry(name, self.cores[name].send(None, PAYLOAD))

    def round(self) -> None:
        """Advance by one round and receive everything that is due."""
        self.now += 1
        while self.flight and self.flight[0][0] <= self.now:
            _, _, source, to, frame = heapq.heappop(self.flight)
            self.receipts += 1
            self.carry(to, self.cores[to].receive(source, frame))

    def settle(self) -> None:
        """Advance until nothing is in flight."""
        while self.flight:
            self.round()

    def entries(self) -> list[int]:
        """The number of entries about messages, per process."""
        return [core.entries() for core in self.cores.values()]


def kind_of(frame: Any) -> str:
    """Control frames by the names that the papers give them."""
    from beforehand.protocols.overlay.frames import BETA, PI, PING, RHO, Buffered, Flood, Routed

    if isinstance(frame, (Flood, Routed)):
        return {PING: "ping", BETA: "beta", PI: "pi", RHO: "rho"}[int(frame.control.kind)]
    return "B-beta" if isinstance(frame, Buffered) else type(frame).__name__.lower()


def names_of(count: int) -> list[str]:
    """Process names of equal length, because frames contain names."""
    return [f"p{index:04}" for index in range(count)]


def crowd_of(protocol: str, size: int, degree: int) -> Crowd:
    """Processes on a random overlay of a given degree."""
    from beforehand.simulator.overlays.layouts import build_layout

    names = names_of(size)
    return Crowd(protocol, names, build_layout(f"random:{degree}", names, SEED).links)


def order_of(crowd: Crowd, broadcasters: int, messages: int) -> list[str]:
    """Who broadcasts in which round: all of them in turn, in random order."""
    chosen = crowd.random.sample(sorted(crowd.cores), broadcasters)
    return [chosen[index % broadcasters] for index in range(messages)]


# ---- measurements, each in its own process ----


def spread(
    protocol: str, size: int, broadcasters: int, degree: int, messages: int
) -> dict[str, float]:
    """Bytes per frame, and entries per process: the peak during the run, and at the end."""
    crowd = crowd_of(protocol, size, degree)
    peak = 0.0
    for name in order_of(crowd, broadcasters, messages):
        crowd.broadcast(name)
        crowd.round()
        held = crowd.entries()
        peak = max(peak, sum(held) / len(held))
    crowd.settle()
    held = crowd.entries()
    if crowd.delivered != messages * size:
        raise SystemExit(f"{protocol}: {crowd.delivered} deliveries of {messages} to {size}")
    return {
        "bytes": crowd.metadata_bytes / crowd.frames,
        "space_peak": peak,
        "space_after": sum(held) / len(held),
    }


def work(protocol: str, size: int, broadcasters: int, degree: int) -> dict[str, float]:
    """Lines of the core that a receipt executes, after everybody has broadcast; in the pure build."""
    from tests.support.work import COUNTABLE, counted_lines

    if not COUNTABLE:
        raise SystemExit("lines can be counted in the pure build only")
    crowd = crowd_of(protocol, size, degree)
    for name in order_of(crowd, broadcasters, broadcasters):
        crowd.broadcast(name)
        crowd.round()
    crowd.settle()
    receipts, delivered = crowd.receipts, crowd.delivered
    with counted_lines() as lines:
        for name in order_of(crowd, broadcasters, COUNTED):
            crowd.broadcast(name)
            crowd.round()
        crowd.settle()
    return {
        "lines": lines.count / (crowd.receipts - receipts),
        "lines_per_delivery": lines.count / (crowd.delivered - delivered),
    }


def added(protocol: str, size: int, degree: int, setup: str) -> dict[str, int]:
    """Frames that one new link takes, by their kinds.

    mediated: through a common neighbour, there and back; returning: the same, but the peer already has a
    link to the opener; flooded: no route is known; worst: the same on a complete overlay.
    """
    from beforehand.simulator.overlays.layouts import build_layout

    names = names_of(size)
    links = build_layout("complete" if setup == "worst" else f"random:{degree}", names, SEED).links
    a, mediator, b = 0, links[0][0], 0
    if setup == "worst":
        b = links[0][-1]
        links[a].remove(b)
        links[b].remove(a)
    else:
        mediator, b = next(
            (peer, far)
            for peer in links[a]
            for far in links[peer]
            if far != a and far not in links[a]
        )
    crowd = Crowd(protocol, names, links)
    opener, peer, via = names[a], names[b], [names[mediator]]
    if setup in ("mediated", "returning"):
        crowd.carry(opener, crowd.cores[opener].open(peer, via))
    else:
        crowd.carry(opener, crowd.cores[opener].open(peer))
    crowd.settle()
    if setup == "returning":
        crowd.control.clear()
        crowd.carry(peer, crowd.cores[peer].open(opener, via, []))
        crowd.settle()
    if crowd.safe != (2 if setup == "returning" else 1):
        raise SystemExit(f"{protocol}, {setup}: the link did not come into use")
    return dict(crowd.control)


# ---- all of it ----


def calls(sizes: Sizes) -> tuple[list[Call], list[Call]]:
    """What to measure: in any build, and in the pure one."""
    anywhere: list[Call] = []
    pure: list[Call] = []
    for system in SYSTEMS:
        for count in sizes.broadcasters:
            for size in {sizes.size, count}:
                anywhere.append(("spread", system, size, count, sizes.degree, sizes.size))
                pure.append(("work", system, size, count, sizes.degree))
    for degree in sizes.degrees:
        if degree != sizes.degree:
            anywhere.append(("spread", "prc", sizes.size, sizes.size, degree, sizes.size))
            pure.append(("work", "prc", sizes.size, sizes.size, degree))
    for system in DYNAMIC:
        anywhere += [
            ("added", system, size, sizes.degree, setup)
            for size in sizes.crowds
            for setup in SETUPS
        ]
    return anywhere, pure
