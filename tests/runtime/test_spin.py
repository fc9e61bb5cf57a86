"""Nodes that poll for answers before they sleep."""

import asyncio
import socket
from queue import Queue
from threading import Thread

import pytest

from beforehand import Node
from beforehand.errors import LocalProtocolError
from beforehand.runtime.transports.faulty import Faulty
from beforehand.runtime.transports.udp import UdpTransport


def test_lingering_takes_what_is_there_and_gives_up_in_time() -> None:
    """It returns whether datagrams arrived, and passes them on at once, without the event loop."""

    async def main() -> None:
        seen: list[bytes] = []
        transport = UdpTransport("127.0.0.1:0")
        await transport.open(lambda datagrams, _: seen.extend(datagrams))
        assert not transport.spin(1_000)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            host, port = transport.local.split(":")
            sender.sendto(b"here", (host, int(port)))
            assert transport.spin(5_000_000_000)
        assert seen == [b"here"]
        transport.close()
        assert not transport.spin(1_000)

    asyncio.run(asyncio.wait_for(main(), 20))


def test_nodes_that_spin_answer_without_sleeping() -> None:
    """Delivery works as without spinning, and answers arrive while polling, through a wrapper too."""

    class Counting(UdpTransport):
        arrivals = 0

        def spin(self, nanoseconds: int) -> bool:
            came = super().spin(nanoseconds)
            Counting.arrivals += came
            return came

    addresses: Queue[str] = Queue()

    async def bob() -> None:  # in its own thread: a spinning node blocks its event loop
        async with Node("bob", spin=0.002) as node:
            addresses.put(node.address)
            async for message in node:
                await node.send("alice", message.payload)
                if message.payload == b"end":
                    break

    async def alice() -> None:
        transport = Faulty(Counting("127.0.0.1:0"), loss=0, duplicate=0, reorder=0, seed=1)
        peers = {"bob": addresses.get(timeout=20)}
        async with Node("alice", transport=transport, peers=peers, spin=0.002) as node:
            for payload in [*(b"%d" % number for number in range(50)), b"end"]:
                await node.send("bob", payload)
                assert (await node.receive()).payload == payload

    thread = Thread(target=asyncio.run, args=(bob(),))
    thread.start()
    asyncio.run(asyncio.wait_for(alice(), 20))
    thread.join(20)
    assert Counting.arrivals > 0


@pytest.mark.parametrize("spin", [-0.1, 0.5, "long"])
def test_a_spin_that_makes_no_sense_is_refused(spin: float) -> None:
    """Spinning for long would block the event loop."""
    with pytest.raises(LocalProtocolError, match=r"spin=.*: it must be a number of seconds from 0"):
        Node("alice", spin=spin)
