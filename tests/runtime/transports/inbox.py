"""Something that a transport can hand datagrams to, and that a test can wait for."""

import asyncio

from beforehand.runtime.transports import Address

PATIENCE = 10.0  # seconds after which a test gives up; none of them takes that long


class Inbox:
    """Collects what arrives, in batches with their source address."""

    def __init__(self) -> None:
        self.batches: list[tuple[list[bytes], Address]] = []
        self._news = asyncio.Event()

    def __call__(self, datagrams: list[bytes], address: Address) -> None:
        self.batches.append((datagrams, address))
        self._news.set()

    @property
    def datagrams(self) -> list[bytes]:
        """All datagrams, in the order in which they came."""
        return [datagram for batch, _ in self.batches for datagram in batch]

    async def wait(self, count: int) -> list[bytes]:
        """The datagrams, once this many have arrived."""
        async with asyncio.timeout(PATIENCE):
            while len(self.datagrams) < count:
                self._news.clear()
                await self._news.wait()
        return self.datagrams
