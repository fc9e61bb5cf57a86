"""The address of a peer changes: the session goes on there, and nobody else can lead it away."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import cast

import pytest

from beforehand import Node
from beforehand.runtime.datagrams import DATA
from beforehand.runtime.frames import PING_FRAME, RESPONSE
from tests.runtime.living import KEY, Town, happened, run, take

Address = tuple[str, int]


class Port(asyncio.DatagramProtocol):
    """One UDP socket of the test."""

    def __init__(self, receive: Callable[[bytes, Address], None]) -> None:
        self.receive = receive
        self.transport: asyncio.DatagramTransport
        self.got: list[bytes] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Note the socket."""
        self.transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, address: Address) -> None:
        """Note what came, and hand it on."""
        self.got.append(data)
        self.receive(data, address)

    @property
    def address(self) -> Address:
        """Where it receives."""
        host, port = self.transport.get_extra_info("sockname")
        return (host, port)

    def text(self) -> str:
        """The same for a node."""
        return f"127.0.0.1:{self.address[1]}"


async def open_port(receive: Callable[[bytes, Address], None] = lambda data, address: None) -> Port:
    """A socket on this machine."""
    loop = asyncio.get_running_loop()
    _, port = await loop.create_datagram_endpoint(lambda: Port(receive), ("127.0.0.1", 0))
    return port


class Router:
    """Between bob and alice: she sees its outer address, which can change at any time.

    `steal` takes the next packets of a session that bob sends; they do not reach alice.
    """

    def __init__(self, alice: Node) -> None:
        host, port = alice.address.rsplit(":", 1)
        self.alice: Address = (host, int(port))
        self.bob: Address | None = None
        self.outer: Port
        self.inner: Port
        self.ports: list[Port] = []
        self.stolen: list[bytes] = []
        self.steal = 0

    async def open(self) -> Router:
        """Open both sides."""
        self.inner = await open_port(self.from_bob)
        self.ports.append(self.inner)
        await self.move()
        return self

    async def move(self) -> None:
        """Another outer address; the one before is dead."""
        for port in self.ports[1:]:
            port.transport.close()
        self.outer = await open_port(self.from_alice)
        self.ports.append(self.outer)

    def from_bob(self, data: bytes, address: Address) -> None:
        """Hand on to alice, unless it is stolen."""
        self.bob = address
        if self.steal and data[0] == DATA:
            self.steal -= 1
            self.stolen.append(data)
            return
        self.outer.transport.sendto(data, self.alice)

    def from_alice(self, data: bytes, _: Address) -> None:
        """Hand on to bob."""
        if self.bob is not None:
            self.inner.transport.sendto(data, self.bob)

    def close(self) -> None:
        """Close all sockets."""
        for port in self.ports:
            port.transport.close()


async def exchange(alice: Node, bob: Node, count: int, start: int = 0) -> None:
    """Messages in both directions, in order."""
    for number in range(start, start + count):
        await bob.send("alice", b"b%d" % number)
        await alice.send("bob", b"a%d" % number)
    assert await take(alice, count) == [b"b%d" % n for n in range(start, start + count)]
    assert await take(bob, count) == [b"a%d" % n for n in range(start, start + count)]


@pytest.mark.parametrize("key", [None, KEY], ids=["plain", "encrypted"])
def test_traffic_goes_on_at_a_new_address(key: bytes | None) -> None:
    """A router forgets and chooses another port, twice, in the middle of traffic."""

    async def main() -> None:
        async with Node("alice", key=key) as alice:
            router = await Router(alice).open()
            async with Node("bob", peers={"alice": router.inner.text()}, key=key) as bob:
                await happened(alice, "up", "bob")
                for step in range(3):
                    await exchange(alice, bob, 30, 100 * step)
                    await router.move()
                    for number in range(20):  # on their way to the old one
                        await alice.send("bob", b"lost and found %d" % number)
                    await bob.send("alice", b"from elsewhere")
                    assert await take(alice) == [b"from elsewhere"]
                    assert await take(bob, 20) == [b"lost and found %d" % n for n in range(20)]
                assert alice.stats().peers["bob"].state == "up"
                await bob.close(0.2)
            router.close()

    run(main())


def test_an_idle_peer_is_found_at_its_new_address() -> None:
    """Its heartbeat is enough: then alice can reach it again, although it said nothing."""

    async def main() -> None:
        async with Node("alice", silent_after=0.3) as alice:
            router = await Router(alice).open()
            peers = {"alice": router.inner.text()}
            async with Node("bob", peers=peers, silent_after=0.3) as bob:
                await happened(alice, "up", "bob")
                await exchange(alice, bob, 3)
                await router.move()
                await alice.send("bob", b"where are you")
                assert await take(bob) == [b"where are you"]
                await bob.close(0.2)
            router.close()

    run(main())


def test_a_stolen_packet_leads_nobody_away() -> None:
    """Somebody on the way sends a genuine packet from elsewhere, before bob does: he gets challenges,
    less than he sent himself, however long he waits, and traffic goes on where it was."""

    async def main() -> None:
        async with Node("alice", key=KEY, silent_after=1.0) as alice:
            router = await Router(alice).open()
            async with Node("bob", peers={"alice": router.inner.text()}, key=KEY) as bob:
                await happened(alice, "up", "bob")
                await exchange(alice, bob, 20)
                thief = await open_port()
                for round in range(3):
                    router.steal = 1
                    await exchange(alice, bob, 20, 100 * (round + 1))
                    assert router.stolen
                    sent = sum(map(len, router.stolen))
                    for packet in router.stolen:  # older than what came since: proves nothing
                        thief.transport.sendto(packet, router.alice)
                    await asyncio.sleep(0.02)
                    assert thief.got == []
                    router.stolen.clear()
                    router.steal = 1000
                    await bob.send("alice", b"stolen")
                    while not router.stolen:
                        await asyncio.sleep(0.001)
                    sent = len(router.stolen[0])
                    thief.transport.sendto(router.stolen[0], router.alice)
                    assert await take(alice) == [b"stolen"]
                    router.steal = 0
                    await exchange(alice, bob, 20, 100 * (round + 1) + 50)
                    await asyncio.sleep(0.1)  # for whatever alice sends again
                    assert thief.got and sum(map(len, thief.got)) <= sent
                    thief.got.clear()
                    router.stolen.clear()
                thief.transport.close()
                await bob.close(0.2)
            router.close()

    run(main())


def test_a_short_packet_from_elsewhere_is_not_answered_with_a_longer_one() -> None:
    """Whoever sends a stolen heartbeat from many addresses does not make alice send more."""

    async def main() -> None:
        async with Node("alice", silent_after=0.2) as alice:
            router = await Router(alice).open()
            peers = {"alice": router.inner.text()}
            async with Node("bob", peers=peers, silent_after=0.2) as bob:
                await happened(alice, "up", "bob")
                thief = await open_port()
                router.steal = 1000
                while len(router.stolen) < 3:
                    await asyncio.sleep(0.01)
                assert min(map(len, router.stolen)) < 60
                for packet in router.stolen[:3]:
                    thief.transport.sendto(packet, router.alice)
                    await asyncio.sleep(0.01)
                sent = sum(map(len, router.stolen[:3]))
                assert sum(map(len, thief.got)) <= sent
                router.steal = 0
                await exchange(alice, bob, 5)
                thief.transport.close()
                await bob.close(0.2)
            router.close()

    run(main())


def test_only_the_answer_to_the_challenge_moves_a_session() -> None:
    """A response that nobody asked for, or a wrong one, changes nothing."""

    async def main() -> None:
        async with Town() as town:
            alice, bob = await town.mesh("alice", "bob")
            ours, theirs = (
                node._engine.peers[name].link for node, name in ((alice, "bob"), (bob, "alice"))
            )
            assert ours is not None and theirs is not None
            guess = bytes([RESPONSE]) + b"guessed!"
            town.network.carry("bob", "alice", [theirs.alone(guess, time.monotonic_ns())])
            await asyncio.sleep(0.01)
            town.network.carry("away", "alice", [theirs.alone(PING_FRAME, time.monotonic_ns())])
            await asyncio.sleep(0.01)
            assert "away" in {to for _, to, _ in town.network.carried}
            town.network.carry("bob", "alice", [theirs.alone(guess, time.monotonic_ns())])
            await alice.send("bob", b"where you were")
            assert await take(bob) == [b"where you were"]
            assert ours.address == "bob" and alice.stats().misbehaved == 0

    run(main())
