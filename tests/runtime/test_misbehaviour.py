"""A broken peer that has the keys: its frames are refused, and nothing else happens."""

import asyncio
import random
import time

import pytest

from beforehand.encoding.varint import varint
from beforehand.protocols.fence import Fenced
from beforehand.protocols.hybrid.frames import HybridAck, HybridMessage, HybridPermit
from beforehand.runtime.engine.events import PeerDropped, PeerMisbehaved, SessionClosed
from beforehand.runtime.link import frames
from beforehand.runtime.link.frames import ack_frame, credit_frame
from beforehand.wire import encode
from tests.runtime.engine.engines import LIMIT, EngineMesh
from tests.runtime.nodes import MemoryCluster, events_of, run, take, wait_for_event

ALICE, BOB = "alice@" + "0" * 16, "bob@" + "0" * 16


def fragment(number: int, start: int, total: int, data: bytes) -> bytes:
    """A fragment of a frame."""
    head = b"".join(varint(field) for field in (number, start, total, len(data)))
    return bytes([frames.FRAGMENT]) + head + data


WRONG = {
    "an ack of packets never sent": (
        ack_frame([(0, 10**6)], 0),
        "packet 1000000, which was never sent",
    ),
    "an ack of packets before the first": (b"\xc0\0\0\0\x05", "negative packet numbers"),
    "an ack after hours": (b"\xc0" + varint(10**10) + b"\0\0\0", "malformed"),
    "credit for messages never sent": (credit_frame(10**6, 0, 0), "credit for messages"),
    "credit for what was not delivered": (credit_frame(0, 1, 0), "credit for messages"),
    "credit for bytes never sent": (credit_frame(0, 0, 10**9), "credit for messages"),
    "fragments beyond the limit": (fragment(1, 0, LIMIT + 1, b"x"), "more than the"),
    "fragments that disagree": (
        fragment(1, 0, 9, b"x") + fragment(1, 1, 8, b"x"),
        "disagree on the length",
    ),
    "a whole that is no frame": (fragment(1, 0, 3, b"\x03\x03\x03"), "0x03"),
    "an unknown frame of the link": (b"\xc9", "0xc9"),
    "an unknown frame of the core": (b"\x03", "0x03"),
    "a frame that is cut short": (b"\xc4abc", "8 bytes announced, 3 left"),
    "a core's ack of nothing": (encode(HybridAck(7)), "acknowledges message 7"),
    "a message before itself": (b"\x21\x02\x01x", "follows one"),
    "another protocol": (b"\x09\x01", "a frame of hybrid buffering"),
    "the receiver among the dropped": (
        encode(Fenced(0, (ALICE,), 0, HybridPermit(1))),
        "was dropped, yet still sends to it",
    ),
    "itself among the dropped": (
        encode(Fenced(0, (BOB,), 0, HybridPermit(1))),
        "names itself",
    ),
}


def state(mesh: EngineMesh) -> tuple[object, ...]:
    """What matters about alice, and must not change."""
    alice = mesh.engines["alice"]
    bob = alice.sessions.peers["bob"]
    out = bob.outgoing
    credit = (out.accepted, out.delivered, out.consumed, out.consumed_bytes)
    events = [*mesh.events("alice", PeerDropped), *mesh.events("alice", SessionClosed)]
    return (alice.core.fingerprint(), credit, bob.incoming.delivered, bob.gone, events)


@pytest.mark.parametrize("plain", [True, False], ids=["plain", "encrypted"])
@pytest.mark.parametrize("wrong", WRONG)
def test_invalid_frames_change_nothing(wrong: str, plain: bool) -> None:
    """It is counted and reported, and messages flow in both directions."""
    body, problem = WRONG[wrong]
    mesh = EngineMesh("alice", "bob", plain=plain)
    alice = mesh.engines["alice"]
    before = state(mesh)
    mesh.forge("bob", "alice", body)
    assert state(mesh) == before
    (event,) = mesh.events("alice", PeerMisbehaved)
    assert event.peer.name == "bob" and problem in event.problem
    assert alice.counters.misbehaved == 1
    mesh.send("alice", "bob", b"still")
    mesh.send("bob", "alice", b"here")
    mesh.settle()
    assert (mesh.taken("alice"), mesh.taken("bob")) == ([b"here"], [b"still"])


def test_a_message_that_contradicts_earlier_ones() -> None:
    """The predecessor of a message is encoded with it, and cannot change later."""
    mesh = EngineMesh("alice", "bob")
    for at in range(3):
        mesh.send("bob", "alice", b"%d" % at)
    mesh.settle()
    before = state(mesh)
    mesh.forge("bob", "alice", encode(HybridMessage(9, 2, False, (b"x",))))
    (event,) = mesh.events("alice", PeerMisbehaved)
    assert "claims predecessor 2" in event.problem
    assert state(mesh) == before


def test_frames_before_the_wrong_one_count() -> None:
    """A body is processed up to the invalid frame, and acknowledged, so that it is not sent again."""
    mesh = EngineMesh("alice", "bob")
    good = encode(HybridMessage(1, 0, False, (b"good",)))
    unseen = encode(HybridMessage(2, 1, False, (b"unseen",)))
    mesh.forge("bob", "alice", good + b"\xc9" + unseen)
    assert mesh.taken("alice") == [b"good"]
    mesh.turn()
    assert mesh.link("bob", "alice").recovery.in_flight == 0


def test_invalid_frames_are_acknowledged() -> None:
    """Sending them again would not make them valid."""
    mesh = EngineMesh("alice", "bob")
    mesh.forge("bob", "alice", b"\xc9")
    assert mesh.link("bob", "alice").recovery.in_flight > 0
    mesh.turn()
    assert mesh.link("bob", "alice").recovery.in_flight == 0


@pytest.mark.parametrize("seed", range(3))
def test_any_bytes_with_a_seal(seed: int) -> None:
    """Thousands of them: no exception, and after a drop nothing of it is left."""
    rng = random.Random(seed)
    mesh = EngineMesh("alice", "bob", "carol", plain=False)
    alice = mesh.engines["alice"]
    samples = [body for body, _ in WRONG.values()]
    samples += [encode(HybridMessage(n, n - 1, n % 2 == 0, (b"x" * n,))) for n in range(1, 20)]
    samples += [ack_frame([(n, n + 2)], n) for n in range(5)] + [b"\xc4" + b"token678"]
    for _ in range(1_500):
        body = bytearray(rng.choice(samples) + rng.choice(samples))
        for _ in range(rng.randrange(4)):
            body[rng.randrange(len(body))] = rng.randrange(256)
        if bytes([frames.CLOSE]) not in body and b"bob" not in body and b"carol" not in body:
            mesh.forge("bob", "alice", bytes(body[: rng.randrange(1, len(body) + 1)]))
    assert alice.counters.misbehaved > 500, f"seed {seed}"
    mesh.taken("alice")
    alice.drop(alice.sessions.peers["bob"], mesh.now)  # what it made alice wait for will never come
    mesh.send("carol", "alice", b"hello")
    mesh.send("alice", "carol", b"hello")
    mesh.settle()
    assert b"hello" in mesh.taken("alice") and mesh.taken("carol") == [b"hello"]


def test_misbehaviour_is_reported_once() -> None:
    """A node reports the peer and the problem, and does not flood its user with them."""

    async def main() -> None:
        async with MemoryCluster() as cluster:
            alice, bob = await cluster.mesh("alice", "bob")
            link = bob.driver.engine.sessions.peers["alice"].link
            assert link is not None
            for _ in range(50):
                cluster.network.carry("bob", "alice", [link.alone(b"\xc9", time.monotonic_ns())])
                await bob.send("alice", b"in between")
                await asyncio.sleep(0)
            event = await wait_for_event(alice, "misbehaved", "bob")
            assert "0xc9" in event.detail
            assert await take(alice, 50) == [b"in between"] * 50
            assert alice.stats().misbehaved == 50
            assert (await events_of(alice)).count(("misbehaved", "bob")) == 1

    run(main())
