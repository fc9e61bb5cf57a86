"""A peer that has the keys and is broken: what it says is refused, and nothing else happens."""

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
from tests.runtime.engine.engines import LIMIT, Company
from tests.runtime.nodes import Town, happened, run, so_far, take

ALICE, BOB = "alice@" + "0" * 16, "bob@" + "0" * 16


def fragment(number: int, start: int, total: int, data: bytes) -> bytes:
    """A piece of a frame."""
    head = b"".join(varint(each) for each in (number, start, total, len(data)))
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


def state(company: Company) -> tuple[object, ...]:
    """What matters about alice, and must not change."""
    alice = company.engines["alice"]
    bob = alice.sessions.peers["bob"]
    out = bob.outgoing
    credit = (out.accepted, out.delivered, out.consumed, out.consumed_bytes)
    events = [*company.events("alice", PeerDropped), *company.events("alice", SessionClosed)]
    return (alice.core.fingerprint(), credit, bob.incoming.delivered, bob.gone, events)


@pytest.mark.parametrize("plain", [True, False], ids=["plain", "encrypted"])
@pytest.mark.parametrize("wrong", WRONG)
def test_what_no_correct_peer_says_changes_nothing(wrong: str, plain: bool) -> None:
    """It is counted and told, and traffic in both directions goes on."""
    body, problem = WRONG[wrong]
    company = Company("alice", "bob", plain=plain)
    alice = company.engines["alice"]
    before = state(company)
    company.forge("bob", "alice", body)
    assert state(company) == before
    (event,) = company.events("alice", PeerMisbehaved)
    assert event.peer.name == "bob" and problem in event.problem
    assert alice.counters.misbehaved == 1
    company.send("alice", "bob", b"still")
    company.send("bob", "alice", b"here")
    company.settle()
    assert (company.taken("alice"), company.taken("bob")) == ([b"here"], [b"still"])


def test_a_message_that_contradicts_earlier_ones() -> None:
    """The predecessor of a message is told with it, and cannot be another one later."""
    company = Company("alice", "bob")
    for at in range(3):
        company.send("bob", "alice", b"%d" % at)
    company.settle()
    before = state(company)
    company.forge("bob", "alice", encode(HybridMessage(9, 2, False, (b"x",))))
    (event,) = company.events("alice", PeerMisbehaved)
    assert "claims predecessor 2" in event.problem
    assert state(company) == before


def test_frames_before_the_wrong_one_count() -> None:
    """A body is used up to what makes no sense, and acknowledged, so that it is not sent again."""
    company = Company("alice", "bob")
    good = encode(HybridMessage(1, 0, False, (b"good",)))
    unseen = encode(HybridMessage(2, 1, False, (b"unseen",)))
    company.forge("bob", "alice", good + b"\xc9" + unseen)
    assert company.taken("alice") == [b"good"]
    company.turn()
    assert company.link("bob", "alice").recovery.in_flight == 0


def test_what_makes_no_sense_is_acknowledged() -> None:
    """Sending it again would not make it better."""
    company = Company("alice", "bob")
    company.forge("bob", "alice", b"\xc9")
    assert company.link("bob", "alice").recovery.in_flight > 0
    company.turn()
    assert company.link("bob", "alice").recovery.in_flight == 0


@pytest.mark.parametrize("seed", range(3))
def test_any_bytes_with_a_seal(seed: int) -> None:
    """Thousands of them: no exception, and after a drop nothing of it is left."""
    chance = random.Random(seed)
    company = Company("alice", "bob", "carol", plain=False)
    alice = company.engines["alice"]
    samples = [body for body, _ in WRONG.values()]
    samples += [encode(HybridMessage(n, n - 1, n % 2 == 0, (b"x" * n,))) for n in range(1, 20)]
    samples += [ack_frame([(n, n + 2)], n) for n in range(5)] + [b"\xc4" + b"token678"]
    for _ in range(1_500):
        body = bytearray(chance.choice(samples) + chance.choice(samples))
        for _ in range(chance.randrange(4)):
            body[chance.randrange(len(body))] = chance.randrange(256)
        if bytes([frames.CLOSE]) not in body and b"bob" not in body and b"carol" not in body:
            company.forge("bob", "alice", bytes(body[: chance.randrange(1, len(body) + 1)]))
    assert alice.counters.misbehaved > 500, f"seed {seed}"
    company.taken("alice")
    alice.drop(
        alice.sessions.peers["bob"], company.now
    )  # what it made alice wait for will never come
    company.send("carol", "alice", b"hello")
    company.send("alice", "carol", b"hello")
    company.settle()
    assert b"hello" in company.taken("alice") and company.taken("carol") == [b"hello"]


def test_users_are_told_once() -> None:
    """A node reports the peer and the problem, and does not flood its user with them."""

    async def main() -> None:
        async with Town() as town:
            alice, bob = await town.mesh("alice", "bob")
            link = bob.driver.engine.sessions.peers["alice"].link
            assert link is not None
            for _ in range(50):
                town.network.carry("bob", "alice", [link.alone(b"\xc9", time.monotonic_ns())])
                await bob.send("alice", b"in between")
                await asyncio.sleep(0)
            event = await happened(alice, "misbehaved", "bob")
            assert "0xc9" in event.detail
            assert await take(alice, 50) == [b"in between"] * 50
            assert alice.stats().misbehaved == 50
            assert (await so_far(alice)).count(("misbehaved", "bob")) == 1

    run(main())
