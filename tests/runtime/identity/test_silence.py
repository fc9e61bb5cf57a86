"""Peers that are not heard: reported, waited for or given up, and never in the way of the others."""

from __future__ import annotations

import asyncio
import time

import pytest

from beforehand import Node
from beforehand.errors import PeerDroppedError, WouldBlock
from tests.runtime.nodes import Town, happened, nothing, run, so_far, take


def test_a_silent_peer_is_waited_for() -> None:
    """The policy is to wait: both are told, nothing is lost, and it is up again when it is heard."""

    async def main() -> None:
        async with Town(silent_after=0.1) as town:
            alice, bob = await town.mesh("alice", "bob")
            town.isolate(bob)
            silent = await happened(alice, "silent", "bob")
            assert "waiting for it" in silent.detail
            await happened(bob, "silent", "alice")
            for number in range(20):
                await alice.send("bob", b"%d" % number)
            assert alice.stats().peers["bob"].state == "silent"
            await asyncio.sleep(0.3)
            town.reconnect(bob)
            assert await take(bob, 20) == [b"%d" % number for number in range(20)]
            await alice.flush()
            expected = [("up", "bob"), ("silent", "bob"), ("up", "bob")]
            assert await so_far(alice) == expected
            assert alice.stats().peers["bob"].state == "up"

    run(main())


def test_a_quiet_peer_is_not_a_silent_one() -> None:
    """Nobody says anything for long, and nobody is suspected."""

    async def main() -> None:
        async with Town(silent_after=0.25, drop_after=0.5) as town:
            alice, bob = await town.mesh("alice", "bob")
            await asyncio.sleep(0.8)
            assert await so_far(alice) == [("up", "bob")] and await so_far(bob) == [("up", "alice")]

    run(main())


def test_a_stall_of_ones_own_is_nobody_elses_silence() -> None:
    """The whole process stood still, for longer than anybody may be silent: nobody is to blame."""

    async def main() -> None:
        async with Town(silent_after=0.2, drop_after=0.3) as town:
            alice, bob = await town.mesh("alice", "bob")
            time.sleep(0.5)
            await asyncio.sleep(0.1)
            assert await so_far(alice) == [("up", "bob")] and await so_far(bob) == [("up", "alice")]

    run(main())


def test_one_direction_is_enough_to_be_silent() -> None:
    """Bob hears alice, but she does not hear him."""

    async def main() -> None:
        async with Town(silent_after=0.1) as town:
            alice, bob = await town.mesh("alice", "bob")
            town.network.cut("bob", "alice")
            await happened(alice, "silent", "bob")
            await asyncio.sleep(0.2)
            assert ("silent", "alice") not in await so_far(bob)

    run(main())


def test_a_silent_peer_does_not_slow_the_others() -> None:
    """Its window fills up and its senders wait; messages between the others flow."""

    async def main() -> None:
        async with Town(silent_after=0.1, window=16) as town:
            alice, bob, carol = await town.mesh("alice", "bob", "carol")
            town.isolate(bob)
            for _ in range(16):
                await alice.send("bob", b"")
            with pytest.raises(WouldBlock, match="bob has 16 messages of 0 bytes to take"):
                alice.try_send("bob", b"")
            stuck = asyncio.ensure_future(alice.send("bob", b"later"))
            for number in range(100):
                await alice.send("carol", b"%d" % number)
                assert await take(carol) == [b"%d" % number]
            assert not stuck.done()
            town.reconnect(bob)
            assert (await take(bob, 17))[-1] == b"later"
            await stuck

    run(main())


async def everything(node: Node) -> None:
    """Take whatever comes."""
    async for _ in node:
        pass


def test_a_busy_node_notices_silence() -> None:
    """Timers have their turn, although in every turn something is sent, and each takes its time."""

    async def main() -> None:
        async with Town(silent_after=0.1) as town:
            alice, bob, carol = await town.mesh("alice", "bob", "carol")
            town.isolate(carol)
            silent = asyncio.ensure_future(happened(alice, "silent", "carol"))
            taking = asyncio.ensure_future(everything(bob))
            for _ in range(400):
                await alice.send("bob", b"x")
                await asyncio.sleep(0)
                time.sleep(0.002)  # the application works
                if silent.done():
                    break
            taking.cancel()
            await asyncio.gather(taking, return_exceptions=True)
            assert silent.done() and silent.result().kind == "silent"

    run(main())


def test_a_peer_that_stays_silent_is_dropped() -> None:
    """With `drop_after`: first silent, then dropped; those who wait for it are told."""

    async def main() -> None:
        async with Town(silent_after=0.1, drop_after=0.3, window=4) as town:
            alice, bob = await town.mesh("alice", "bob")
            town.isolate(bob)
            last = [await alice.send("bob", b"") for _ in range(4)][-1]
            waiting = [asyncio.ensure_future(alice.send("bob", b"")) for _ in range(3)]
            receipt = asyncio.ensure_future(alice.delivered(last))
            await happened(alice, "dropped", "bob")
            for outcome in await asyncio.gather(*waiting, receipt, return_exceptions=True):
                assert isinstance(outcome, PeerDroppedError)
            expected = [("up", "bob"), ("silent", "bob"), ("dropped", "bob")]
            assert await so_far(alice) == expected
            detail = await happened(alice, "silent", "bob")
            assert "to be dropped after 0.3 s" in detail.detail
            await alice.flush()  # nothing is owed to anybody any more

    run(main())


def test_what_was_held_because_of_the_dead_is_released() -> None:
    """Carol's reaction waits for a permit that bob's death holds up, and goes when he is dropped."""

    async def main() -> None:
        async with Town(silent_after=0.1, drop_after=0.4) as town:
            alice, bob, carol, dave = await town.mesh("alice", "bob", "carol", "dave")
            town.isolate(bob)
            await alice.send("bob", b"cause")
            await alice.send("carol", b"effect")
            assert await take(carol) == [b"effect"]
            await carol.send("dave", b"reaction")
            assert await nothing(dave, 0.1)
            (held,) = carol.held()
            assert held.receivers == ("dave",) and held.seconds >= 0.05
            assert "permit of alice" in str(held)
            await happened(alice, "dropped", "bob")
            assert await take(dave) == [b"reaction"]
            assert carol.held() == []

    run(main())


def test_broadcasts_go_on_without_the_dropped() -> None:
    """Everybody is everybody who is left."""

    async def main() -> None:
        async with Town(protocol="vector", window=8, silent_after=0.1, drop_after=0.2) as town:
            alice, bob, carol = await town.mesh("alice", "bob", "carol")
            town.isolate(carol)
            for node in (alice, bob):
                await happened(node, "dropped", "carol")
            for number in range(30):
                await alice.send(None, b"%d" % number)
                assert await take(alice) == await take(bob) == [b"%d" % number]

    run(main())


def test_an_idle_node_wakes_up_rarely() -> None:
    """Heartbeats of a quiet pair are few, and nobody sends to a peer that was dropped."""

    async def main() -> None:
        async with Town(silent_after=0.3, drop_after=0.3) as town:
            alice, bob = await town.mesh("alice", "bob")
            await asyncio.sleep(0.1)
            before = len(town.network.carried)
            await asyncio.sleep(0.35)
            assert 2 <= len(town.network.carried) - before <= 30
            link = alice.driver.engine.sessions.peers["bob"].link
            town.isolate(bob)
            await happened(alice, "dropped", "bob")
            await asyncio.sleep(0.05)
            assert link is not None and link.done()

    run(main())
