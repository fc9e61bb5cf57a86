"""The limits of a node: sizes, addresses, disks, arguments, lifetime. Each has an error of its own."""

from __future__ import annotations

import asyncio
import errno
import socket
from pathlib import Path
from typing import Any

import pytest

from beforehand import MessageId, Node
from beforehand.errors import (
    BeforehandError,
    LocalProtocolError,
    NodeClosedError,
    SecurityError,
    TransportError,
)
from beforehand.runtime import trace_writer
from beforehand.runtime.transports.memory import MemoryNetwork
from tests.runtime.nodes import KEY, MemoryCluster, run, take, wait_for_event

LARGEST = 16 * 2**20


def test_payloads_up_to_16_mib_and_no_further() -> None:
    """The largest arrives as it was; one byte more is refused by every way to send it."""

    async def main() -> None:
        async with Node("alice") as alice, Node("bob", peers={"alice": alice.address}) as bob:
            payload = bytes(range(256)) * (LARGEST // 256)
            await wait_for_event(alice, "up", "bob")
            await alice.send("bob", payload)
            await alice.send("bob", b"after it")
            assert await take(bob, 2) == [payload, b"after it"]
            with pytest.raises(LocalProtocolError, match="16777217 bytes is more than"):
                await alice.send("bob", payload + b"x")
            with pytest.raises(LocalProtocolError, match="16777217 bytes is more than"):
                await alice.send_many("bob", [b"fine", payload + b"x"])
            with pytest.raises(LocalProtocolError, match="send it in parts"):
                alice.try_send("bob", payload + b"x")

    run(main())


def test_ipv6() -> None:
    """Nodes meet on the loopback address of IPv6 as well."""
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as probe:
            probe.bind(("::1", 0))
    except OSError as problem:
        pytest.skip(f"this machine has no IPv6 loopback: {problem}")

    async def main() -> None:
        async with Node("alice", listen="[::1]:0") as alice:
            assert alice.address.startswith("[::1]:")
            async with Node("bob", listen="[::1]:0", peers={"alice": alice.address}) as bob:
                await bob.send("alice", b"hello")
                assert await take(alice) == [b"hello"]
                await alice.send("bob", bytes(100_000))
                assert await take(bob) == [bytes(100_000)]

    run(main())


def test_a_full_disk_ends_the_trace_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One event reports the problem; messages are delivered as before."""

    def full(path: Path, *_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(trace_writer, "create", full)

    async def main() -> None:
        async with MemoryCluster() as cluster:
            alice = await cluster.start("alice", trace=tmp_path)
            bob = await cluster.start("bob", "alice")
            await bob.send_many("alice", [b"%d" % number for number in range(6_000)])
            assert len(await take(alice, 6_000)) == 6_000
            failed = await wait_for_event(alice, "trace-failed", "alice")
            assert "No space left" in failed.detail
            await alice.send("bob", b"still here")
            assert await take(bob) == [b"still here"]
            assert not (await alice.close()).undelivered

    run(main())


@pytest.mark.parametrize("listen", ["0.0.0.0:0", "[::]:0"])
def test_without_a_key_only_this_machine(listen: str) -> None:
    """The refusal names both ways out of it; with a key there is nothing to refuse."""

    async def main() -> None:
        with pytest.raises(LocalProtocolError, match=r"key=.*insecure=True"):
            await Node("alice", listen=listen).start()
        for options in ({"key": KEY}, {"insecure": True}):
            try:
                async with Node("alice", listen=listen, **options) as alice:
                    assert alice.address.rsplit(":", 1)[1] != "0"
            except TransportError as problem:
                pytest.skip(f"this machine has no such address: {problem}")

    run(main())


def test_a_port_in_use() -> None:
    """The second gets an error with the address and the remedy."""

    async def main() -> None:
        async with Node("alice") as alice:
            second = Node("bob", listen=alice.address)
            with pytest.raises(TransportError, match=r"cannot listen .*choose another port"):
                await second.start()
            assert not await second.close()

    run(main())


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("no.such.host.invalid:7001", "cannot resolve this host"),
        ("127.0.0.1:0", "port 0, which cannot be sent to"),
        ("127.0.0.1", "127.0.0.1"),
        ("127.0.0.1:99999", "99999"),
    ],
)
def test_peers_that_cannot_be_found(address: str, problem: str) -> None:
    """At the start that is an error; later it is an event, because no call waits for it."""

    async def main() -> None:
        with pytest.raises(BeforehandError, match=problem):
            await Node("alice", peers={"bob": address}).start()
        async with Node("alice") as alice:
            alice.add_peer("bob", address)
            refused = await wait_for_event(alice, "refused", "bob")
            assert problem in refused.detail

    run(main())


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"name": ""}, "name"),
        ({"name": "x" * 239}, "at most 238 bytes"),
        ({"name": 7}, "int"),
        ({"peers": "bob"}, "peers are a mapping of names to addresses"),
        ({"peers": {"alice": "127.0.0.1:1"}}, "a peer of itself"),
        ({"peers": {"": "127.0.0.1:1"}}, "name"),
        ({"key": b"short"}, "5 bytes, not 32"),
        ({"key": "no/such/file"}, "no/such/file"),
        ({"protocol": "carrier-pigeon"}, "carrier-pigeon"),
        ({"listen": "nowhere"}, "nowhere"),
        ({"listen": "127.0.0.1:seven"}, "seven"),
        ({"window": 0}, "window=0: it must be a positive integer"),
        ({"window": 2.5}, "window=2.5"),
        ({"window_bytes": -1}, "window_bytes=-1"),
        ({"silent_after": 0}, "silent_after=0: it must be a number of seconds"),
        ({"silent_after": float("nan")}, "silent_after=nan"),
        ({"silent_after": "5"}, "silent_after='5'"),
        ({"silent_after": 5.0, "drop_after": 1.0}, "drop_after=1.0 is less than silent_after=5.0"),
        ({"protocol": "tree"}, "tree"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], problem: str) -> None:
    """Each is refused when the node is created, by name, and nothing was opened."""
    with pytest.raises((LocalProtocolError, SecurityError, TransportError), match=problem):
        Node(**{"name": "alice", **arguments})


def test_misuse_of_a_node_that_runs() -> None:
    """Receivers, payloads and peers that make no sense are refused at once."""

    async def main() -> None:
        async with MemoryCluster() as cluster:
            alice, bob = await cluster.mesh("alice", "bob")
            wrong: list[tuple[Any, Any, str]] = [
                ("bob", "text", "a payload is bytes, not str; encode it"),
                ("carol", b"", "there is no peer 'carol'"),
                ([], b"", "no receivers"),
                (None, b"", "no broadcast"),
                (7, b"", "not int"),
                (["bob", 7], b"", "int"),
            ]
            for to, payload, problem in wrong:
                with pytest.raises(LocalProtocolError, match=problem):
                    await alice.send(to, payload)
                with pytest.raises(LocalProtocolError, match=problem):
                    await alice.send_many(to, [payload])
                with pytest.raises(LocalProtocolError, match=problem):
                    alice.try_send(to, payload)
            with pytest.raises(LocalProtocolError, match="no payloads"):
                await alice.send_many("bob", [])
            with pytest.raises(LocalProtocolError, match="no peer 'carol' to drop"):
                alice.drop("carol")
            with pytest.raises(LocalProtocolError, match="a peer of itself"):
                alice.add_peer("alice")
            with pytest.raises(LocalProtocolError, match="was not sent by this node"):
                await alice.delivered(MessageId("bob", 1))
            with pytest.raises(LocalProtocolError, match="never sent"):
                await alice.delivered(MessageId("alice", 1))
            with pytest.raises(LocalProtocolError, match="started once"):
                await alice.start()
            assert alice.sent == 0
            await alice.send((name for name in ["bob"]), b"from a generator")
            await alice.send_many((name for name in ["bob"]), [b"and", b"another"])
            assert await take(bob, 3) == [b"from a generator", b"and", b"another"]

    run(main())


def test_protocols_that_only_broadcast() -> None:
    """A receiver is refused before the message is accepted, not after."""

    async def main() -> None:
        async with MemoryCluster(protocol="vector") as cluster:
            alice, bob = await cluster.mesh("alice", "bob")
            with pytest.raises(LocalProtocolError, match="None"):
                await alice.send("bob", b"for you alone")
            with pytest.raises(LocalProtocolError, match="must know everybody from the start"):
                alice.add_peer("carol")
            assert alice.sent == 0
            await alice.send(None, b"for all")
            assert await take(bob) == [b"for all"]

    run(main())


def test_close_reports_what_was_left() -> None:
    """After its deadline: how many messages for whom are not known to be delivered, and unread ones."""

    async def main() -> None:
        async with MemoryCluster() as cluster:
            alice, bob, carol = await cluster.mesh("alice", "bob", "carol")
            await carol.send("alice", b"unread")
            await carol.flush()
            cluster.isolate(bob)
            await alice.send_many("bob", [b"x"] * 7)
            await alice.send("carol", b"arrives")
            unfinished = await alice.close(0.2)
            assert unfinished and unfinished.undelivered == {"bob": 7} and unfinished.unread == 1
            assert await take(carol) == [b"arrives"]
            dropped = await wait_for_event(carol, "dropped", "alice")
            assert dropped.detail == "it has left"
            assert await alice.close() == unfinished  # a second time changes nothing

    run(main())


def test_close_waits_for_what_can_still_be_delivered() -> None:
    """A network that comes back within the deadline: nothing is left."""

    async def main() -> None:
        async with MemoryCluster() as cluster:
            alice, bob = await cluster.mesh("alice", "bob")
            cluster.isolate(bob)
            await alice.send("bob", b"in time")
            closing = asyncio.ensure_future(alice.close(5.0))
            await asyncio.sleep(0.1)
            assert not closing.done()
            with pytest.raises(NodeClosedError):
                await alice.send("bob", b"too late")
            cluster.reconnect(bob)
            assert not await closing
            assert await take(bob) == [b"in time"]

    run(main())


def test_before_the_start_and_after_the_end() -> None:
    """Every call raises the right one of the two; delivered messages can still be read."""

    async def main() -> None:
        network = MemoryNetwork()
        async with Node("bob", transport=network.transport("bob")) as bob:
            alice = Node("alice", transport=network.transport("alice"), peers={"bob": "bob"})
            for use in (alice.send("bob", b""), alice.receive(), alice.flush()):
                with pytest.raises(NodeClosedError, match="not started"):
                    await use
            with pytest.raises(NodeClosedError, match="not started"):
                await anext(aiter(alice))
            await alice.start()
            await wait_for_event(bob, "up", "alice")
            await bob.send("alice", b"one")
            await bob.send("alice", b"two")
            await bob.flush()
            waiting = asyncio.ensure_future(bob.receive())
            assert (await alice.close()).unread == 2
            for use in (alice.send("bob", b""), alice.send_many("bob", [b""]), alice.flush()):
                with pytest.raises(NodeClosedError, match="is closed; start another one"):
                    await use
            for call in (lambda: alice.try_send("bob", b""), lambda: alice.drop("bob")):
                with pytest.raises(NodeClosedError):
                    call()
            assert [message.payload async for message in alice] == [b"one", b"two"]
            with pytest.raises(NodeClosedError):
                await alice.receive()
            assert not waiting.done()
        with pytest.raises(NodeClosedError):
            await waiting  # it was there when the node was closed

    run(main())
