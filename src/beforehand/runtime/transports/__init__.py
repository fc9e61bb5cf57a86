"""Transports carry datagrams between processes, and may lose, duplicate and reorder them.

- `UdpTransport("127.0.0.1:7001")` (`udp.py`): the default of a node.
- `MemoryNetwork(seed).transport("alice")` (`memory.py`): several nodes in one event loop, for tests.
- `NatsTransport("nats://127.0.0.1:4222", "alice")`: the subjects of a NATS server.
- `Faulty(transport, ...)` (`faulty.py`): any of them, with injected faults.

Your own transport subclasses `Transport` (`base.py`). Ordering, retransmission and encryption happen
above it. `addresses.py` parses host:port, `offload.py` batches datagrams per system call.
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
