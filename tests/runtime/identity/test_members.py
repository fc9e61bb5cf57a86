"""Who is who: restarts, two nodes with one name, strangers, and those who were dropped but live."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from beforehand.errors import LocalProtocolError, PeerDroppedError, WouldBlock
from beforehand.runtime.identity import introductions
from beforehand.runtime.link.datagrams import DATA, WELCOME
from tests.runtime.nodes import KEY, OTHER_KEY, Town, happened, inject, nothing, run, so_far, take

MS = 1_000_000


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Patience for a network in memory."""
    monkeypatch.setattr(introductions, "LIFE_SIGN", 100 * MS)
    monkeypatch.setattr(introductions, "CROSSING", 150 * MS)
    monkeypatch.setattr(introductions, "FIRST_RETRY", 20 * MS)
    monkeypatch.setattr(introductions, "SLOWEST_RETRY", 60 * MS)
    monkeypatch.setattr(introductions, "UNANSWERED", 200 * MS)
    monkeypatch.setattr(introductions, "ANSWER_LIFETIME", 300 * MS)


@pytest.mark.parametrize("at", ["bob", "elsewhere"])
def test_a_restarted_process_takes_part_again(at: str) -> None:
    """Under its old address or another; the others learn of it, and nobody waits for the old life."""

    async def main() -> None:
        async with Town(key=KEY) as town:
            alice, bob, carol = await town.mesh("alice", "bob", "carol")
            await bob.send(["alice", "carol"], b"first life")
            assert await take(alice) == await take(carol) == [b"first life"]
            await town.crash(bob)
            await alice.send("bob", b"into the void")
            bob = await town.start("bob", "alice", "carol", at=at)
            for node in (alice, carol):
                await happened(node, "restarted", "bob")
            await bob.send(["alice", "carol"], b"second life")
            assert await take(alice) == await take(carol) == [b"second life"]
            await alice.send("bob", b"welcome back")
            assert await take(bob) == [b"welcome back"] and await nothing(bob, 0.02)
            await alice.flush()
            assert alice.held() == [] and carol.held() == []

    run(main())


def test_nothing_of_the_old_life_is_delivered_after_the_restart() -> None:
    """Datagrams that were held up somewhere come too late, genuine though they are."""

    async def main() -> None:
        async with Town(key=KEY) as town:
            alice, bob = await town.mesh("alice", "bob")
            town.network.cut("bob", "alice")
            await bob.send("alice", b"held up somewhere")
            await asyncio.sleep(0.02)
            late = [
                each
                for sender, to, each in town.network.carried
                if (sender, to) == ("bob", "alice")
            ]
            await town.crash(bob)
            bob = await town.start("bob", "alice")
            await happened(alice, "restarted", "bob")
            inject(alice, late, "bob", town.network)
            await bob.send("alice", b"second life")
            assert [each[0] for each in late].count(DATA) > 1
            assert await take(alice) == [b"second life"] and await nothing(alice)

    run(main())


def test_a_restarted_server_is_found_by_those_who_know_its_address() -> None:
    """The restarted one was told of nobody, and the policy is to wait: the others keep looking."""

    async def main() -> None:
        async with Town(silent_after=0.1) as town:
            server = await town.start("server")
            client = await town.start("client", "server")
            await client.send("server", b"request")
            assert await take(server) == [b"request"]
            await town.crash(server)
            await happened(client, "silent", "server")
            server = await town.start("server")
            await happened(client, "restarted", "server")
            await client.send("server", b"again")
            assert await take(server) == [b"again"]

    run(main())


def test_the_second_of_two_living_nodes_with_one_name_is_refused() -> None:
    """Both sides are told; the first goes on as if nothing had happened."""

    async def main() -> None:
        async with Town(key=KEY) as town:
            alice, bob = await town.mesh("alice", "bob")
            second = await town.start("bob", "alice", at="second")
            conflict = await happened(alice, "conflict", "bob")
            assert "second" in conflict.detail
            refused = await happened(second, "refused", "alice")
            assert "in use by a living node; choose another" in refused.detail
            with pytest.raises(WouldBlock):
                second.try_send("alice", b"impostor")
            await asyncio.sleep(0.2)
            await bob.send("alice", b"still here")
            await alice.send("bob", b"so am I")
            assert (await take(alice), await take(bob)) == ([b"still here"], [b"so am I"])
            assert not {"dropped", "restarted"} & {kind for kind, _ in await so_far(alice)}

    run(main())


def test_after_a_conflict_the_name_is_free_when_its_owner_has_died() -> None:
    """Whoever was refused once is not refused for ever."""

    async def main() -> None:
        async with Town() as town:
            alice, bob = await town.mesh("alice", "bob")
            second = await town.start("bob", "alice", at="second")
            await happened(alice, "conflict", "bob")
            await town.crash(bob)
            await happened(alice, "restarted", "bob")
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
def test_those_with_another_key_do_not_meet(
    own: bytes | None, other: bytes | None, words: str
) -> None:
    """Both are told in words, nothing gets through, and nobody comes up."""

    async def main() -> None:
        async with Town() as town:
            alice = await town.start("alice", key=own)
            stranger = await town.start("stranger", "alice", key=other)
            refused = await happened(alice, "refused", "stranger")
            assert words in refused.detail and "all nodes" in refused.detail
            await happened(stranger, "refused", "alice")
            with pytest.raises(WouldBlock):
                stranger.try_send("alice", b"")
            assert {kind for kind, _ in await so_far(alice) + await so_far(stranger)} == {"refused"}
            assert alice.peers() == []

    run(main())


def test_those_with_another_protocol_do_not_meet() -> None:
    """The refusal tells both what the other one runs."""

    async def main() -> None:
        async with Town() as town:
            alice = await town.start("alice", protocol="hybrid")
            bob = await town.start("bob", "alice", protocol="mattern")
            for node, peer in ((alice, "bob"), (bob, "alice")):
                refused = await happened(node, "refused", peer)
                assert "bob runs mattern and alice runs hybrid" in refused.detail

    run(main())


def test_a_peer_under_another_name_is_refused() -> None:
    """An address that leads to somebody else."""

    async def main() -> None:
        async with Town() as town:
            await town.start("carol", at="bob")
            alice = await town.start("alice", "bob")
            refused = await happened(alice, "refused", "bob")
            assert "this is carol, not bob; check the address" in refused.detail

    run(main())


def test_protocols_of_fixed_membership_take_nobody_back() -> None:
    """A restarted process is refused there, with a sentence for both."""

    async def main() -> None:
        async with Town(protocol="vector", silent_after=0.1) as town:
            alice, bob = await town.mesh("alice", "bob")
            await bob.send(None, b"first life")
            assert await take(alice) == [b"first life"]
            await town.crash(bob)
            bob = await town.start("bob", "alice")
            for node, peer in ((alice, "bob"), (bob, "alice")):
                refused = await happened(node, "refused", peer)
                assert "bob cannot come back; restart all" in refused.detail
            assert "restarted" not in {kind for kind, _ in await so_far(alice)}

    run(main())


def test_a_dropped_but_living_peer_is_told_and_comes_back_by_a_restart() -> None:
    """It is expelled, its sends say so, and its next life is as good as any."""

    async def main() -> None:
        async with Town() as town:
            alice, bob = await town.mesh("alice", "bob")
            alice.drop("bob")
            await happened(bob, "expelled", "alice")
            with pytest.raises(PeerDroppedError, match="alice"):
                await bob.send("alice", b"unheard")
            with pytest.raises(PeerDroppedError, match="bob was dropped"):
                await alice.send("bob", b"unsent")
            await asyncio.sleep(0.2)
            assert "restarted" not in {kind for kind, _ in await so_far(alice) + await so_far(bob)}
            await town.crash(bob)
            bob = await town.start("bob", "alice")
            await bob.send("alice", b"again")
            assert await take(alice) == [b"again"]
            await alice.send("bob", b"at last")
            assert await take(bob) == [b"at last"]

    run(main())


def test_a_dropped_but_living_peer_is_not_pestered() -> None:
    """We keep looking for its next life, a few times a second, and not as fast as it answers."""

    async def main() -> None:
        async with Town() as town:
            bob = await town.start("bob")
            alice = await town.start("alice", "bob")
            await happened(alice, "up", "bob")
            alice.drop("bob")
            await happened(bob, "expelled", "alice")
            before = len(town.network.carried)
            await asyncio.sleep(0.3)
            assert 2 < len(town.network.carried) - before < 60

    run(main())


def test_a_dropped_server_is_found_again_after_its_restart() -> None:
    """Also when its first life was still there to answer, and its second was told of nobody."""

    async def main() -> None:
        async with Town() as town:
            bob = await town.start("bob")
            alice = await town.start("alice", "bob")
            await happened(alice, "up", "bob")
            alice.drop("bob")
            await happened(bob, "expelled", "alice")
            await asyncio.sleep(0.3)
            await town.crash(bob)
            bob = await town.start("bob")
            await happened(bob, "up", "alice")
            await alice.send("bob", b"hello again")
            assert await take(bob) == [b"hello again"]

    run(main())


def test_a_drop_reaches_the_third() -> None:
    """Carol never heard bad of bob, until alice, who dropped him, says something."""

    async def main() -> None:
        async with Town() as town:
            alice, bob, carol = await town.mesh("alice", "bob", "carol")
            town.network.cut("alice", "bob")
            alice.drop("bob")
            await bob.send("carol", b"alive")
            assert await take(carol) == [b"alive"]
            assert ("dropped", "bob") not in await so_far(carol)
            await alice.send("carol", b"by the way")
            assert await take(carol) == [b"by the way"]
            await happened(carol, "dropped", "bob")
            await happened(bob, "expelled", "carol")
            assert await nothing(carol, 0.02)

    run(main())


def test_a_drop_that_is_heard_of_in_the_middle_of_a_handshake() -> None:
    """Bob has welcomed carol when alice tells him that she is dropped: she does not come up."""

    async def main() -> None:
        async with Town() as town:
            alice, carol = await town.mesh("alice", "carol")
            bob = await town.start("bob", "alice")
            await happened(alice, "up", "bob")
            for way in (("alice", "carol"), ("carol", "alice")):
                town.network.cut(*way)
            alice.drop("carol")
            carol.add_peer("bob", "bob")
            while WELCOME not in {
                d[0] for s, to, d in town.network.carried if (s, to) == ("bob", "carol")
            }:
                await asyncio.sleep(0)
            town.network.cut("carol", "bob")  # before she uses it
            await alice.send("bob", b"by the way")
            assert await take(bob) == [b"by the way"]
            town.network.heal("carol", "bob")
            await happened(carol, "expelled", "bob")
            assert ("up", "carol") not in await so_far(bob)
            with pytest.raises(LocalProtocolError):
                bob.try_send("carol", b"")
            await bob.send("alice", b"all is well")
            assert await take(alice) == [b"all is well"]

    run(main())


@pytest.mark.parametrize("seed", range(6))
def test_both_say_hello_at_once(seed: int) -> None:
    """Whatever the order in which datagrams arrive, there is one session, and it works."""

    async def main() -> None:
        async with Town(seed=seed, key=KEY) as town:
            alice, bob = await town.mesh("alice", "bob")
            await alice.send("bob", b"one")
            await bob.send("alice", b"two")
            assert await take(bob) + await take(alice) == [b"one", b"two"]
            await asyncio.sleep(0.1)
            assert await so_far(alice) == [("up", "bob")] and await so_far(bob) == [("up", "alice")]

    run(main())


@pytest.mark.parametrize("seed", range(2))
def test_both_say_hello_for_long_and_then_are_heard_at_once(seed: int) -> None:
    """Nobody takes the other's second session for a second life."""

    async def main() -> None:
        async with Town(seed=seed) as town:
            alice, bob = await town.start("alice", "bob"), await town.start("bob", "alice")
            town.isolate(bob)
            await asyncio.sleep(0.3)
            town.reconnect(bob)
            await alice.send("bob", b"one")
            await bob.send("alice", b"two")
            assert await take(bob) + await take(alice) == [b"one", b"two"]
            await asyncio.sleep(0.1)
            assert await so_far(alice) == [("up", "bob")] and await so_far(bob) == [("up", "alice")]

    run(main())


@pytest.mark.parametrize("server", ["alice", "zoe"])
def test_a_session_that_only_one_side_knows_is_made_again(server: str) -> None:
    """The welcome arrived, and nothing after it, until the other side has forgotten: no harm done."""

    async def main() -> None:
        async with Town(silent_after=0.1) as town:
            there = await town.start(server, "nobody")  # in vain, so that time passes there
            bob = await town.start("bob", server)
            await happened(bob, "up", server)
            town.network.cut("bob", server)  # before the first packet of the session
            await asyncio.sleep(0.5)
            assert ("up", "bob") not in await so_far(there)
            town.network.heal("bob", server)
            await bob.send(server, b"here I am")
            assert await take(there) == [b"here I am"]

    run(main())


@pytest.mark.parametrize("years", [-30, 30])
def test_clocks_may_jump(years: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The time of day plays no part: nothing happens when it jumps in the middle of traffic."""
    real, real_ns, jump = time.time, time.time_ns, years * 365 * 86_400

    async def main() -> None:
        async with Town(trace=tmp_path, silent_after=0.5, drop_after=1.0) as town:
            alice, bob = await town.mesh("alice", "bob")
            for number in range(40):
                if number == 20:
                    monkeypatch.setattr(time, "time", lambda: real() + jump)
                    monkeypatch.setattr(time, "time_ns", lambda: real_ns() + jump * 10**9)
                await alice.send("bob", b"%d" % number)
                await bob.send("alice", b"%d" % number)
            expected = [b"%d" % number for number in range(40)]
            assert await take(alice, 40) == await take(bob, 40) == expected
            assert await so_far(alice) == [("up", "bob")] and await so_far(bob) == [("up", "alice")]

    run(main())
    assert list(tmp_path.iterdir())
