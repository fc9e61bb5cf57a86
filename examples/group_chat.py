"""A group chat in which nobody sees an answer before what it answers.

Four members post to the whole group, over encrypted UDP that loses, duplicates and reorders datagrams.
Every message of a thread is answered by the next member in turn. The first run keeps only the order of
each sender, as with TCP or a queue: some members get answers to messages that they have not seen. The
second run keeps causal order.

    python examples/group_chat.py
"""

from __future__ import annotations

import asyncio
import json
from contextlib import AsyncExitStack

import beforehand
from beforehand.runtime.transports import Faulty, UdpTransport

MEMBERS = ("alice", "bob", "carol", "dave")
THREADS = 25  # that each member starts
ANSWERS = 6  # in each thread, one after the other


class Member:
    """One person's view of the chat."""

    def __init__(self, node: beforehand.Node) -> None:
        self.node = node
        self.seen: set[str] = set()
        self.puzzling = 0  # answers to something that was not there yet

    async def post(self, thread: str, index: int) -> None:
        """Post to all others in one causal multicast."""
        self.seen.add(f"{thread}/{index}")
        text = json.dumps({"thread": thread, "index": index}).encode()
        await self.node.send([name for name in MEMBERS if name != self.node.name], text)

    async def talk(self) -> None:
        """Start threads, and answer when it is our turn, until every message has been seen."""
        for thread in range(THREADS):
            await self.post(f"{self.node.name}'s {thread}", 0)
        while len(self.seen) < len(MEMBERS) * THREADS * (1 + ANSWERS):
            message = await self.node.receive()
            post = json.loads(message.payload)
            thread, index = post["thread"], post["index"]
            self.seen.add(f"{thread}/{index}")
            if index > 0 and f"{thread}/{index - 1}" not in self.seen:
                self.puzzling += 1
            next_one = MEMBERS[(MEMBERS.index(message.sender) + 1) % len(MEMBERS)]
            if index < ANSWERS and next_one == self.node.name:
                await self.post(thread, index + 1)


async def chat(protocol: str) -> int:
    """Let them talk; returns how many answers came before what they answer."""
    key = beforehand.keygen()
    nodes: dict[str, beforehand.Node] = {}
    transports = []
    async with AsyncExitStack() as stack:
        for seed, name in enumerate(MEMBERS):
            # Members that start later introduce themselves, so they need no address here.
            peers = {m: nodes[m].address if m in nodes else "" for m in MEMBERS if m != name}
            bad = Faulty(UdpTransport(), loss=0.1, duplicate=0.1, reorder=0.3, seed=seed)
            node = beforehand.Node(name, transport=bad, peers=peers, key=key, protocol=protocol)
            nodes[name] = await stack.enter_async_context(node)
            transports.append(bad)
        members = [Member(node) for node in nodes.values()]
        await asyncio.gather(*(member.talk() for member in members))
    puzzling = sum(member.puzzling for member in members)
    faults = [
        sum(getattr(t, count) for t in transports) for count in ("lost", "doubled", "held_back")
    ]
    print(f"{protocol}: {faults[0]} datagrams lost, {faults[1]} doubled, {faults[2]} held back")
    print(f"  {len(members[0].seen)} messages seen by each of {len(members)} members")
    print(f"  {puzzling} answers came before what they answer")
    return puzzling


if __name__ == "__main__":
    beforehand.run(chat("fifo"))
    assert beforehand.run(chat("hybrid-sps")) == 0
