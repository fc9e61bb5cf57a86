"""Any transport, made worse: loses, doubles and holds back datagrams that arrive.

It sits between the socket and the core, so that what it does is known and counted, whatever the real
network does besides. Every datagram is treated alike, by draws from a seed. One that is held back
arrives after 1 to 8 later ones from the same address, or after 5 ms if those do not come.
"""

from __future__ import annotations

import asyncio
import random
from typing import Final, NamedTuple

from beforehand.errors import LocalProtocolError
from beforehand.runtime.transports.base import Address, Receive, Transport

MOST_OVERTAKING: Final = 8  # datagrams that may pass one that is held back
HELD_SECONDS: Final = 0.005  # longer than a quiet moment, shorter than a probe of a link
EARLY_SECONDS: Final = 0.001  # timers of some loops count whole milliseconds


class Held(NamedTuple):
    """A datagram that waits until so many have passed in all, or until a time of the loop."""

    datagram: bytes
    until: int
    deadline: float


class Way:
    """What is held back from one address; forgotten when nothing is."""

    def __init__(self) -> None:
        self.passed = 0
        self.held: list[Held] = []
        self.timer: asyncio.TimerHandle | None = None


class Faulty(Transport):
    """Wraps a transport; rates are from 0 to 1 and independent of each other."""

    def __init__(
        self,
        inner: Transport,
        *,
        loss: float = 0.1,
        duplicate: float = 0.1,
        reorder: float = 0.3,
        seed: int,
    ) -> None:
        for name, rate in (("loss", loss), ("duplicate", duplicate), ("reorder", reorder)):
            if not 0 <= rate <= 1:
                raise LocalProtocolError(f"{name} is {rate}; give a rate from 0 to 1")
        self.inner = inner
        self.datagram = inner.datagram
        self.lost = 0
        self.doubled = 0
        self.held_back = 0
        self._loss, self._duplicate, self._reorder = loss, duplicate, reorder
        self._random = random.Random(seed)
        self._ways: dict[Address, Way] = {}
        self._receive: Receive | None = None
        self._loop: asyncio.AbstractEventLoop

    async def open(self, receive: Receive) -> None:
        """Open the transport inside, and listen to it."""
        self._loop = asyncio.get_running_loop()
        self._receive = receive
        await self.inner.open(self._arrived)
        self.local = self.inner.local

    def send(self, address: Address, datagrams: list[bytes]) -> None:
        """Send as the transport inside does."""
        self.inner.send(address, datagrams)

    def busy(self) -> bool:
        """Whether the transport inside is."""
        return self.inner.busy()

    def linger(self, nanoseconds: int) -> bool:
        """As the transport inside does."""
        return self.inner.linger(nanoseconds)

    async def resolve(self, text: str) -> Address:
        """The address as the transport inside knows it."""
        return await self.inner.resolve(text)

    def address_bytes(self, address: Address) -> bytes:
        """As the transport inside says."""
        return self.inner.address_bytes(address)

    def describe(self, address: Address) -> str:
        """As the transport inside says."""
        return self.inner.describe(address)

    def loopback(self) -> bool:
        """Whether the transport inside reaches this machine only."""
        return self.inner.loopback()

    def close(self) -> None:
        """Close the transport inside; what is held back is lost."""
        for way in self._ways.values():
            if way.timer is not None:
                way.timer.cancel()
        self._ways.clear()
        self._receive = None
        self.inner.close()

    async def wait_closed(self) -> None:
        """Wait for the transport inside."""
        await self.inner.wait_closed()

    def _arrived(self, datagrams: list[bytes], address: Address) -> None:
        if self._receive is None:
            return
        way = self._ways.get(address) or Way()
        passing: list[bytes] = []
        for datagram in datagrams:
            if self._random.random() < self._loss:
                self.lost += 1
                continue
            self._pass_or_hold(datagram, way, passing)
            if self._random.random() < self._duplicate:
                self.doubled += 1
                self._pass_or_hold(datagram, way, passing)
        self._remember(address, way)
        if passing:
            self._receive(passing, address)

    def _pass_or_hold(self, datagram: bytes, way: Way, passing: list[bytes]) -> None:
        if self._random.random() < self._reorder:
            self.held_back += 1
            until = way.passed + self._random.randint(1, MOST_OVERTAKING)
            way.held.append(Held(datagram, until, self._loop.time() + HELD_SECONDS))
            return
        passing.append(datagram)
        way.passed += 1
        for held in [each for each in way.held if each.until <= way.passed]:
            way.held.remove(held)
            passing.append(held.datagram)

    def _remember(self, address: Address, way: Way) -> None:
        """Keep a way as long as something is held on it, with a timer for the first in line."""
        if way.held:
            self._ways[address] = way
            if way.timer is None:
                way.timer = self._loop.call_at(way.held[0].deadline, self._time_is_up, address)
        else:
            self._ways.pop(address, None)
            if way.timer is not None:
                way.timer.cancel()

    def _time_is_up(self, address: Address) -> None:
        way = self._ways[address]
        way.timer = None
        now = self._loop.time() + EARLY_SECONDS
        due = [each for each in way.held if each.deadline <= now]  # the first ones: they are sorted
        del way.held[: len(due)]
        self._remember(address, way)
        if due and self._receive is not None:
            self._receive([each.datagram for each in due], address)
