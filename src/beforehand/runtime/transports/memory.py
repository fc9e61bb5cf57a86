"""An in-memory network inside one event loop, for tests: lossless unless a path is cut.

Each call of `send` arrives as one batch, in a later iteration of the loop. With a seed, batches in
flight arrive in random order.
"""

from __future__ import annotations

import asyncio
import random
from typing import cast

from beforehand.errors import TransportError
from beforehand.runtime.transports.base import Address, Receive, Transport

DATAGRAM = 1_400  # as for UDP, so that tests see similar packets


class MemoryNetwork:
    """Connects the transports of one event loop by name."""

    def __init__(self, seed: int | None = None) -> None:
        self._random = None if seed is None else random.Random(seed)
        self._open: dict[str, MemoryTransport] = {}
        self._cuts: set[tuple[str, str]] = set()
        self._in_flight: list[tuple[str, str, list[bytes]]] = []

    def transport(self, name: str, datagram: int = DATAGRAM) -> MemoryTransport:
        """A transport whose address is the name; at most one per name may be open."""
        return MemoryTransport(self, name, datagram)

    def cut(self, sender: str, receiver: str) -> None:
        """Lose all datagrams from sender to receiver, including those in flight."""
        self._cuts.add((sender, receiver))

    def heal(self, sender: str, receiver: str) -> None:
        """Undo `cut`."""
        self._cuts.discard((sender, receiver))

    def join(self, transport: MemoryTransport) -> None:
        """Register an open transport."""
        if transport.name in self._open:
            raise TransportError(
                f"{transport.name!a} is taken in this network; close the other transport first"
            )
        self._open[transport.name] = transport

    def leave(self, transport: MemoryTransport) -> None:
        """Unregister a transport."""
        if self._open.get(transport.name) is transport:
            del self._open[transport.name]

    def carry(self, sender: str, receiver: str, datagrams: list[bytes]) -> None:
        """Put a batch in flight."""
        self._in_flight.append((sender, receiver, datagrams))
        asyncio.get_running_loop().call_soon(self._arrive)

    def _arrive(self) -> None:
        """Deliver one batch in flight; scheduled once per batch."""
        index = 0 if self._random is None else self._random.randrange(len(self._in_flight))
        sender, receiver, datagrams = self._in_flight.pop(index)
        transport = self._open.get(receiver)
        if transport is not None and (sender, receiver) not in self._cuts:
            transport.deliver(datagrams, sender)


class MemoryTransport(Transport):
    """One endpoint of a `MemoryNetwork`; an address is a name."""

    def __init__(self, network: MemoryNetwork, name: str, datagram: int) -> None:
        self.name = self.local = name
        self.datagram = datagram
        self._network = network
        self._receive: Receive | None = None

    async def open(self, receive: Receive) -> None:
        """Claim the name in the network."""
        self._network.join(self)
        self._receive = receive

    def send(self, address: Address, datagrams: list[bytes]) -> None:
        """Send datagrams to a name; lost if no transport has it when they arrive."""
        if self._receive is not None and datagrams:
            self._network.carry(self.name, cast(str, address), list(datagrams))

    def deliver(self, datagrams: list[bytes], sender: str) -> None:
        """Pass on datagrams that arrived."""
        if self._receive is not None:
            self._receive(datagrams, sender)

    async def resolve(self, text: str) -> Address:
        """The name itself, whether or not it is in use yet."""
        if not text:
            raise TransportError("an in-memory address is a name; give one that is not empty")
        return text

    def loopback(self) -> bool:
        """Always: datagrams never leave the process."""
        return True

    def close(self) -> None:
        """Leave the network, so that another may take the name."""
        self._network.leave(self)
        self._receive = None
