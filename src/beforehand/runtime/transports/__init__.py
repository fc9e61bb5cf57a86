"""Transports: they move datagrams between processes, and may lose, double and reorder them.

- `UdpTransport("127.0.0.1:7001")`: what a node uses unless it is told otherwise.
- `MemoryNetwork(seed).transport("alice")`: several nodes in one event loop, for tests.
- `NatsTransport("nats://127.0.0.1:4222", "alice")`: the subjects of a NATS server.
- `Faulty(transport, ...)`: any of them, made worse on purpose.

Whoever writes another one derives it from `Transport`. Order, losses and secrets are not its business.
"""

from beforehand.runtime.transports.base import Address, Receive, Transport
from beforehand.runtime.transports.faulty import Faulty
from beforehand.runtime.transports.memory import MemoryNetwork
from beforehand.runtime.transports.nats import NatsTransport
from beforehand.runtime.transports.udp import UdpTransport

__all__ = [
    "Address",
    "Faulty",
    "MemoryNetwork",
    "NatsTransport",
    "Receive",
    "Transport",
    "UdpTransport",
]
