"""One process of `test_killed.py`: it sends numbers to its peers, and prints what it receives.

python -m tests.runtime.killed_process NAME PORT COUNT PEER=PORT ...

It prints "sender payload" for each message, "event kind peer" for each event, and "done sending" when
all that it sent is delivered. It goes on until it is killed.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress

from beforehand import Node
from beforehand.errors import PeerDroppedError


async def main(name: str, port: str, count: int, peers: dict[str, str]) -> None:
    """Take part: every peer gets `count` numbers, and is expected to send as many."""
    async with Node(
        name, listen=f"127.0.0.1:{port}", peers=peers, silent_after=0.3, drop_after=0.6
    ) as node:
        print("ready", flush=True)
        tasks = [asyncio.ensure_future(talk(node, peer, count)) for peer in peers]
        listening = asyncio.gather(listen(node), watch(node))
        await asyncio.gather(*tasks)
        await node.flush()
        print("done sending", flush=True)
        await listening


async def talk(node: Node, peer: str, count: int) -> None:
    """Send the numbers, a few at a time, until the peer is dropped."""
    with suppress(PeerDroppedError):
        for number in range(count):
            await node.send(peer, b"%d" % number)
            if number % 20 == 0:
                await asyncio.sleep(0.01)


async def listen(node: Node) -> None:
    """Print incoming messages forever: the test ends the process."""
    async for message in node:
        print(message.sender, message.payload.decode(), flush=True)


async def watch(node: Node) -> None:
    """Print what happens to the others."""
    async for event in node.events():
        print("event", event.kind, event.peer, flush=True)


if __name__ == "__main__":
    addresses = {
        argument.split("=")[0]: f"127.0.0.1:{argument.split('=')[1]}" for argument in sys.argv[4:]
    }
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), addresses))
