"""Fault injection for any transport: drops, duplicates and delays datagrams that arrive.

It sits between socket and node, so that the injected faults are known and counted, whatever the real
network does. Every datagram is treated alike, by draws from a seed. A delayed one arrives after 1 to 8
later ones from the same address, or after 5 ms if those do not come.
"""

import asyncio
import random
from typing import Final, NamedTuple

from beforehand.errors import LocalProtocolError
from beforehand.runtime.transports.base import Address, Receive, Transport

MAX_OVERTAKING: Final = 8  # datagrams that may overtake a delayed one
DELAY_SECONDS: Final = 0.005  # longer than an idle moment, shorter than the probe timeout of a link
EARLY_SECONDS: Final = 0.001  # some event loops have timers of whole milliseconds


class DelayedDatagram(NamedTuple):
    """A datagram delayed until `until` others have passed in all, or until a deadline."""

    datagram: bytes
    until: int
    deadline: float


class _Source:
    """The delayed datagrams from one address; forgotten when there are none."""

    def __init__(self) -> None:
        self.passed = 0
        self.delayed: list[DelayedDatagram] = []
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
        self._sources: dict[Address, _Source] = {}
        self._receive: Receive | None = None
        self._loop: asyncio.AbstractEventLoop

    @property
    def delayed(self) -> int:
        """How many datagrams are being delayed right now."""
        return sum(len(source.delayed) for source in self._sources.values())

    async def open(self, receive: Receive) -> None:
        """Open the wrapped transport and receive from it."""
        self._loop = asyncio.get_running_loop()
        self._receive = receive
        await self.inner.open(self._arrived)
        self.local = self.inner.local

    def send(self, address: Address, datagrams: list[bytes]) -> None:
        self.inner.send(address, datagrams)

    def busy(self) -> bool:
        return self.inner.busy()

    def spin(self, nanoseconds: int) -> bool:
        return self.inner.spin(nanoseconds)

    async def resolve(self, text: str) -> Address:
        return await self.inner.resolve(text)

    def address_bytes(self, address: Address) -> bytes:
        return self.inner.address_bytes(address)

    def describe(self, address: Address) -> str:
        return self.inner.describe(address)

    def loopback(self) -> bool:
        return self.inner.loopback()

    def close(self) -> None:
        """Close the wrapped transport; delayed datagrams are lost."""
        for source in self._sources.values():
            if source.timer is not None:
                source.timer.cancel()
        self._sources.clear()
        self._receive = None
        self.inner.close()

    async def wait_closed(self) -> None:
        await self.inner.wait_closed()

    def _arrived(self, datagrams: list[bytes], address: Address) -> None:
        if self._receive is None:
            return
        source = self._sources.get(address) or _Source()
        passing: list[bytes] = []
        for datagram in datagrams:
            if self._random.random() < self._loss:
                self.lost += 1
                continue
            self._pass_or_delay(datagram, source, passing)
            if self._random.random() < self._duplicate:
                self.doubled += 1
                self._pass_or_delay(datagram, source, passing)
        self._remember(address, source)
        if passing:
            self._receive(passing, address)

    def _pass_or_delay(self, datagram: bytes, source: _Source, passing: list[bytes]) -> None:
        if self._random.random() < self._reorder:
            self.held_back += 1
            until = source.passed + self._random.randint(1, MAX_OVERTAKING)
            deadline = self._loop.time() + DELAY_SECONDS
            source.delayed.append(DelayedDatagram(datagram, until, deadline))
            return
        passing.append(datagram)
        source.passed += 1
        for delayed in [item for item in source.delayed if item.until <= source.passed]:
            source.delayed.remove(delayed)
            passing.append(delayed.datagram)

    def _remember(self, address: Address, source: _Source) -> None:
        """Keep a source while it has delayed datagrams, with a timer for the first of them."""
        if source.delayed:
            self._sources[address] = source
            if source.timer is None:
                deadline = source.delayed[0].deadline
                source.timer = self._loop.call_at(deadline, self._expired, address)
        else:
            self._sources.pop(address, None)
            if source.timer is not None:
                source.timer.cancel()

    def _expired(self, address: Address) -> None:
        source = self._sources[address]
        source.timer = None
        now = self._loop.time() + EARLY_SECONDS
        due = [item for item in source.delayed if item.deadline <= now]
        del source.delayed[: len(due)]  # a prefix: deadlines ascend
        self._remember(address, source)
        if due and self._receive is not None:
            self._receive([item.datagram for item in due], address)
