"""The address of a peer changes: the session follows it, and nobody else can redirect it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import cast

import pytest

from beforehand import Node
from beforehand.runtime.link.datagrams import DATA, HEADER
from beforehand.runtime.link.frames import PING_FRAME, RESPONSE
from tests.runtime.nodes import KEY, MemoryCluster, run, take, wait_for_event

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

    Packets of sessions can be held up on the way (`hold`), or a thief sends them from elsewhere.
    """

    def __init__(self, alice: Node) -> None:
        host, port = alice.address.rsplit(":", 1)
        self.alice: Address = (host, int(port))
        self.bob: Address | None = None
        self.outer: Port
        self.inner: Port
        self.ports: list[Port] = []
        self.hold = False
        self.held: list[bytes] = []
        self.thief: Port | None = None
        self.stolen = 0  # bytes that the thief sent

    async def __aenter__(self) -> Router:
        self.inner = await open_port(self.from_bob)
        self.ports.append(self.inner)
        await self.move()
        return self

    async def move(self) -> None:
        """Another outer address; the one before is dead."""
        if len(self.ports) > 1:
            self.outer.transport.close()
        self.outer = await open_port(self.from_alice)
        self.ports.append(self.outer)

    def from_bob(self, data: bytes, address: Address) -> None:
        """Hand on to alice, unless it is held up or stolen."""
        self.bob = address
        if self.hold and data[0] == DATA:
            self.held.append(data)
        elif self.thief is not None and data[0] == DATA:
            self.steal(data, self.thief)
        else:
            self.outer.transport.sendto(data, self.alice)

    def steal(self, data: bytes, thief: Port) -> None:
        """Let the thief send a packet."""
        thief.transport.sendto(data, self.alice)
        self.stolen += len(data)

    def from_alice(self, data: bytes, _: Address) -> None:
        """Hand on to bob."""
        if self.bob is not None:
            self.inner.transport.sendto(data, self.bob)

    async def open_thief(self) -> Port:
        """An attacker on the path, with a socket of its own."""
        self.ports.append(await open_port())
        return self.ports[-1]

    async def __aexit__(self, *_: object) -> None:
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
    """A router forgets and chooses another port, three times, in the middle of traffic."""

    async def main() -> None:
        async with (
            Node("alice", key=key) as alice,
            Router(alice) as router,
            Node("bob", peers={"alice": router.inner.text()}, key=key) as bob,
        ):
            await wait_for_event(alice, "up", "bob")
            for step in range(3):
                await exchange(alice, bob, 30, 100 * step)
                await router.move()
                for number in range(20):  # on their way to the old one
                    await alice.send("bob", b"lost and found %d" % number)
                await bob.send("alice", b"from elsewhere")
                assert await take(alice) == [b"from elsewhere"]
                assert await take(bob, 20) == [b"lost and found %d" % n for n in range(20)]
            assert alice.stats().peers["bob"].state == "up"

    run(main())


def test_an_idle_peer_is_detected_at_its_new_address() -> None:
    """Its heartbeat is enough for alice to reach it again, even if it sends no message."""

    async def main() -> None:
        async with (
            Node("alice", silent_after=0.3) as alice,
            Router(alice) as router,
            Node("bob", peers={"alice": router.inner.text()}, silent_after=0.3) as bob,
        ):
            await wait_for_event(alice, "up", "bob")
            await exchange(alice, bob, 3)
            await router.move()
            await alice.send("bob", b"where are you")
            assert await take(bob) == [b"where are you"]

    run(main())


def test_a_stolen_packet_does_not_move_a_session() -> None:
    """An attacker replays genuine packets from another address: it gets challenges, fewer bytes than it
    sent, however long it waits, and messages still go to the old address."""

    async def main() -> None:
        async with (
            Node("alice", key=KEY) as alice,
            Router(alice) as router,
            Node("bob", peers={"alice": router.inner.text()}, key=KEY) as bob,
        ):
            await wait_for_event(alice, "up", "bob")
            thief = await router.open_thief()
            for step in range(0, 300, 100):
                await exchange(alice, bob, 20, step)
                router.thief = thief
                await bob.send("alice", b"stolen")
                assert await take(alice) == [b"stolen"]
                router.thief = None
                await exchange(alice, bob, 20, step + 50)
                await asyncio.sleep(0.1)  # for whatever alice sends again
                assert thief.got and sum(map(len, thief.got)) <= router.stolen
                thief.got.clear()
                router.stolen = 0

    run(main())


def test_old_packets_from_another_address_are_ignored() -> None:
    """Delayed packets, older than those that have arrived since, are no evidence of a new address."""

    async def main() -> None:
        async with (
            Node("alice") as alice,
            Router(alice) as router,
            Node("bob", peers={"alice": router.inner.text()}) as bob,
        ):
            await wait_for_event(alice, "up", "bob")
            thief = await router.open_thief()
            router.hold = True
            await bob.send("alice", b"held up")
            while not router.held:
                await asyncio.sleep(0.001)
            router.hold = False
            assert await take(alice) == [b"held up"]  # in another packet
            await exchange(alice, bob, 1)
            for packet in router.held:
                router.steal(packet, thief)
            await asyncio.sleep(0.02)
            assert thief.got == []

    run(main())


def test_a_short_packet_from_elsewhere_is_not_answered_with_a_longer_one() -> None:
    """Stolen heartbeats from many addresses do not make alice send more."""

    async def main() -> None:
        async with (
            Node("alice", silent_after=0.2) as alice,
            Router(alice) as router,
            Node("bob", peers={"alice": router.inner.text()}, silent_after=0.2) as bob,
        ):
            await wait_for_event(alice, "up", "bob")
            thief = await router.open_thief()
            router.hold = True
            while len(router.held) < 3:
                await asyncio.sleep(0.01)
            assert min(map(len, router.held)) < 60
            for packet in router.held:
                router.steal(packet, thief)
                await asyncio.sleep(0.01)
            assert sum(map(len, thief.got)) <= router.stolen
            router.hold = False
            await exchange(alice, bob, 5)

    run(main())


def test_only_the_answer_to_the_challenge_moves_a_session() -> None:
    """A response that nobody asked for, or a wrong one, changes nothing."""

    async def main() -> None:
        async with MemoryCluster() as cluster:
            alice, bob = await cluster.mesh("alice", "bob")
            ours, theirs = (
                node.driver.engine.sessions.peers[name].link
                for node, name in ((alice, "bob"), (bob, "alice"))
            )
            assert ours is not None and theirs is not None
            guess = bytes([RESPONSE]) + b"guessed!"
            cluster.network.carry("bob", "alice", [theirs.alone(guess, time.monotonic_ns())])
            await asyncio.sleep(0.01)
            challenges: list[bytes] = []
            while len(challenges) < 3:
                ping = theirs.alone(PING_FRAME, time.monotonic_ns())
                cluster.network.carry("away", "alice", [ping])
                await asyncio.sleep(0.01)
                challenges = [
                    challenge for _, to, challenge in cluster.network.carried if to == "away"
                ]
            assert (
                len({challenge[HEADER : HEADER + 9] for challenge in challenges}) == 1
            )  # a late answer counts
            cluster.network.carry("bob", "alice", [theirs.alone(guess, time.monotonic_ns())])
            await alice.send("bob", b"where you were")
            assert await take(bob) == [b"where you were"]
            assert ours.address == "bob" and alice.stats().misbehaved == 0

    run(main())
