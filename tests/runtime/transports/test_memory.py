"""The network inside one event loop: names, paths that are cut, and orders drawn from a seed."""

import asyncio

import pytest

from beforehand.errors import TransportError
from beforehand.runtime.transports import MemoryNetwork
from tests.runtime.transports.inbox import Inbox


async def settle() -> None:
    """Let everything under way arrive."""
    for _ in range(3):
        await asyncio.sleep(0)


def test_datagrams_arrive_later_and_in_order() -> None:
    """Never within the call of `send`, each call as one batch, with the name of the sender."""

    async def scenario() -> None:
        network, inbox = MemoryNetwork(), Inbox()
        alice, bob = network.transport("alice"), network.transport("bob")
        await alice.open(Inbox())
        await bob.open(inbox)
        address = await alice.resolve("bob")
        alice.send(address, [b"1", b"2"])
        alice.send(address, [])
        alice.send(address, [b"3"])
        assert inbox.batches == []
        await settle()
        assert inbox.batches == [([b"1", b"2"], "alice"), ([b"3"], "alice")]
        assert bob.describe("alice") == "alice" and bob.loopback() and not bob.busy()
        assert bob.address_bytes("alice") == b"alice" and bob.local == "bob"

    asyncio.run(scenario())


def test_a_path_can_be_cut_in_one_direction_and_healed() -> None:
    """What is under way or sent meanwhile is lost; the other direction is not concerned."""

    async def scenario() -> None:
        network = MemoryNetwork()
        inboxes = {name: Inbox() for name in ("alice", "bob")}
        transports = {name: network.transport(name) for name in inboxes}
        for name, transport in transports.items():
            await transport.open(inboxes[name])
        transports["alice"].send("bob", [b"under way"])
        network.cut("alice", "bob")
        transports["alice"].send("bob", [b"lost"])
        transports["bob"].send("alice", [b"passes"])
        await settle()
        network.heal("alice", "bob")
        transports["alice"].send("bob", [b"healed"])
        await settle()
        assert inboxes["bob"].datagrams == [b"healed"]
        assert inboxes["alice"].datagrams == [b"passes"]

    asyncio.run(scenario())


def arrivals(seed: int | None) -> list[bytes]:
    """The order in which twenty batches arrive."""

    async def scenario() -> list[bytes]:
        network, inbox = MemoryNetwork(seed), Inbox()
        alice, bob = network.transport("alice"), network.transport("bob")
        await alice.open(Inbox())
        await bob.open(inbox)
        for number in range(20):
            alice.send("bob", [bytes([number])])
        await settle()
        return inbox.datagrams

    return asyncio.run(scenario())


def test_a_seed_draws_the_order_of_arrival() -> None:
    """The same seed gives the same order, and another one another."""
    sent = [bytes([number]) for number in range(20)]
    assert arrivals(None) == sent
    assert sorted(arrivals(1)) == sent and arrivals(1) != sent
    assert arrivals(1) == arrivals(1) != arrivals(2)


def test_a_name_belongs_to_one_transport_until_it_is_closed() -> None:
    """A restarted process takes over the name; what was sent meanwhile is lost."""

    async def scenario() -> None:
        network, old, new = MemoryNetwork(), Inbox(), Inbox()
        alice, bob, again = (network.transport(name) for name in ("alice", "bob", "bob"))
        await alice.open(Inbox())
        await bob.open(old)
        with pytest.raises(TransportError, match="'bob' is taken"):
            await again.open(new)
        again.close()  # it was never open, so this does not disturb the other
        alice.send("bob", [b"1"])
        await settle()
        bob.close()
        bob.close()
        bob.send("alice", [b"too late"])
        alice.send("bob", [b"2"])
        await settle()
        again = network.transport("bob")
        await again.open(new)
        alice.send("bob", [b"3"])
        await settle()
        assert old.datagrams == [b"1"] and new.datagrams == [b"3"]
        with pytest.raises(TransportError, match="not empty"):
            await alice.resolve("")

    asyncio.run(scenario())
