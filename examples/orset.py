"""A set that several replicas change at once and that ends up the same everywhere: an op-based OR-Set.

Adding an element gives it a fresh tag. Removing it removes the tags that this replica has seen, so an
addition that was made elsewhere at the same time survives. If a removal never comes before the
additions that it has seen, a replica can forget removed tags at once: no tombstones. That is
exactly what causal delivery guarantees. With `fifo`, the order of each sender only, removed words stay.

    python examples/orset.py
"""

from __future__ import annotations

import asyncio
import json
import random
from contextlib import AsyncExitStack

import beforehand
from beforehand.runtime.transports import Faulty, UdpTransport

REPLICAS = ("athens", "berlin", "cairo", "dakar")
CHANGES = 100  # by each replica
WORDS = ("apple", "bread", "cheese", "dates", "eggs")


class Replica:
    """A set of words, each with the tags of the additions that have not been removed."""

    def __init__(self, node: beforehand.Node) -> None:
        self.node = node
        self.tags: dict[str, set[str]] = {}
        self.made = 0  # changes by this replica

    async def change(self, action: str, word: str) -> None:
        """Add a word, or remove it, here and everywhere."""
        self.made += 1
        tags = [f"{self.node.name}:{self.made}"] if action == "add" else sorted(self.tags[word])
        self._apply(action, word, tags)
        others = [name for name in REPLICAS if name != self.node.name]
        await self.node.send(others, json.dumps([action, word, tags]).encode())

    def _apply(self, action: str, word: str, tags: list[str]) -> None:
        known = self.tags.setdefault(word, set())
        if action == "add":
            known.update(tags)
        else:
            known.difference_update(tags)
        if not known:
            del self.tags[word]

    async def listen(self) -> None:
        """Apply what the others do, in the order in which it comes."""
        for _ in range(CHANGES * (len(REPLICAS) - 1)):
            self._apply(*json.loads((await self.node.receive()).payload))

    async def live(self, rng: random.Random) -> None:
        """Change the set now and then, while others do."""
        for _ in range(CHANGES):
            if self.tags and rng.random() < 0.5:
                await self.change("remove", rng.choice(sorted(self.tags)))
            else:
                await self.change("add", rng.choice(WORDS))
            await asyncio.sleep(0.001 * rng.random())


async def replicate(protocol: str) -> bool:
    """Let all of them change the set at once; returns whether they agree in the end."""
    nodes: dict[str, beforehand.Node] = {}
    async with AsyncExitStack() as stack:
        for seed, name in enumerate(REPLICAS):
            # Replicas that start later introduce themselves, so they need no address here.
            peers = {r: nodes[r].address if r in nodes else "" for r in REPLICAS if r != name}
            bad = Faulty(UdpTransport(), loss=0.1, duplicate=0.1, reorder=0.3, seed=seed)
            node = beforehand.Node(name, transport=bad, peers=peers, protocol=protocol)
            nodes[name] = await stack.enter_async_context(node)
        replicas = [Replica(node) for node in nodes.values()]
        living = (replica.live(random.Random(replica.node.name)) for replica in replicas)
        await asyncio.gather(*living, *(replica.listen() for replica in replicas))
    agree = all(replica.tags == replicas[0].tags for replica in replicas)
    outcome = "agree" if agree else "do NOT agree"
    print(f"{protocol}: {CHANGES * len(REPLICAS)} changes, and the replicas {outcome}:")
    for replica in replicas:
        print(f"  {replica.node.name} has {', '.join(sorted(replica.tags)) or 'nothing'}")
    return agree


if __name__ == "__main__":
    beforehand.run(replicate("fifo"))
    assert beforehand.run(replicate("hybrid-sps"))
