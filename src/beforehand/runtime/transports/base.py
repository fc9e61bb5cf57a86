"""The interface of a transport, which carries datagrams.

A transport sends datagrams to an address and passes on those that arrive, with their source address.
It may lose, duplicate and reorder them: links recover from that. The only promise is that a datagram
arrives whole, as it was sent.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable

# Source or destination of datagrams. Each transport has its own type; others only compare addresses.
Address = Hashable

# Called with one or more datagrams from one address, in order of arrival.
Receive = Callable[[list[bytes], Address], None]


class Transport(ABC):
    """Carries datagrams. Calls and callbacks all happen in the thread of the event loop."""

    datagram: int  # the largest datagram to use, in bytes
    local: str = ""  # our address, once open, in a form that a peer can `resolve`

    @abstractmethod
    async def open(self, receive: Receive) -> None:
        """Start receiving; raises TransportError on failure. Called at most once."""

    @abstractmethod
    def send(self, address: Address, datagrams: list[bytes]) -> None:
        """Send datagrams or lose them: never blocks, and never raises on network errors."""

    def busy(self) -> bool:
        """Whether earlier datagrams are still queued here; don't send more until they are gone."""
        return False

    def spin(self, nanoseconds: int) -> bool:
        """Poll for datagrams for this long without sleeping; whether any arrived."""
        return False

    @abstractmethod
    async def resolve(self, text: str) -> Address:
        """The address for a user's text; TransportError if it is malformed or unknown."""

    def address_bytes(self, address: Address) -> bytes:
        """An address as bytes, equal for equal addresses only."""
        return self.describe(address).encode()

    def describe(self, address: Address) -> str:
        """An address as a user would write it."""
        return str(address)

    def loopback(self) -> bool:
        """Whether only this machine can send to it; False if in doubt."""
        return False

    @abstractmethod
    def close(self) -> None:
        """Stop at once: nothing is received from now on. Idempotent."""

    async def wait_closed(self) -> None:
        """Wait until `close` has completed, for transports with a connection to shut down."""
        return
