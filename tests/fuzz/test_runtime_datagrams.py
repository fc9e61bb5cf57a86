"""An open port: tens of thousands of hostile datagrams, while two nodes go on talking.

Nothing crashes, nothing is delivered that was not sent, nothing is lost, memory does not grow, and
strangers get no more bytes than they sent.
"""

from __future__ import annotations

import asyncio
import gc
import socket
import tracemalloc
from contextlib import suppress

import pytest

from beforehand import Node
from beforehand.runtime.identity.greeting import Greeting
from beforehand.runtime.identity.handshake import Initiator
from beforehand.runtime.identity.keys import NO_KEY
from beforehand.runtime.link.datagrams import COOKIE
from beforehand.runtime.transports.base import Address
from beforehand.runtime.transports.udp import UdpTransport
from tests.fuzz.hostile import Hostile
from tests.runtime.nodes import (
    KEY,
    OTHER_KEY,
    MemoryCluster,
    events_of,
    run,
    take,
    wait_for_event,
)

ROUNDS = 150  # of 100 datagrams each, for each of two nodes
HABITS = ("hybrid-sps", 16_384, 2**25, 1_400)  # of an ordinary node, as it greets
GROWTH = 400_000  # bytes that measuring itself, caches and counters may take


async def talk(alice: Node, bob: Node, number: int) -> None:
    """A message in both directions."""
    await alice.send("bob", b"a%d" % number)
    await bob.send("alice", b"b%d" % number)
    assert await take(bob) == [b"a%d" % number]
    assert await take(alice) == [b"b%d" % number]


async def overhear_all_kinds(cluster: MemoryCluster, key: bytes | None) -> tuple[Node, Node]:
    """Alice and bob, who talk, and others whom they refuse."""
    alice, bob = await cluster.mesh("alice", "bob", key=key)
    await alice.send("bob", bytes(5_000))
    assert await take(bob) == [bytes(5_000)]
    other = await cluster.start("carol", "alice", "bob", protocol="hybrid", key=key)
    await wait_for_event(other, "refused", "alice")
    await wait_for_event(other, "refused", "bob")
    await cluster.crash(other)
    return alice, bob


def sizes(node: Node) -> dict[str, int]:
    """The sizes of all collections of a node."""
    engine = node.driver.engine
    sizes = {**engine.sizes(), **node.driver.members.sizes(), "unread": int(engine.inbox.unread)}
    return {**sizes, "timers": sizes["timers"] // 50}


@pytest.mark.parametrize("key", [None, KEY], ids=["plain", "encrypted"])
def test_thirty_thousand_hostile_datagrams(key: bytes | None) -> None:
    """From the addresses of peers and of strangers, at both nodes, all kinds of true ones changed."""

    async def main() -> None:
        async with MemoryCluster() as cluster:
            alice, bob = await overhear_all_kinds(cluster, key)
            cluster.network.cut(
                "alice", "mallory"
            )  # what strangers get is counted, but not carried
            hostile = Hostile(6, [datagram for _, _, datagram in cluster.network.carried])
            assert hostile.missing() == []
            before = sizes(alice)
            memory = 0
            for number in range(ROUNDS):
                for node, peer in ((alice, "bob"), (bob, "alice")):
                    cluster.network.carried.clear()
                    received = 0
                    for address in (peer, "mallory", f"mallory {number % 3}"):
                        batch = hostile.batch(34)
                        received += sum(map(len, batch)) if address != peer else 0
                        node.driver.receive(batch, address)
                    await asyncio.sleep(0)
                    sent = [
                        len(datagram)
                        for sender, to, datagram in cluster.network.carried
                        if sender == node.address and to.startswith("mallory")
                    ]
                    assert sum(sent) <= received
                await talk(alice, bob, number)
                if number == ROUNDS // 3:
                    gc.collect()
                    tracemalloc.start()
                    memory = tracemalloc.get_traced_memory()[0]
            gc.collect()
            grown = tracemalloc.get_traced_memory()[0] - memory
            assert grown < GROWTH
            after = sizes(alice)
            assert {
                name: (before[name], size)
                for name, size in after.items()
                if size > before[name] + 2
            } == {}
            for node in (alice, bob):
                stats = node.stats()
                assert stats.stray > 3_000 and stats.refused > 1_000 and stats.unread == 0
                assert stats.messages_delivered <= ROUNDS + 1 and stats.misbehaved == 0
                events = await events_of(node)
                assert len(events) < 40
                assert not {kind for kind, _ in events} & {
                    "dropped",
                    "restarted",
                    "expelled",
                    "silent",
                }

    try:
        run(main(), 60)
    finally:
        tracemalloc.stop()


class RecordingTransport(UdpTransport):
    """UDP on loopback that records what it sends."""

    def __init__(self, recorded: list[bytes]) -> None:
        super().__init__("127.0.0.1:0")
        self.recorded = recorded

    def send(self, address: Address, datagrams: list[bytes]) -> None:
        """Record, then send."""
        if len(self.recorded) < 3_000:
            self.recorded += datagrams
        super().send(address, datagrams)


@pytest.mark.parametrize("key", [None, KEY], ids=["plain", "encrypted"])
def test_an_open_port_under_fire(key: bytes | None) -> None:
    """Real sockets: datagrams from several ports, some of them faster than they can be read."""
    recorded: list[bytes] = []

    async def main() -> None:
        async with Node("alice", transport=RecordingTransport(recorded), key=key) as alice:
            peers = {"alice": alice.address}
            async with Node(
                "bob", transport=RecordingTransport(recorded), peers=peers, key=key
            ) as bob:
                await wait_for_event(alice, "up", "bob")
                await talk(alice, bob, -1)
                async with Node("carol", peers=peers, protocol="hybrid", key=key) as carol:
                    await wait_for_event(carol, "refused", "alice")
                host, port = alice.address.rsplit(":", 1)
                hostile = Hostile(7, recorded)
                assert hostile.missing() == []
                for number in range(60):
                    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
                        stranger.setblocking(False)
                        for datagram in hostile.batch(100):
                            with suppress(BlockingIOError):
                                stranger.sendto(datagram, (host, int(port)))
                        await talk(alice, bob, number)
                stats = alice.stats()
                assert stats.refused + stats.stray > 2_000
                assert stats.messages_delivered == 61 and stats.unread == 0
                assert stats.peers["bob"].state == "up"

    run(main(), 60)


def test_endless_hellos() -> None:
    """An attacker who can receive keeps sending hellos under new names and never completes a
    handshake: only the latest are remembered, and only for a while."""

    async def main() -> None:
        async with MemoryCluster() as cluster:
            alice, bob = await cluster.mesh("alice", "bob")
            for number in range(600):
                greeting = Greeting(f"stranger {number}", bytes(8), b"%8d" % number, *HABITS)
                stranger = Initiator(NO_KEY, True, greeting, "alice")
                alice.driver.receive([stranger.hello], "mallory")
                assert stranger.take_cookie(cluster.network.carried[-1][2])
                alice.driver.receive([stranger.hello], "mallory")
                assert stranger.take_welcome(cluster.network.carried[-1][2]) is not None
            assert sizes(alice)["answers"] == 256 and sizes(alice)["connections"] == 257
            assert alice.peers() == ["bob"]
            await talk(alice, bob, 0)

    run(main(), 60)


def test_a_hello_that_comes_again_gets_the_same_welcome() -> None:
    """One session comes of it, however often the network, or an attacker, replays it."""

    async def main() -> None:
        async with MemoryCluster() as cluster:
            alice = await cluster.start("alice")
            greeting = Greeting("stranger", bytes(8), b"8 bytes!", *HABITS)
            stranger = Initiator(NO_KEY, True, greeting, "alice")
            alice.driver.receive([stranger.hello], "mallory")
            assert stranger.take_cookie(cluster.network.carried.pop()[2])
            alice.driver.receive([stranger.hello] * 20, "mallory")
            assert len(cluster.network.carried) == 20
            assert len({datagram for _, _, datagram in cluster.network.carried}) == 1
            assert sizes(alice)["connections"] == 1

    run(main())


def test_a_cookie_from_elsewhere_gets_no_hello() -> None:
    """Hellos are long and cookies are short: they go to the configured address only."""

    async def main() -> None:
        async with MemoryCluster() as cluster:
            alice = await cluster.start("alice", "bob")
            while not cluster.network.carried:
                await asyncio.sleep(0)
            ((_, _, hello), *_) = cluster.network.carried
            for number in range(50):
                alice.driver.receive([bytes([COOKIE]) + hello[1:9] + b"%16d" % number], "mallory")
            assert {to for _, to, _ in cluster.network.carried} == {"bob"}
            assert len(cluster.network.carried) > 1

    run(main())


def test_a_flood_of_wrong_keys_is_one_event() -> None:
    """Whatever an attacker without the key sends, it is reported once in a while, not each time."""

    async def main() -> None:
        async with MemoryCluster() as cluster:
            alice, bob = await cluster.mesh("alice", "bob", key=KEY)
            mallory = await cluster.start("mallory", "alice", key=OTHER_KEY)
            await wait_for_event(alice, "refused", "mallory")
            (hello,) = {
                d for s, _, d in cluster.network.carried if s == "mallory" and any(d[10:26])
            }
            for _ in range(200):
                alice.driver.receive([hello] * 20, "mallory")
            await talk(alice, bob, 0)
            assert (await events_of(alice)).count(("refused", "mallory")) == 1
            assert mallory.peers() == ["alice"]

    run(main())
