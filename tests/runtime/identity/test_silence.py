"""Silent peers are reported, awaited or dropped, and never block the others."""

from __future__ import annotations

import asyncio
import time

import pytest

from beforehand import Node
from beforehand.errors import PeerDroppedError, WouldBlock
from tests.runtime.nodes import (
    MemoryCluster,
    events_of,
    receives_nothing,
    run,
    take,
    wait_for_event,
)


def test_a_silent_peer_is_waited_for() -> None:
    """The policy is to wait: both report silence, nothing is lost, and both are up afterwards."""

    async def main() -> None:
        async with MemoryCluster(silent_after=0.1) as cluster:
            alice, bob = await cluster.mesh("alice", "bob")
            cluster.isolate(bob)
            silent = await wait_for_event(alice, "silent", "bob")
            assert "waiting for it" in silent.detail
            await wait_for_event(bob, "silent", "alice")
            for number in range(20):
                await alice.send("bob", b"%d" % number)
            assert alice.stats().peers["bob"].state == "silent"
            await asyncio.sleep(0.3)
            cluster.reconnect(bob)
            assert await take(bob, 20) == [b"%d" % number for number in range(20)]
            await alice.flush()
            expected = [("up", "bob"), ("silent", "bob"), ("up", "bob")]
            assert await events_of(alice) == expected
            assert alice.stats().peers["bob"].state == "up"

    run(main())


def test_a_quiet_peer_is_not_a_silent_one() -> None:
    """Idle peers are not reported silent."""

    async def main() -> None:
        async with MemoryCluster(silent_after=0.25, drop_after=0.5) as cluster:
            alice, bob = await cluster.mesh("alice", "bob")
            await asyncio.sleep(0.8)
            assert await events_of(alice) == [("up", "bob")] and await events_of(bob) == [
                ("up", "alice")
            ]

    run(main())


def test_a_stall_of_this_process_is_not_silence_of_its_peers() -> None:
    """This process stalled for longer than a peer may be silent: no peer is reported silent."""

    async def main() -> None:
        async with MemoryCluster(silent_after=0.2, drop_after=0.3) as cluster:
            alice, bob = await cluster.mesh("alice", "bob")
            time.sleep(0.5)
            await asyncio.sleep(0.1)
            assert await events_of(alice) == [("up", "bob")] and await events_of(bob) == [
                ("up", "alice")
            ]

    run(main())


def test_one_direction_is_enough_to_be_silent() -> None:
    """Bob receives from alice, but alice doesn't receive from bob."""

    async def main() -> None:
        async with MemoryCluster(silent_after=0.1) as cluster:
            alice, bob = await cluster.mesh("alice", "bob")
            cluster.network.cut("bob", "alice")
            await wait_for_event(alice, "silent", "bob")
            await asyncio.sleep(0.2)
            assert ("silent", "alice") not in await events_of(bob)

    run(main())


def test_a_silent_peer_does_not_slow_the_others() -> None:
    """Its window fills up and its senders wait; messages between the others flow."""

    async def main() -> None:
        async with MemoryCluster(silent_after=0.1, window=16) as cluster:
            alice, bob, carol = await cluster.mesh("alice", "bob", "carol")
            cluster.isolate(bob)
            for _ in range(16):
                await alice.send("bob", b"")
            with pytest.raises(WouldBlock, match="bob has 16 messages of 0 bytes to take"):
                alice.try_send("bob", b"")
            stuck = asyncio.ensure_future(alice.send("bob", b"later"))
            for number in range(100):
                await alice.send("carol", b"%d" % number)
                assert await take(carol) == [b"%d" % number]
            assert not stuck.done()
            cluster.reconnect(bob)
            assert (await take(bob, 17))[-1] == b"later"
            await stuck

    run(main())


async def everything(node: Node) -> None:
    """Take every message."""
    async for _ in node:
        pass


def test_a_busy_node_notices_silence() -> None:
    """Timers have their turn, although in every turn something is sent, and each takes its time."""

    async def main() -> None:
        async with MemoryCluster(silent_after=0.1) as cluster:
            alice, bob, carol = await cluster.mesh("alice", "bob", "carol")
            cluster.isolate(carol)
            silent = asyncio.ensure_future(wait_for_event(alice, "silent", "carol"))
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
    """With `drop_after`: first silent, then dropped; calls that wait for it raise."""

    async def main() -> None:
        async with MemoryCluster(silent_after=0.1, drop_after=0.3, window=4) as cluster:
            alice, bob = await cluster.mesh("alice", "bob")
            cluster.isolate(bob)
            last = [await alice.send("bob", b"") for _ in range(4)][-1]
            waiting = [asyncio.ensure_future(alice.send("bob", b"")) for _ in range(3)]
            receipt = asyncio.ensure_future(alice.delivered(last))
            await wait_for_event(alice, "dropped", "bob")
            for outcome in await asyncio.gather(*waiting, receipt, return_exceptions=True):
                assert isinstance(outcome, PeerDroppedError)
            expected = [("up", "bob"), ("silent", "bob"), ("dropped", "bob")]
            assert await events_of(alice) == expected
            detail = await wait_for_event(alice, "silent", "bob")
            assert "to be dropped after 0.3 s" in detail.detail
            await alice.flush()  # nothing is owed to anybody any more

    run(main())


def test_messages_held_because_of_a_dropped_peer_are_released() -> None:
    """Carol's reaction waits for a permit from bob, and is released when bob is dropped."""

    async def main() -> None:
        async with MemoryCluster(silent_after=0.1, drop_after=0.4) as cluster:
            alice, bob, carol, dave = await cluster.mesh("alice", "bob", "carol", "dave")
            cluster.isolate(bob)
            await alice.send("bob", b"cause")
            await alice.send("carol", b"effect")
            assert await take(carol) == [b"effect"]
            await carol.send("dave", b"reaction")
            assert await receives_nothing(dave, 0.1)
            (held,) = carol.held()
            assert held.receivers == ("dave",) and held.seconds >= 0.05
            assert "permit of alice" in str(held)
            await wait_for_event(alice, "dropped", "bob")
            assert await take(dave) == [b"reaction"]
            assert carol.held() == []

    run(main())


def test_broadcasts_continue_without_dropped_peers() -> None:
    """A broadcast reaches all peers that are not dropped."""

    async def main() -> None:
        async with MemoryCluster(
            protocol="vector", window=8, silent_after=0.1, drop_after=0.2
        ) as cluster:
            alice, bob, carol = await cluster.mesh("alice", "bob", "carol")
            cluster.isolate(carol)
            for node in (alice, bob):
                await wait_for_event(node, "dropped", "carol")
            for number in range(30):
                await alice.send(None, b"%d" % number)
                assert await take(alice) == await take(bob) == [b"%d" % number]

    run(main())


def test_an_idle_node_wakes_up_rarely() -> None:
    """Heartbeats of an idle pair are few, and nothing is sent to a dropped peer."""

    async def main() -> None:
        async with MemoryCluster(silent_after=0.3, drop_after=0.3) as cluster:
            alice, bob = await cluster.mesh("alice", "bob")
            await asyncio.sleep(0.1)
            before = len(cluster.network.carried)
            await asyncio.sleep(0.35)
            assert 2 <= len(cluster.network.carried) - before <= 30
            link = alice.driver.engine.sessions.peers["bob"].link
            cluster.isolate(bob)
            await wait_for_event(alice, "dropped", "bob")
            await asyncio.sleep(0.05)
            assert link is not None and link.done()

    run(main())
