"""Nodes in one event loop, and helpers to crash them, to wait for their events and to take messages."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import aclosing
from types import TracebackType
from typing import Any

from beforehand import Node
from beforehand.runtime.events import PeerEvent
from beforehand.runtime.transports.base import Address
from beforehand.runtime.transports.memory import MemoryNetwork

KEY = bytes(range(32))
OTHER_KEY = bytes(range(1, 33))


def run(main: Coroutine[Any, Any, None], seconds: float = 20) -> None:
    """Run a test; an exception that only the event loop sees fails it too."""
    problems: list[dict[str, Any]] = []

    async def watched() -> None:
        asyncio.get_running_loop().set_exception_handler(
            lambda _, context: problems.append(context)
        )
        await asyncio.wait_for(main, seconds)

    asyncio.run(watched())
    assert problems == [], problems


async def wait_for_event(node: Node, kind: str, peer: str, seconds: float = 5) -> PeerEvent:
    """The first event of a kind about a peer, in the past or soon."""
    async with asyncio.timeout(seconds), aclosing(node.events()) as events:
        async for event in events:
            if (event.kind, event.peer) == (kind, peer):
                return event
    raise AssertionError(f"{node.name} was closed before {peer} was {kind}")


async def events_of(node: Node) -> list[tuple[str, str]]:
    """The kinds and peers of all events up to now."""
    seen: list[tuple[str, str]] = []
    async with aclosing(node.events()) as events:
        while True:
            try:
                event = await asyncio.wait_for(anext(events), 0.01)
            except TimeoutError:
                return seen
            seen.append((event.kind, event.peer))


async def take(node: Node, count: int = 1) -> list[bytes]:
    """The payloads of the next messages."""
    return [(await asyncio.wait_for(node.receive(), 5)).payload for _ in range(count)]


async def receives_nothing(node: Node, seconds: float = 0.1) -> bool:
    """Whether no message comes for a while."""
    try:
        message = await asyncio.wait_for(node.receive(), seconds)
    except TimeoutError:
        return True
    raise AssertionError(f"{node.name} got {message}")


class TappedNetwork(MemoryNetwork):
    """A network that remembers what it carried."""

    def __init__(self, seed: int | None = None) -> None:
        super().__init__(seed)
        self.carried: list[tuple[str, str, bytes]] = []  # sender, receiver, datagram

    def carry(self, sender: str, receiver: str, datagrams: list[bytes]) -> None:
        """Remember, then carry."""
        self.carried += [(sender, receiver, datagram) for datagram in datagrams]
        super().carry(sender, receiver, datagrams)


class MemoryCluster:
    """Nodes on one network in memory; those that are left are closed at the end."""

    def __init__(self, *, seed: int | None = None, **options: Any) -> None:
        self.network = TappedNetwork(seed)
        self.options = options
        self.nodes: list[Node] = []

    async def start(self, name: str, *peers: str, at: str | None = None, **options: Any) -> Node:
        """A new node, which knows these peers at addresses of their names."""
        node = Node(
            name,
            transport=self.network.transport(at or name),
            peers={peer: peer for peer in peers},
            **{**self.options, **options},
        )
        self.nodes.append(node)
        return await node.start()

    async def mesh(self, *names: str, **options: Any) -> list[Node]:
        """Nodes that all know each other, once all sessions are up."""
        nodes = [
            await self.start(name, *(peer for peer in names if peer != name), **options)
            for name in names
        ]
        for node in nodes:
            for name in names:
                if name != node.name:
                    await wait_for_event(node, "up", name)
        return nodes

    async def crash(self, node: Node) -> None:
        """Stop a node without a farewell to its peers."""
        self.nodes.remove(node)
        self.isolate(node)
        await node.close(0)
        await asyncio.sleep(0.01)  # its last datagrams are lost
        self.reconnect(node)

    def isolate(self, node: Node) -> None:
        """Cut all paths from and to a node."""
        for other in self.nodes:
            self.network.cut(node.address, other.address)
            self.network.cut(other.address, node.address)

    def reconnect(self, node: Node) -> None:
        """Undo `isolate`."""
        for other in self.nodes:
            self.network.heal(node.address, other.address)
            self.network.heal(other.address, node.address)

    async def __aenter__(self) -> MemoryCluster:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for node in self.nodes:
            await node.close(0)


def inject(node: Node, datagrams: list[bytes], address: Address, network: MemoryNetwork) -> None:
    """Let datagrams arrive at a node, from any address."""
    network.carry(str(address), node.address, datagrams)
