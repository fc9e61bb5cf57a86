"""Nodes that talk while they are cut off, dropped, killed and restarted at random, by a seed.

Every message carries the clock of its sender: for each life of each process, how many messages of it
the sender knew of. Delivering message k of a life is a violation when the receiver knows of k already:
it has delivered something that the message precedes, or the message itself.
"""

from __future__ import annotations

import asyncio
import pickle
import random
import time
from dataclasses import dataclass, field

from beforehand import Node
from beforehand.errors import LocalProtocolError, NodeClosedError, PeerDroppedError, WouldBlock
from beforehand.runtime.transports.faulty import Faulty
from tests.runtime.nodes import KEY, TappedNetwork

Incarnation = tuple[str, int]  # a name, and the how many-th life under it

NAMES = ("alice", "bob", "carol", "dave")


@dataclass
class Life:
    """One incarnation of one process."""

    incarnation: Incarnation
    node: Node
    rng: random.Random
    clock: dict[Incarnation, int] = field(default_factory=dict)
    tasks: list[asyncio.Task[None]] = field(default_factory=list)

    async def talk(self) -> None:
        """Send to one or two others as fast as there is room, forever."""
        others = [name for name in NAMES if name != self.incarnation[0]]
        while True:
            clock = {**self.clock, self.incarnation: self.clock.get(self.incarnation, 0) + 1}
            ballast = bytes(self.rng.choice((0, 10, 3_000, 20_000)))
            to = self.rng.sample(others, self.rng.choice((1, 2)))
            try:
                self.node.try_send(to, pickle.dumps((self.incarnation, clock, ballast)))
                self.clock = clock
            except (WouldBlock, PeerDroppedError):
                pass
            except NodeClosedError:
                return
            await asyncio.sleep(self.rng.choice((0, 0.001, 0.005)))


class Chaos:
    """The processes, the network between them, and what went wrong."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.rng = random.Random(seed)
        self.network = TappedNetwork(seed)
        self.lives: dict[str, Life] = {}
        self.born = dict.fromkeys(NAMES, 0)
        self.violations: list[str] = []
        self.delivered = self.restarts = self.cuts = self.drops = 0

    async def begin(self, name: str) -> None:
        """A process starts. Of each pair at least one knows the other's address."""
        self.born[name] += 1
        born = self.born[name]
        knows = [n for n in NAMES if n > name or (n < name and self.rng.random() < 0.5)]
        seed = 1_000 * self.seed + born
        inner = self.network.transport(name)
        node = Node(
            name,
            transport=Faulty(inner, loss=0.05, duplicate=0.05, reorder=0.2, seed=seed),
            peers={n: n if n in knows else "" for n in NAMES if n != name},
            key=KEY if self.seed % 2 else None,
            silent_after=0.15,
            drop_after=0.5,
            window=50,
        )
        life = Life((name, born), await node.start(), random.Random(77 * self.seed + born))
        life.tasks = [asyncio.ensure_future(life.talk()), asyncio.ensure_future(self.listen(life))]
        self.lives[name] = life

    async def listen(self, life: Life) -> None:
        """Check every delivery."""
        async for message in life.node:
            incarnation, clock, _ = pickle.loads(message.payload)
            known = life.clock.get(incarnation, 0)
            if known >= clock[incarnation] or message.sender != incarnation[0]:
                self.violations.append(
                    f"{life.incarnation} got {clock[incarnation]} of {incarnation}, and knew of {known}"
                )
            if any(name == incarnation[0] and n > incarnation[1] for name, n in life.clock):
                self.violations.append(f"{life.incarnation} got something of the old {incarnation}")
            for other, count in clock.items():
                life.clock[other] = max(count, life.clock.get(other, 0))
            self.delivered += 1

    async def end(self, name: str, politely: bool) -> None:
        """Stop a process, with or without a farewell."""
        life = self.lives.pop(name)
        life.tasks[0].cancel()
        for other in () if politely else NAMES:
            self.network.cut(name, other)
        await life.node.close(0.3 if politely else 0)
        await asyncio.sleep(0.01)
        for other in NAMES:
            self.network.heal(name, other)
        await asyncio.gather(*life.tasks, return_exceptions=True)

    async def disturb(self) -> None:
        """Inject a random fault into a random process."""
        name, other = self.rng.sample(NAMES, 2)
        draw = self.rng.random()
        if draw < 0.3:
            self.restarts += 1
            await self.end(name, self.rng.random() < 0.3)
            await asyncio.sleep(self.rng.choice((0, 0.1, 0.5)))
            await self.begin(name)
        elif draw < 0.8:
            self.cuts += 1
            paths = [(name, other) for other in NAMES] + [(other, name) for other in NAMES]
            paths = [path for path in paths if self.rng.random() < 0.7]
            for path in paths:
                self.network.cut(*path)
            await asyncio.sleep(self.rng.choice((0.05, 0.2, 0.45, 0.8)))
            for path in paths:
                self.network.heal(*path)
        else:
            try:
                self.lives[name].node.drop(other)
                self.drops += 1
            except LocalProtocolError:
                pass  # it was not there

    async def run(self, seconds: float) -> None:
        """Inject faults for a while; then restart all, wait for their sessions, and flush."""
        for name in NAMES:
            await self.begin(name)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            await asyncio.sleep(self.rng.uniform(0.05, 0.4))
            self.network.carried.clear()
            await self.disturb()
        for name in NAMES:
            await self.end(name, False)
        for name in NAMES:
            await self.begin(name)
        async with asyncio.timeout(15):
            while self.states() != {"up"}:
                await asyncio.sleep(0.02)
        for life in self.lives.values():
            life.tasks[0].cancel()
        async with asyncio.timeout(15):
            await asyncio.gather(*(life.node.flush() for life in self.lives.values()))
        for life in self.lives.values():
            self.violations += [f"{life.incarnation} holds {held}" for held in life.node.held()]
        for name in NAMES:
            await self.end(name, True)

    def states(self) -> set[str]:
        """The states of all peers of all processes."""
        nodes = [life.node for life in self.lives.values()]
        return {peer.state for node in nodes for peer in node.stats().peers.values()}
