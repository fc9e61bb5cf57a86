"""What a node asks of whatever carries its datagrams: very little.

A transport takes datagrams for an address and hands over those that arrive, with the address that
they came from. It may lose, double and reorder them: links see to that. It promises only that what
it hands over was sent by somebody as one datagram, in full.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable

# Where datagrams go to and come from. Each transport has its own kind; others only compare them.
Address = Hashable

# Told of one or several datagrams that came from one address, in the order in which they came.
Receive = Callable[[list[bytes], Address], None]


class Transport(ABC):
    """Moves datagrams. All of it is called in, and calls back from, the thread of the event loop."""

    datagram: int  # the longest datagram that is still carried well, in bytes
    local: str = ""  # the own address as a text that `resolve` of a peer understands, once open

    @abstractmethod
    async def open(self, receive: Receive) -> None:
        """Start; raises TransportError if that is impossible here. Opened once in its life."""

    @abstractmethod
    def send(self, address: Address, datagrams: list[bytes]) -> None:
        """Send some datagrams, or lose them: never waits, and never raises for network trouble."""

    def busy(self) -> bool:
        """Whether earlier datagrams still wait here; hold back new ones until they are gone."""
        return False

    def linger(self, nanoseconds: int) -> bool:
        """Look for datagrams that come within this time, without sleeping; whether some did."""
        return False

    @abstractmethod
    async def resolve(self, text: str) -> Address:
        """The address that a user means; TransportError if it is none, or nobody knows it."""

    @abstractmethod
    def address_bytes(self, address: Address) -> bytes:
        """An address as bytes, the same for equal ones and for no others."""

    @abstractmethod
    def describe(self, address: Address) -> str:
        """An address as a user would write it."""

    def loopback(self) -> bool:
        """Whether nobody outside this machine can send to it; if in doubt, False."""
        return False

    @abstractmethod
    def close(self) -> None:
        """Stop at once, for good: nothing is received from now on. A second time changes nothing."""

    async def wait_closed(self) -> None:
        """Wait for what `close` began, where a connection takes leave of a server."""
        return
