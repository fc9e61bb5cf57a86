"""Bounded memory, end to end: one window bounds what is between two applications, wherever it is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from beforehand import Node
from beforehand.errors import LocalProtocolError, WouldBlock
from beforehand.runtime.transports import MemoryNetwork

KIB = 2**10
LARGEST = 16 * 2**20  # bytes of a payload
WINDOW = 10


@asynccontextmanager
async def group(
    *names: str, window: int = WINDOW, window_bytes: int = 2**20
) -> AsyncIterator[tuple[MemoryNetwork, list[Node]]]:
    """Nodes that know each other, in a network in memory."""
    network = MemoryNetwork()
    nodes = [
        Node(
            name,
            transport=network.transport(name),
            peers={other: other for other in names if other != name},
            window=window,
            window_bytes=window_bytes,
        )
        for name in names
    ]
    try:
        for node in nodes:
            await node.start()
        await asyncio.gather(*(until_up(node, len(names) - 1) for node in nodes))
        yield network, nodes
    finally:
        await asyncio.gather(*(node.close(0) for node in nodes))


async def until_up(node: Node, peers: int) -> None:
    """Wait for all sessions."""
    up = set()
    async for event in node.events():
        if event.kind == "up":
            up.add(event.peer)
        if len(up) == peers:
            return


async def settle(turns: int = 200) -> None:
    """Let everything happen that can happen: in memory it takes turns of the loop, not time."""
    for _ in range(turns):
        await asyncio.sleep(0)


def fill(node: Node, to: str | list[str], payload: bytes = b"x") -> int:
    """Send until there is no room; returns how many were accepted."""
    count = 0
    try:
        while count < 100_000:
            node.try_send(to, payload)
            count += 1
    except WouldBlock:
        return count
    raise AssertionError("nothing bounds it")


def test_a_slow_consumer_slows_its_sender() -> None:
    """Accepted less consumed never exceeds the window, in all of a run in which it is often full."""

    async def main() -> None:
        async with group("ada", "ben") as (_, (ada, ben)):
            taken = full = 0

            async def consume() -> None:
                nonlocal taken
                for number in range(1, 101):
                    assert (await ben.receive()).number == number
                    taken = number
                    await asyncio.sleep(0.001)

            consuming = asyncio.create_task(consume())
            for number in range(1, 101):
                assert await ada.send("ben", b"x") == number
                assert number - taken <= WINDOW
                full += number - taken == WINDOW
            await consuming
            assert full > 20

    asyncio.run(asyncio.wait_for(main(), 20))


def test_consumed_messages_make_room_again() -> None:
    """`try_send` raises at the limit and names the peer that is behind, until a quarter is taken."""

    async def main() -> None:
        async with group("ada", "ben") as (_, (ada, ben)):
            accepted = fill(ada, "ben")
            assert accepted == WINDOW
            for taken in (3, 4, 7, WINDOW, 3):
                with pytest.raises(WouldBlock, match="ben has 10 messages of 10 bytes to take"):
                    ada.try_send("ben", b"x")
                await settle()
                assert ben.stats().unread == WINDOW
                assert len(await ben.receive_batch(taken)) == taken
                await settle()
                assert fill(ada, "ben") == taken

    asyncio.run(asyncio.wait_for(main(), 20))


def test_waiting_senders_go_one_after_the_other() -> None:
    """Ten tasks wait for room; all of them get it, in the order in which they came."""

    async def main() -> None:
        async with group("ada", "ben", window=1) as (_, (ada, ben)):
            await ada.send("ben", b"first")
            sends = [asyncio.create_task(ada.send("ben", b"%d" % at)) for at in range(10)]
            await settle()
            assert not any(send.done() for send in sends)
            payloads = [(await ben.receive()).payload for _ in range(11)]
            assert payloads == [b"first", *(b"%d" % at for at in range(10))]

    asyncio.run(asyncio.wait_for(main(), 20))


def test_a_silent_peer_does_not_slow_the_others() -> None:
    """Nothing reaches carl; its window fills, and traffic between ada and ben goes on as before."""

    async def main() -> None:
        async with group("ada", "ben", "carl") as (network, (ada, ben, _)):
            network.cut("ada", "carl")
            network.cut("ben", "carl")
            assert fill(ada, "carl") == WINDOW
            waiting = asyncio.create_task(ada.send("carl", b"one too many"))
            for number in range(300):
                await ada.send("ben", b"%d" % number)
                assert (await ben.receive()).payload == b"%d" % number
                await ben.send("ada", b"back")
                assert (await ada.receive()).payload == b"back"
            assert not waiting.done()
            assert ada.stats().peers["carl"].accepted == WINDOW
            waiting.cancel()

    asyncio.run(asyncio.wait_for(main(), 20))


def test_a_multicast_that_waits_for_one_does_not_block_the_other() -> None:
    """It waited for ben and now waits for carl; the next task that waits for ben proceeds."""

    async def main() -> None:
        async with group("ada", "ben", "carl", window=1) as (_, (ada, ben, carl)):
            await ada.send("ben", b"1")
            await ada.send("carl", b"1")
            both = asyncio.create_task(ada.send(["ben", "carl"], b"both"))
            await settle()
            alone = asyncio.create_task(ada.send("ben", b"alone"))
            await settle()
            assert (await ben.receive()).payload == b"1"
            await alone
            assert (await ben.receive()).payload == b"alone"
            assert not both.done()
            assert (await carl.receive()).payload == b"1"
            await both
            assert (await ben.receive()).payload == (await carl.receive()).payload == b"both"

    asyncio.run(asyncio.wait_for(main(), 20))


def test_held_messages_count_towards_the_window() -> None:
    """A held message is not released yet, but counts towards the window."""

    async def main() -> None:
        async with group("ada", "ben", "carl") as (network, (ada, ben, _)):
            network.cut("ada", "carl")
            await ada.send("carl", b"lost on the way")
            await ada.send("ben", b"sent after it")
            await ben.receive()
            assert fill(ben, "carl") == WINDOW  # after a message that carl's must not overtake
            await settle()
            assert len(ben.held()) == WINDOW
            assert str(ben.held()[0]).startswith("ben#1 to carl has waited ")
            assert ben.stats().peers["carl"].delivered == 0
            with pytest.raises(WouldBlock, match="carl has 10 messages"):
                ben.try_send("carl", b"x")

    asyncio.run(asyncio.wait_for(main(), 20))


def test_messages_to_oneself_count() -> None:
    """A node that sends to itself has to receive, too."""

    async def main() -> None:
        async with group("ada", "ben") as (_, (ada, ben)):
            assert fill(ada, "ada") == WINDOW
            with pytest.raises(WouldBlock, match="ada has 10 messages"):
                ada.try_send(["ada", "ben"], b"x")
            waiting = asyncio.create_task(ada.send(["ada", "ben"], b"both"))
            await settle()
            assert not waiting.done()
            assert len(await ada.receive_batch()) == WINDOW
            await waiting
            assert (await ada.receive()).payload == (await ben.receive()).payload == b"both"

    asyncio.run(asyncio.wait_for(main(), 20))


def test_bytes_count_as_well_as_messages() -> None:
    """Large payloads fill a window of bytes long before that of messages."""

    async def main() -> None:
        async with group("ada", "ben", window=1_000, window_bytes=100 * KIB) as (_, (ada, ben)):
            assert fill(ada, "ben", bytes(30 * KIB)) == 3
            ada.try_send("ben", bytes(10 * KIB))  # just fits
            with pytest.raises(WouldBlock, match="ben has 4 messages of 102400 bytes to take"):
                ada.try_send("ben", b"x")
            ada.try_send("ben", b"")  # takes no bytes
            assert len((await ben.receive()).payload) == 30 * KIB
            await ada.send("ben", bytes(30 * KIB))

    asyncio.run(asyncio.wait_for(main(), 20))


def test_a_payload_larger_than_the_window_goes_alone() -> None:
    """16 MiB in a window of 1 MiB: next to nothing else is under way then, and it arrives whole."""

    async def main() -> None:
        async with group("ada", "ben") as (_, (ada, ben)):
            huge = bytes(range(256)) * (LARGEST // 256)
            await ada.send_many("ben", [b"small"] * 3)
            with pytest.raises(WouldBlock):
                ada.try_send("ben", huge)
            waiting = asyncio.create_task(ada.send("ben", huge))
            assert [(await ben.receive()).payload for _ in range(3)] == [b"small"] * 3
            assert await waiting == 4
            with pytest.raises(WouldBlock, match="of 16777216 bytes to take"):
                ada.try_send("ben", b"x")
            assert (await ben.receive()).payload == huge
            await ada.send("ben", b"small again")
            assert (await ben.receive()).payload == b"small again"

    asyncio.run(asyncio.wait_for(main(), 20))


def test_a_payload_over_the_limit_is_refused() -> None:
    """At once, with a way out, and nothing of the batch that it is in goes."""

    async def main() -> None:
        async with group("ada", "ben") as (_, (ada, ben)):
            large = bytes(LARGEST + 1)
            for attempt in (
                ada.send("ben", large),
                ada.send_many("ben", [b"before", large]),
                ada.send("ada", large),
            ):
                with pytest.raises(LocalProtocolError, match="16777217 bytes is more.*in parts"):
                    await attempt
            with pytest.raises(LocalProtocolError, match="16777217 bytes is more"):
                ada.try_send("ben", large)
            assert ada.sent == 0
            await ada.send("ben", b"the only one")
            assert (await ben.receive()).id == ("ada", 1)

    asyncio.run(asyncio.wait_for(main(), 20))


def test_a_batch_larger_than_the_window_is_accepted_in_parts() -> None:
    """`send_many` waits where `send` would; the receiver's buffer never holds more than a window."""

    async def main() -> None:
        async with group("ada", "ben") as (_, (ada, ben)):
            payloads = [b"%d" % number for number in range(500)]
            send_task = asyncio.create_task(ada.send_many("ben", payloads))
            received: list[bytes] = []
            most = 0
            while len(received) < len(payloads):
                most = max(most, ben.stats().unread)
                received += [message.payload for message in await ben.receive_batch(3)]
                assert ada.sent - len(received) <= WINDOW
            assert received == payloads and await send_task == 500
            assert 3 < most <= WINDOW

    asyncio.run(asyncio.wait_for(main(), 20))


def test_pending_messages_keep_their_receiver_when_a_peer_is_added() -> None:
    """What was accepted in this turn of the loop goes where it was sent, whoever comes meanwhile."""

    async def main() -> None:
        async with group("ada", "ben", "carl") as (_, (ada, ben, carl)):
            await ada.send("ben", b"for ben")
            ada.add_peer("dora")
            await ada.send("carl", b"for carl")
            assert (await ben.receive()).payload == b"for ben"
            assert (await carl.receive()).payload == b"for carl"

    asyncio.run(asyncio.wait_for(main(), 20))


def test_credit_reaches_beyond_the_links_of_an_overlay() -> None:
    """On a line a - b - c, a slow c slows down a, though all that it gets is passed on by b."""

    async def main() -> None:
        network = MemoryNetwork(7)
        links = {"a": ["b"], "b": ["a", "c"], "c": ["b"]}
        window = 8
        async with AsyncExitStack() as stack:
            nodes = {}
            for name, neighbours in links.items():
                node = Node(
                    name,
                    transport=network.transport(name),
                    peers={other: other for other in links if other != name},
                    protocol="prc",
                    links=neighbours,
                    window=window,
                    insecure=True,
                )
                nodes[name] = await stack.enter_async_context(node)
            a, b, c = nodes["a"], nodes["b"], nodes["c"]
            for number in range(window):
                await a.send(None, b"%d" % number)
                assert (await a.receive()).number == (await b.receive()).number == number + 1
            with pytest.raises(WouldBlock, match="c has 8 messages"):
                a.try_send(None, b"one too many")
            assert 0 < c.stats().unread <= window
            waiting = asyncio.ensure_future(a.send(None, b"at last"))
            for _ in range(window):
                await c.receive()
            assert await waiting == window + 1
            await a.delivered(window + 1)
            assert (await c.receive()).payload == b"at last"

    asyncio.run(asyncio.wait_for(main(), 20))
