"""Identity: restarts, two nodes with one name, unknown nodes, and dropped nodes that are still alive."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from beforehand.errors import LocalProtocolError, PeerDroppedError, WouldBlock
from beforehand.runtime.identity import introductions
from beforehand.runtime.link.datagrams import DATA, WELCOME
from tests.runtime.nodes import (
    KEY,
    OTHER_KEY,
    MemoryCluster,
    events_of,
    inject,
    receives_nothing,
    run,
    take,
    wait_for_event,
)

MS = 1_000_000


@pytest.fixture(autouse=True)
def short_timeouts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorter timeouts, for an in-memory network."""
    monkeypatch.setattr(introductions, "LIFE_SIGN", 100 * MS)
    monkeypatch.setattr(introductions, "CROSSING", 150 * MS)
    monkeypatch.setattr(introductions, "FIRST_RETRY", 20 * MS)
    monkeypatch.setattr(introductions, "SLOWEST_RETRY", 60 * MS)
    monkeypatch.setattr(introductions, "UNANSWERED", 200 * MS)
    monkeypatch.setattr(introductions, "ANSWER_LIFETIME", 300 * MS)


@pytest.mark.parametrize("at", ["bob", "elsewhere"])
def test_a_restarted_process_takes_part_again(at: str) -> None:
    """At its old address or another; the others learn of it and stop waiting for the old one."""

    async def main() -> None:
        async with MemoryCluster(key=KEY) as cluster:
            alice, bob, carol = await cluster.mesh("alice", "bob", "carol")
            await bob.send(["alice", "carol"], b"first life")
            assert await take(alice) == await take(carol) == [b"first life"]
            await cluster.crash(bob)
            await alice.send("bob", b"into the void")
            bob = await cluster.start("bob", "alice", "carol", at=at)
            for node in (alice, carol):
                await wait_for_event(node, "restarted", "bob")
            await bob.send(["alice", "carol"], b"second life")
            assert await take(alice) == await take(carol) == [b"second life"]
            await alice.send("bob", b"welcome back")
            assert await take(bob) == [b"welcome back"] and await receives_nothing(bob, 0.02)
            await alice.flush()
            assert alice.held() == [] and carol.held() == []

    run(main())


def test_nothing_of_the_old_incarnation_is_delivered_after_the_restart() -> None:
    """Delayed datagrams of the old incarnation are ignored, although they are genuine."""

    async def main() -> None:
        async with MemoryCluster(key=KEY) as cluster:
            alice, bob = await cluster.mesh("alice", "bob")
            cluster.network.cut("bob", "alice")
            await bob.send("alice", b"held up somewhere")
            await asyncio.sleep(0.02)
            late = [
                datagram
                for sender, to, datagram in cluster.network.carried
                if (sender, to) == ("bob", "alice")
            ]
            await cluster.crash(bob)
            bob = await cluster.start("bob", "alice")
            await wait_for_event(alice, "restarted", "bob")
            inject(alice, late, "bob", cluster.network)
            await bob.send("alice", b"second life")
            assert [datagram[0] for datagram in late].count(DATA) > 1
            assert await take(alice) == [b"second life"] and await receives_nothing(alice)

    run(main())


def test_a_restarted_server_is_found_by_those_who_know_its_address() -> None:
    """The restarted node knows no peers, and the policy is to wait: the others find it."""

    async def main() -> None:
        async with MemoryCluster(silent_after=0.1) as cluster:
            server = await cluster.start("server")
            client = await cluster.start("client", "server")
            await client.send("server", b"request")
            assert await take(server) == [b"request"]
            await cluster.crash(server)
            await wait_for_event(client, "silent", "server")
            server = await cluster.start("server")
            await wait_for_event(client, "restarted", "server")
            await client.send("server", b"again")
            assert await take(server) == [b"again"]

    run(main())


def test_the_second_of_two_living_nodes_with_one_name_is_refused() -> None:
    """Both sides report it; the first node is not affected."""

    async def main() -> None:
        async with MemoryCluster(key=KEY) as cluster:
            alice, bob = await cluster.mesh("alice", "bob")
            second = await cluster.start("bob", "alice", at="second")
            conflict = await wait_for_event(alice, "conflict", "bob")
            assert "second" in conflict.detail
            refused = await wait_for_event(second, "refused", "alice")
            assert "in use by a living node; choose another" in refused.detail
            with pytest.raises(WouldBlock):
                second.try_send("alice", b"impostor")
            await asyncio.sleep(0.2)
            await bob.send("alice", b"still here")
            await alice.send("bob", b"so am I")
            assert (await take(alice), await take(bob)) == ([b"still here"], [b"so am I"])
            assert not {"dropped", "restarted"} & {kind for kind, _ in await events_of(alice)}

    run(main())


def test_after_a_conflict_the_name_is_free_when_its_owner_has_died() -> None:
    """A refusal is not permanent."""

    async def main() -> None:
        async with MemoryCluster() as cluster:
            alice, bob = await cluster.mesh("alice", "bob")
            second = await cluster.start("bob", "alice", at="second")
            await wait_for_event(alice, "conflict", "bob")
            await cluster.crash(bob)
            await wait_for_event(alice, "restarted", "bob")
            await second.send("alice", b"my turn")
            assert await take(alice) == [b"my turn"]

    run(main())


@pytest.mark.parametrize(
    ("own", "other", "words"),
    [
        (KEY, OTHER_KEY, "another cluster key"),
        (KEY, None, "uses no cluster key, and this node has one"),
        (None, KEY, "uses a cluster key, and this node has none"),
    ],
    ids=["another key", "no key there", "no key here"],
)
def test_nodes_with_different_keys_do_not_connect(
    own: bytes | None, other: bytes | None, words: str
) -> None:
    """Both report the reason, no message is delivered, and no session is established."""

    async def main() -> None:
        async with MemoryCluster() as cluster:
            alice = await cluster.start("alice", key=own)
            stranger = await cluster.start("stranger", "alice", key=other)
            refused = await wait_for_event(alice, "refused", "stranger")
            assert words in refused.detail and "all nodes" in refused.detail
            await wait_for_event(stranger, "refused", "alice")
            with pytest.raises(WouldBlock):
                stranger.try_send("alice", b"")
            assert {kind for kind, _ in await events_of(alice) + await events_of(stranger)} == {
                "refused"
            }
            assert alice.peers() == []

    run(main())


def test_nodes_with_different_protocols_do_not_connect() -> None:
    """The refusal names both protocols."""

    async def main() -> None:
        async with MemoryCluster() as cluster:
            alice = await cluster.start("alice", protocol="hybrid")
            bob = await cluster.start("bob", "alice", protocol="mattern")
            for node, peer in ((alice, "bob"), (bob, "alice")):
                refused = await wait_for_event(node, "refused", peer)
                assert "bob runs mattern and alice runs hybrid" in refused.detail

    run(main())


def test_a_peer_under_another_name_is_refused() -> None:
    """An address at which another node listens."""

    async def main() -> None:
        async with MemoryCluster() as cluster:
            await cluster.start("carol", at="bob")
            alice = await cluster.start("alice", "bob")
            refused = await wait_for_event(alice, "refused", "bob")
            assert "this is carol, not bob; check the address" in refused.detail

    run(main())


def test_protocols_of_fixed_membership_refuse_restarted_processes() -> None:
    """A restarted process is refused there, with a sentence for both."""

    async def main() -> None:
        async with MemoryCluster(protocol="vector", silent_after=0.1) as cluster:
            alice, bob = await cluster.mesh("alice", "bob")
            await bob.send(None, b"first life")
            assert await take(alice) == [b"first life"]
            await cluster.crash(bob)
            bob = await cluster.start("bob", "alice")
            for node, peer in ((alice, "bob"), (bob, "alice")):
                refused = await wait_for_event(node, "refused", peer)
                assert "bob cannot come back; restart all" in refused.detail
            assert "restarted" not in {kind for kind, _ in await events_of(alice)}

    run(main())


def test_a_dropped_but_living_peer_is_informed_and_comes_back_by_a_restart() -> None:
    """It is expelled, its sends raise, and its next incarnation is accepted."""

    async def main() -> None:
        async with MemoryCluster() as cluster:
            alice, bob = await cluster.mesh("alice", "bob")
            alice.drop("bob")
            await wait_for_event(bob, "expelled", "alice")
            with pytest.raises(PeerDroppedError, match="alice"):
                await bob.send("alice", b"unheard")
            with pytest.raises(PeerDroppedError, match="bob was dropped"):
                await alice.send("bob", b"unsent")
            await asyncio.sleep(0.2)
            assert "restarted" not in {
                kind for kind, _ in await events_of(alice) + await events_of(bob)
            }
            await cluster.crash(bob)
            bob = await cluster.start("bob", "alice")
            await bob.send("alice", b"again")
            assert await take(alice) == [b"again"]
            await alice.send("bob", b"at last")
            assert await take(bob) == [b"at last"]

    run(main())


def test_attempts_to_reach_a_dropped_but_living_peer_are_rate_limited() -> None:
    """At most a few attempts per second to reach its next incarnation, however fast it answers."""

    async def main() -> None:
        async with MemoryCluster() as cluster:
            bob = await cluster.start("bob")
            alice = await cluster.start("alice", "bob")
            await wait_for_event(alice, "up", "bob")
            alice.drop("bob")
            await wait_for_event(bob, "expelled", "alice")
            before = len(cluster.network.carried)
            await asyncio.sleep(0.3)
            assert 2 < len(cluster.network.carried) - before < 60

    run(main())


def test_a_dropped_server_is_found_again_after_its_restart() -> None:
    """Even if its first incarnation still answers, and its second knows no peers."""

    async def main() -> None:
        async with MemoryCluster() as cluster:
            bob = await cluster.start("bob")
            alice = await cluster.start("alice", "bob")
            await wait_for_event(alice, "up", "bob")
            alice.drop("bob")
            await wait_for_event(bob, "expelled", "alice")
            await asyncio.sleep(0.3)
            await cluster.crash(bob)
            bob = await cluster.start("bob")
            await wait_for_event(bob, "up", "alice")
            await alice.send("bob", b"hello again")
            assert await take(bob) == [b"hello again"]

    run(main())


def test_a_drop_reaches_the_third() -> None:
    """Carol learns that alice dropped bob only with alice's next message."""

    async def main() -> None:
        async with MemoryCluster() as cluster:
            alice, bob, carol = await cluster.mesh("alice", "bob", "carol")
            cluster.network.cut("alice", "bob")
            alice.drop("bob")
            await bob.send("carol", b"alive")
            assert await take(carol) == [b"alive"]
            assert ("dropped", "bob") not in await events_of(carol)
            await alice.send("carol", b"by the way")
            assert await take(carol) == [b"by the way"]
            await wait_for_event(carol, "dropped", "bob")
            await wait_for_event(bob, "expelled", "carol")
            assert await receives_nothing(carol, 0.02)

    run(main())


def test_a_drop_that_is_reported_in_the_middle_of_a_handshake() -> None:
    """Bob learns that carol is dropped between the welcome and the first packet: no session."""

    async def main() -> None:
        async with MemoryCluster() as cluster:
            alice, carol = await cluster.mesh("alice", "carol")
            bob = await cluster.start("bob", "alice")
            await wait_for_event(alice, "up", "bob")
            for path in (("alice", "carol"), ("carol", "alice")):
                cluster.network.cut(*path)
            alice.drop("carol")
            carol.add_peer("bob", "bob")
            while WELCOME not in {
                d[0] for s, to, d in cluster.network.carried if (s, to) == ("bob", "carol")
            }:
                await asyncio.sleep(0)
            cluster.network.cut("carol", "bob")  # before she uses it
            await alice.send("bob", b"by the way")
            assert await take(bob) == [b"by the way"]
            cluster.network.heal("carol", "bob")
            await wait_for_event(carol, "expelled", "bob")
            assert ("up", "carol") not in await events_of(bob)
            with pytest.raises(LocalProtocolError):
                bob.try_send("carol", b"")
            await bob.send("alice", b"all is well")
            assert await take(alice) == [b"all is well"]

    run(main())


@pytest.mark.parametrize("seed", range(6))
def test_both_say_hello_at_once(seed: int) -> None:
    """Whatever the order in which datagrams arrive, there is one session, and it works."""

    async def main() -> None:
        async with MemoryCluster(seed=seed, key=KEY) as cluster:
            alice, bob = await cluster.mesh("alice", "bob")
            await alice.send("bob", b"one")
            await bob.send("alice", b"two")
            assert await take(bob) + await take(alice) == [b"one", b"two"]
            await asyncio.sleep(0.1)
            assert await events_of(alice) == [("up", "bob")] and await events_of(bob) == [
                ("up", "alice")
            ]

    run(main())


@pytest.mark.parametrize("seed", range(2))
def test_hellos_of_both_sides_that_arrive_at_once(seed: int) -> None:
    """A second session is not mistaken for a restart."""

    async def main() -> None:
        async with MemoryCluster(seed=seed) as cluster:
            alice, bob = await cluster.start("alice", "bob"), await cluster.start("bob", "alice")
            cluster.isolate(bob)
            await asyncio.sleep(0.3)
            cluster.reconnect(bob)
            await alice.send("bob", b"one")
            await bob.send("alice", b"two")
            assert await take(bob) + await take(alice) == [b"one", b"two"]
            await asyncio.sleep(0.1)
            assert await events_of(alice) == [("up", "bob")] and await events_of(bob) == [
                ("up", "alice")
            ]

    run(main())


@pytest.mark.parametrize("server", ["alice", "zoe"])
def test_a_session_that_only_one_side_knows_is_made_again(server: str) -> None:
    """The welcome arrived, and nothing after it, until the other side has forgotten: no harm done."""

    async def main() -> None:
        async with MemoryCluster(silent_after=0.1) as cluster:
            there = await cluster.start(server, "nobody")  # in vain, so that time passes there
            bob = await cluster.start("bob", server)
            await wait_for_event(bob, "up", server)
            cluster.network.cut("bob", server)  # before the first packet of the session
            await asyncio.sleep(0.5)
            assert ("up", "bob") not in await events_of(there)
            cluster.network.heal("bob", server)
            await bob.send(server, b"here I am")
            assert await take(there) == [b"here I am"]

    run(main())


@pytest.mark.parametrize("years", [-30, 30])
def test_clocks_may_jump(years: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The time of day plays no part: nothing happens when it jumps in the middle of traffic."""
    real, real_ns, jump = time.time, time.time_ns, years * 365 * 86_400

    async def main() -> None:
        async with MemoryCluster(trace=tmp_path, silent_after=0.5, drop_after=1.0) as cluster:
            alice, bob = await cluster.mesh("alice", "bob")
            for number in range(40):
                if number == 20:
                    monkeypatch.setattr(time, "time", lambda: real() + jump)
                    monkeypatch.setattr(time, "time_ns", lambda: real_ns() + jump * 10**9)
                await alice.send("bob", b"%d" % number)
                await bob.send("alice", b"%d" % number)
            expected = [b"%d" % number for number in range(40)]
            assert await take(alice, 40) == await take(bob, 40) == expected
            assert await events_of(alice) == [("up", "bob")] and await events_of(bob) == [
                ("up", "alice")
            ]

    run(main())
    assert list(tmp_path.iterdir())
