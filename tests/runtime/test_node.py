"""`Node` as its users see it: sending, receiving, waiting, closing."""

import asyncio

import pytest

from beforehand import MessageId, Node
from beforehand.errors import LocalProtocolError, NodeClosedError, WouldBlock

KEY = bytes(range(32))


@pytest.mark.parametrize("key", [None, KEY], ids=["plain", "encrypted"])
def test_a_message_and_its_answer(key: bytes | None) -> None:
    """What is sent arrives with its sender, payload and id, and so does the answer."""

    async def main() -> None:
        async with (
            Node("alice", key=key) as alice,
            Node("bob", peers={"alice": alice.address}, key=key) as bob,
        ):
            alice.add_peer("bob")
            sent = await alice.send("bob", b"question")
            question = await bob.receive()
            assert (question.sender, question.payload) == ("alice", b"question")
            assert question.id == MessageId("alice", 1) and question.number == sent == 1
            await bob.send("alice", b"answer")
            answer = await alice.receive()
            assert (answer.sender, answer.payload, answer.id) == ("bob", b"answer", ("bob", 1))
            await alice.delivered(sent)
            await bob.flush()

    asyncio.run(asyncio.wait_for(main(), 20))


def test_send_waits_for_an_absent_peer_and_try_send_does_not() -> None:
    """`try_send` raises `WouldBlock`, and `send` waits until the peer is connected."""

    async def main() -> None:
        async with Node("alice", peers=["bob"]) as alice:
            with pytest.raises(WouldBlock, match="bob is not there yet"):
                alice.try_send("bob", b"")
            with pytest.raises(LocalProtocolError, match="there is no peer 'carol'"):
                alice.try_send("carol", b"")
            waiting = asyncio.ensure_future(alice.send("bob", b"at last"))
            await asyncio.sleep(0)
            async with Node("bob", peers={"alice": alice.address}) as bob:
                assert (await bob.receive()).payload == b"at last"
                assert await waiting == 1
        with pytest.raises(NodeClosedError):
            await alice.send("bob", b"too late")

    asyncio.run(asyncio.wait_for(main(), 20))
