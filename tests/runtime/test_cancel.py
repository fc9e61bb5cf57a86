"""Cancelling at every await of a node: no message is lost, none is doubled, none gets out of order."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Coroutine
from typing import Any

import pytest

from beforehand import Message, MessageId, Node
from beforehand.errors import NodeClosedError
from beforehand.runtime.transports import MemoryNetwork
from beforehand.runtime.waiters import WaitQueue

CALLS = 200  # of each sender
SENDERS = 2  # tasks that send, in each of two nodes
WINDOW = 6
LARGEST_BATCH = 12  # more than a window: it is accepted in pieces
TURNS = (0, 0, 1, 1, 2, 3, 5, 8, 13)  # of the loop, until a call is cancelled
KINDS = {"send", "send_many", "receive", "receive_batch", "async for", "delivered", "flush"}


class Side:
    """A node with its tasks, and what became of all its calls."""

    def __init__(self, node: Node, peer: str, rng: random.Random, hits: Counter[str]) -> None:
        self.node = node
        self.peer = peer
        self.rng = rng
        self.hits = hits  # calls that were cancelled while they waited, by kind
        self.got: list[Message] = []
        self.accepted: list[tuple[int, list[bytes]]] = []  # with the number of the last
        self.cancelled: list[list[bytes]] = []  # payloads of single sends
        self.batches: list[list[bytes]] = []  # of cancelled `send_many`: a part may have gone

    async def attempt(self, kind: str, call: Coroutine[Any, Any, object]) -> list[object]:
        """Make a call, and perhaps cancel it some turns later; returns its result, if there is one."""
        task = asyncio.create_task(call)
        try:
            turns = self.rng.choice(TURNS)
            for _ in range(turns):
                await asyncio.sleep(0)
            if self.rng.random() < 0.6:
                task.cancel()
            await asyncio.wait([task])
        finally:
            task.cancel()
        if task.cancelled():
            self.hits[kind] += turns > 0  # otherwise it had not even begun
            return []
        return [task.result()]

    async def speak(self, speaker: int) -> None:
        """Send single messages and batches; each payload is unique and in order for each speaker."""
        count = 0
        for _ in range(CALLS):
            size = self.rng.choice((1, 1, 1, 3, LARGEST_BATCH))
            batch = [b"%d %d" % (speaker, count + at) for at in range(size)]
            count += size
            if size == 1:
                numbers = await self.attempt("send", self.node.send(self.peer, batch[0]))
            else:
                numbers = await self.attempt("send_many", self.node.send_many(self.peer, batch))
            for number in numbers:
                assert isinstance(number, int)
                self.accepted.append((number, batch))
            if not numbers:
                (self.cancelled if size == 1 else self.batches).append(batch)

    async def listen(self, kind: str) -> None:
        """Take messages in one of the three ways, forever."""
        while True:
            if kind == "receive":
                await self.attempt(kind, self.receive())
            elif kind == "receive_batch":
                await self.attempt(kind, self._receive_batch())
            else:
                await self.attempt(kind, self._iterate())

    async def receive(self) -> None:
        self.got.append(await self.node.receive())

    async def _receive_batch(self) -> None:
        self.got.extend(await self.node.receive_batch(self.rng.choice((None, 1, 5))))

    async def _iterate(self) -> None:
        async for message in self.node:
            self.got.append(message)
            if self.rng.random() < 0.1:
                break

    async def inquire(self, other: Side) -> None:
        """Wait for deliveries forever; each must have happened when the call returns."""
        while True:
            sent = self.node.sent
            if sent and self.rng.random() < 0.5:
                call = self.node.delivered(MessageId(self.node.name, sent))
                done = await self.attempt("delivered", call)
            else:
                done = await self.attempt("flush", self.node.flush())
            assert not done or other.node.stats().messages_delivered >= sent
            await asyncio.sleep(0)

    def check(self, other: Side) -> None:
        """The other side has received everything that was accepted here, once and in order."""
        payloads = [message.payload for message in other.got]
        assert [message.number for message in other.got] == list(range(1, self.node.sent + 1))
        times = Counter(payloads)
        assert max(times.values()) == 1
        for number, batch in self.accepted:
            assert payloads[number - 1] == batch[-1]
            assert times.keys() >= set(batch)
        assert not any(payload in times for (payload,) in self.cancelled)
        for batch in self.batches:
            arrived = [payload in times for payload in batch]
            assert arrived == sorted(arrived, reverse=True), "a batch goes from its beginning"
        for speaker in range(SENDERS):
            numbers = [
                int(text[1]) for text in map(bytes.split, payloads) if int(text[0]) == speaker
            ]
            assert numbers == sorted(numbers)


async def talk(seed: int) -> Counter[str]:
    """Traffic both ways with a small window, while calls of all kinds are cancelled."""
    network = MemoryNetwork(seed)
    hits: Counter[str] = Counter()
    async with (
        Node("ada", transport=network.transport("ada"), peers=["ben"], window=WINDOW) as ada,
        Node("ben", transport=network.transport("ben"), peers={"ada": "ada"}, window=WINDOW) as ben,
    ):
        sides = [
            Side(node, peer, random.Random(f"{seed} {node.name}"), hits)
            for node, peer in ((ada, "ben"), (ben, "ada"))
        ]
        endless = [
            asyncio.create_task(side.listen(kind))
            for side in sides
            for kind in ("receive", "receive_batch", "async for")
        ]
        endless += [
            asyncio.create_task(side.inquire(other))
            for side, other in (tuple(sides), tuple(reversed(sides)))
        ]
        await asyncio.gather(*(side.speak(speaker) for side in sides for speaker in range(SENDERS)))
        while not (len(sides[0].got) >= ben.sent and len(sides[1].got) >= ada.sent):
            await asyncio.sleep(0.001)
            assert not any(task.done() for task in endless), [
                task for task in endless if task.done()
            ]
        for task in endless:
            task.cancel()
        ended = await asyncio.gather(*endless, return_exceptions=True)
        assert all(isinstance(end, asyncio.CancelledError) for end in ended), ended
        await asyncio.sleep(0.01)  # what was doubled would come now
        assert ada.stats().unread == ben.stats().unread == 0
    sides[0].check(sides[1])
    sides[1].check(sides[0])
    assert sum(len(batch) for side in sides for batch in side.batches) > 0
    return hits


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_cancelling_neither_loses_nor_doubles(seed: int) -> None:
    """Hundreds of cancelled calls of every kind, and every accepted message arrives once, in order."""
    hits = asyncio.run(asyncio.wait_for(talk(seed), 30))
    assert hits.keys() == KINDS and min(hits.values()) >= 5, hits


def test_a_sender_that_waits_is_cancelled_and_the_next_one_goes() -> None:
    """A cancelled task gives up its position in the queue."""

    async def main() -> None:
        network = MemoryNetwork()
        async with (
            Node("ada", transport=network.transport("ada"), peers=["ben"]) as ada,
            Node("ben", transport=network.transport("ben"), peers={"ada": "ada"}, window=1) as ben,
        ):
            await ada.send("ben", b"first")
            sends = [asyncio.create_task(ada.send("ben", b"%d" % at)) for at in range(3)]
            await asyncio.sleep(0.01)
            sends[0].cancel()
            sends[1].cancel()
            assert (await ben.receive()).payload == b"first"
            assert await sends[2] == 2
            assert (await ben.receive()).payload == b"2"
            assert ada.sent == 2

    asyncio.run(asyncio.wait_for(main(), 20))


def test_a_task_that_is_woken_and_cancelled_passes_its_turn_on() -> None:
    """Otherwise the others in line would sleep although there is room, or a message."""

    async def main() -> None:
        line = WaitQueue()
        first, second = (asyncio.create_task(line.wait()) for _ in range(2))
        await asyncio.sleep(0)
        line.wake()
        first.cancel()
        await second
        assert first.cancelled() and not line

    asyncio.run(asyncio.wait_for(main(), 20))


@pytest.mark.parametrize("method", ["receive", "receive_batch", "async for"])
def test_readers_that_share_a_node_all_get_something(method: str) -> None:
    """Messages that arrive together wake as many readers, even while another reader is busy."""

    async def main() -> None:
        network = MemoryNetwork()
        async with (
            Node("ada", transport=network.transport("ada"), peers=["ben"]) as ada,
            Node("ben", transport=network.transport("ben"), peers={"ada": "ada"}) as ben,
        ):
            side = Side(ben, "ada", random.Random(1), Counter())
            busy = asyncio.create_task(_receive_and_block(ben, method))
            await asyncio.sleep(0)
            waiting = [asyncio.create_task(side.receive()) for _ in range(3)]
            await ada.send_many("ben", [b"%d" % number for number in range(4)])
            await asyncio.gather(*waiting)
            assert [message.payload for message in side.got] == [b"1", b"2", b"3"]
            busy.cancel()

    asyncio.run(asyncio.wait_for(main(), 20))


async def _receive_and_block(node: Node, method: str) -> None:
    """Take a message and be busy with it forever."""
    if method == "receive":
        await node.receive()
    elif method == "receive_batch":
        await node.receive_batch(1)
    else:
        async for _ in node:
            await asyncio.sleep(1_000)
    await asyncio.sleep(1_000)


def test_a_deadline_around_receive_loses_nothing() -> None:
    """`asyncio.timeout` and `wait_for` again and again, while messages come at their own pace."""

    async def main() -> None:
        rng = random.Random(3)
        network = MemoryNetwork(3)
        async with (
            Node("ada", transport=network.transport("ada"), peers=["ben"]) as ada,
            Node("ben", transport=network.transport("ben"), peers={"ada": "ada"}) as ben,
        ):

            async def speak() -> None:
                for number in range(100):
                    await ada.send("ben", b"%d" % number)
                    await asyncio.sleep(0.001 * rng.random())

            speaking = asyncio.create_task(speak())
            payloads: list[bytes] = []
            late = 0
            while len(payloads) < 100:
                try:
                    if rng.random() < 0.5:
                        async with asyncio.timeout(0.0005 * rng.random()):
                            payloads.append((await ben.receive()).payload)
                    else:
                        message = await asyncio.wait_for(ben.receive(), 0.0005 * rng.random())
                        payloads.append(message.payload)
                except TimeoutError:
                    late += 1
            await speaking
            assert payloads == [b"%d" % number for number in range(100)]
            assert late > 10

    asyncio.run(asyncio.wait_for(main(), 20))


def test_closing_ends_what_waits() -> None:
    """Calls that wait when a node is closed raise; `async for` ends."""

    async def main() -> None:
        ada = await Node("ada", peers=["ben"]).start()
        calls = [ada.send("ben", b""), ada.send_many("ben", [b""]), ada.receive()]
        waiting = [asyncio.ensure_future(call) for call in (*calls, ada.receive_batch())]
        iterating = asyncio.create_task(_count(ada))
        await asyncio.sleep(0.01)
        await ada.close()
        ended = await asyncio.gather(*waiting, return_exceptions=True)
        assert all(isinstance(end, NodeClosedError) for end in ended), ended
        assert await iterating == 0

    asyncio.run(asyncio.wait_for(main(), 20))


async def _count(node: Node) -> int:
    return len([message async for message in node])
