"""A network inside one event loop, for tests: nothing is lost unless somebody cuts a way.

Each call of `send` arrives as one batch, in a later step of the loop and never within the call. With
a seed, the batches under way arrive in an order that is drawn from it.
"""

from __future__ import annotations

import asyncio
import random
from typing import cast

from beforehand.errors import TransportError
from beforehand.runtime.transports.base import Address, Receive, Transport

DATAGRAM = 1_400  # as for UDP, so that tests see the same packets


class MemoryNetwork:
    """Where transports of one event loop find each other by name."""

    def __init__(self, seed: int | None = None) -> None:
        self._random = None if seed is None else random.Random(seed)
        self._open: dict[str, MemoryTransport] = {}
        self._cuts: set[tuple[str, str]] = set()
        self._under_way: list[tuple[str, str, list[bytes]]] = []

    def transport(self, name: str, datagram: int = DATAGRAM) -> MemoryTransport:
        """A transport whose address is the name; open one at a time under each."""
        return MemoryTransport(self, name, datagram)

    def cut(self, sender: str, receiver: str) -> None:
        """Lose all datagrams on the way from the one to the other, also those under way."""
        self._cuts.add((sender, receiver))

    def heal(self, sender: str, receiver: str) -> None:
        """Let them pass again."""
        self._cuts.discard((sender, receiver))

    def join(self, transport: MemoryTransport) -> None:
        """Make a transport known; only one can have a name."""
        if transport.name in self._open:
            raise TransportError(
                f"{transport.name!a} is taken in this network; close the other transport first"
            )
        self._open[transport.name] = transport

    def leave(self, transport: MemoryTransport) -> None:
        """Forget a transport."""
        if self._open.get(transport.name) is transport:
            del self._open[transport.name]

    def carry(self, sender: str, receiver: str, datagrams: list[bytes]) -> None:
        """Take a batch, to arrive soon."""
        self._under_way.append((sender, receiver, datagrams))
        asyncio.get_running_loop().call_soon(self._arrive)

    def _arrive(self) -> None:
        """Let one batch arrive: there is one call of this for each."""
        at = 0 if self._random is None else self._random.randrange(len(self._under_way))
        sender, receiver, datagrams = self._under_way.pop(at)
        transport = self._open.get(receiver)
        if transport is not None and (sender, receiver) not in self._cuts:
            transport.take(datagrams, sender)


class MemoryTransport(Transport):
    """One place in a `MemoryNetwork`; an address is a name."""

    def __init__(self, network: MemoryNetwork, name: str, datagram: int) -> None:
        self.name = self.local = name
        self.datagram = datagram
        self._network = network
        self._receive: Receive | None = None

    async def open(self, receive: Receive) -> None:
        """Take the name in the network."""
        self._network.join(self)
        self._receive = receive

    def send(self, address: Address, datagrams: list[bytes]) -> None:
        """Send datagrams to a name; if nobody has it when they arrive, they are lost."""
        if self._receive is not None and datagrams:
            self._network.carry(self.name, cast(str, address), list(datagrams))

    def take(self, datagrams: list[bytes], sender: str) -> None:
        """Hand over what arrived."""
        if self._receive is not None:
            self._receive(datagrams, sender)

    async def resolve(self, text: str) -> Address:
        """The name itself: whoever has it may come later."""
        if not text:
            raise TransportError("an address in memory is a name, and not empty")
        return text

    def address_bytes(self, address: Address) -> bytes:
        """The name."""
        return cast(str, address).encode()

    def describe(self, address: Address) -> str:
        """The name."""
        return cast(str, address)

    def loopback(self) -> bool:
        """It does not even leave the process."""
        return True

    def close(self) -> None:
        """Leave the network, so that another may take the name."""
        self._network.leave(self)
        self._receive = None
