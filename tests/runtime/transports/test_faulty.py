"""The fault injector: it does what its rates say, counts it, and nothing else."""

import asyncio
from collections import Counter

import pytest

from beforehand.errors import LocalProtocolError
from beforehand.runtime.transports import Faulty, MemoryNetwork, UdpTransport, faulty
from beforehand.runtime.transports.faulty import MAX_OVERTAKING
from tests.runtime.transports.inbox import Inbox

COUNT = 4_000


def numbered(count: int = COUNT) -> list[bytes]:
    """Distinct datagrams that sort by number."""
    return [number.to_bytes(4, "big") for number in range(count)]


def run(seed: int = 7, **rates: float) -> tuple[list[bytes], Faulty]:
    """What arrives of many datagrams that are sent together, and the injector."""

    async def scenario() -> tuple[list[bytes], Faulty]:
        network, inbox = MemoryNetwork(), Inbox()
        alice = network.transport("alice")
        bob = Faulty(network.transport("bob"), seed=seed, **rates)
        await alice.open(Inbox())
        await bob.open(inbox)
        alice.send("bob", numbered())  # at once, so that the clock has no say but for the last ones
        await asyncio.sleep(0.001)
        await inbox.wait(COUNT - bob.lost + bob.doubled)
        bob.close()
        return inbox.datagrams, bob

    return asyncio.run(scenario())


def test_without_rates_nothing_happens() -> None:
    """All arrive, in order."""
    arrived, bad = run(loss=0, duplicate=0, reorder=0)
    assert arrived == numbered()
    assert (bad.lost, bad.doubled, bad.held_back) == (0, 0, 0)


def test_losses_and_copies_are_as_many_as_counted() -> None:
    """About as many as the rates predict, and exactly as many as the counters report."""
    arrived, bad = run(loss=0.1, duplicate=0.2, reorder=0.3)
    counts = Counter(arrived)
    assert set(counts) <= set(numbered())
    assert COUNT - len(counts) == bad.lost
    assert sum(counts.values()) - len(counts) == bad.doubled
    assert bad.lost == pytest.approx(0.1 * COUNT, rel=0.3)
    assert bad.doubled == pytest.approx(0.2 * 0.9 * COUNT, rel=0.3)
    assert bad.held_back == pytest.approx(0.3 * 0.9 * 1.2 * COUNT, rel=0.3)


def test_delayed_datagrams_are_overtaken_by_a_few() -> None:
    """Each arrives once; most of those held back come after later ones, but not after many."""
    arrived, bad = run(loss=0, duplicate=0, reorder=0.3)
    assert sorted(arrived) == numbered()
    overtaken = 0
    greatest = -1
    for position, datagram in enumerate(arrived):
        number = int.from_bytes(datagram, "big")
        overtaken += number < greatest
        greatest = max(greatest, number)
        # Besides those that may pass it, others that are held back may come out before it.
        assert position - number <= 4 * MAX_OVERTAKING
    assert 0.8 * bad.held_back < overtaken <= bad.held_back


def test_the_same_seed_does_the_same() -> None:
    """Another one differs."""
    assert run(1)[0] == run(1)[0] != run(2)[0]


def test_the_last_datagrams_arrive_though_nothing_follows() -> None:
    """On a real socket too, after a few milliseconds; and nothing is remembered of the address."""

    async def scenario() -> None:
        inbox, alice = Inbox(), UdpTransport()
        bob = Faulty(UdpTransport(), loss=0, duplicate=0, reorder=1, seed=3)
        await alice.open(Inbox())
        await bob.open(inbox)
        alice.send(await alice.resolve(bob.local), numbered(5))
        assert await inbox.wait(5) == numbered(5)
        assert bob.held_back == 5 and bob.delayed == 0
        assert bob.loopback() and not bob.busy() and bob.datagram == alice.datagram
        address = await bob.resolve(alice.local)
        assert bob.describe(address) == alice.local
        assert bob.address_bytes(address) == alice.address_bytes(address)
        bob.send(address, [b"sent as it is"])
        bob.close()
        await bob.wait_closed()
        alice.close()

    asyncio.run(scenario())


def test_nothing_arrives_after_close(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is held back is lost with the transport."""
    monkeypatch.setattr(faulty, "DELAY_SECONDS", 0.02)

    async def scenario() -> None:
        network, inbox = MemoryNetwork(), Inbox()
        alice = network.transport("alice")
        bob = Faulty(network.transport("bob"), loss=0, duplicate=0, reorder=1, seed=3)
        await alice.open(Inbox())
        await bob.open(inbox)
        alice.send("bob", numbered(3))
        await asyncio.sleep(0.001)
        assert bob.held_back == bob.delayed == 3
        bob.close()
        await asyncio.sleep(0.05)
        assert inbox.batches == []

    asyncio.run(scenario())


@pytest.mark.parametrize("rates", [{"loss": -0.1}, {"duplicate": 1.5}, {"reorder": float("nan")}])
def test_rates_are_from_0_to_1(rates: dict[str, float]) -> None:
    """Anything else is misuse, and named."""
    with pytest.raises(LocalProtocolError, match=f"{next(iter(rates))} is .*from 0 to 1"):
        Faulty(MemoryNetwork().transport("bob"), seed=1, **rates)
