"""NATS: through a real server where one is installed; what a stranger may publish is not trusted."""

import asyncio
import shutil
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from beforehand.errors import LocalProtocolError, ResourceError, TransportError
from beforehand.runtime.transports import NatsTransport
from beforehand.runtime.transports import nats as module
from tests.runtime.transports.inbox import PATIENCE, Inbox

SERVER = shutil.which("nats-server") or shutil.which("nats-server", path="/usr/sbin")


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


def start(port: int, folder: Path) -> subprocess.Popen[bytes]:
    """A server of its own, once it accepts connections."""
    assert SERVER is not None
    log = folder / "log"
    process = subprocess.Popen([SERVER, "-a", "127.0.0.1", "-p", str(port), "-l", str(log)])
    for _ in range(int(PATIENCE * 100)):
        with socket.socket() as sock:
            if sock.connect_ex(("127.0.0.1", port)) == 0:
                return process
        time.sleep(0.01)
    process.kill()
    process.wait()
    raise AssertionError(f"nats-server did not start: {log.read_text()}")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a NATS server that is there for these tests only."""
    pytest.importorskip("nats")
    if SERVER is None:
        pytest.skip("nats-server is not installed")
    port = free_port()
    process = start(port, tmp_path_factory.mktemp("nats"))
    yield f"nats://127.0.0.1:{port}"
    process.kill()
    process.wait()


@asynccontextmanager
async def opened(server: str, *names: str) -> AsyncIterator[list[tuple[NatsTransport, Inbox]]]:
    """Transports of these names, and their inboxes."""
    endpoints: list[tuple[NatsTransport, Inbox]] = []
    try:
        for name in names:
            transport, inbox = NatsTransport(server, name), Inbox()
            await transport.open(inbox)
            endpoints.append((transport, inbox))
        yield endpoints
    finally:
        for transport, _ in endpoints:
            transport.close()
            transport.close()
            await transport.wait_closed()


def test_datagrams_arrive_with_the_name_of_the_sender(server: str) -> None:
    """Of any length, several to a message, and names may hold any characters."""

    async def scenario() -> None:
        name = "ålice > * . 🙂"
        async with opened(server, name, "bob") as [(alice, alice_inbox), (bob, bob_inbox)]:
            sent = [b"", b"x", *(bytes([number]) * 16_000 for number in range(10)), b"y" * 59_900]
            alice.send(await alice.resolve("bob"), sent)
            assert await bob_inbox.wait(len(sent)) == sent
            assert {address for _, address in bob_inbox.batches} == {name}
            assert len(bob_inbox.batches) == 5
            bob.send(bob_inbox.batches[0][1], [b"back"])
            assert await alice_inbox.wait(1) == [b"back"]
            assert alice.describe("bob") == "bob" and alice.address_bytes("bob") == b"bob"
            assert alice.local == name and not alice.loopback() and alice.lost == 0

    asyncio.run(scenario())


def test_a_burst_is_queued_within_bounds(server: str) -> None:
    """The transport reports that it is busy, drops the excess, and counts it."""

    async def scenario() -> None:
        async with opened(server, "alice", "bob") as [(alice, _), (_, bob_inbox)]:
            batch = [bytes(16_000)] * 30
            alice.send("bob", [bytes(60_000)])  # does not fit into a message with its length
            assert alice.lost == 1
            for _ in range(20):
                alice.send("bob", batch)
            assert alice.busy() and alice.queued_bytes <= module.MAX_QUEUED
            assert 1 < alice.lost < 300
            await bob_inbox.wait(601 - alice.lost)
            assert not alice.busy()

    asyncio.run(scenario())


def test_messages_from_strangers_are_counted_and_ignored(server: str) -> None:
    """No sender, one that cannot be a name, no datagram, lengths that do not add up."""
    nats = pytest.importorskip("nats")

    async def scenario() -> None:
        async with opened(server, "bob") as [(bob, bob_inbox)]:
            client = await nats.connect(server)
            subject = bob.subject("bob")
            forged = [
                b"",
                b"\x00",
                b"\x00\x00\x01x",
                b"\x01",
                b"\x01\xff\x00\x01x",
                b"\x05carol",
                b"\x05carol\x00",
                b"\x05carol\x00\x01",
                b"\x05carol\x00\x02x",
                b"\x05carol\x00\x01x\x00",
                b"\xffcarol\x00\x01x",
            ]
            for content in forged:
                await client.publish(subject, content)
            await client.publish(subject, b"\x05carol\x00\x01x\x00\x00")
            await bob_inbox.wait(2)
            await client.close()
            assert bob_inbox.batches == [([b"x", b""], "carol")]
            assert bob.malformed == len(forged)

    asyncio.run(scenario())


@pytest.mark.skipif(SERVER is None, reason="nats-server is not installed")
def test_a_server_that_comes_back_is_used_again(tmp_path: Path) -> None:
    """Datagrams sent meanwhile may be lost, and no call raises."""
    pytest.importorskip("nats")
    port = free_port()
    process = start(port, tmp_path)

    async def scenario() -> None:
        nonlocal process
        async with opened(f"nats://127.0.0.1:{port}", "alice", "bob") as [
            (alice, _),
            (_, bob_inbox),
        ]:
            process.kill()
            process.wait()
            alice.send("bob", [b"into the dark"])
            await asyncio.sleep(0.05)
            process = start(port, tmp_path)
            async with asyncio.timeout(PATIENCE):
                while b"again" not in bob_inbox.datagrams:
                    alice.send("bob", [b"again"])
                    await asyncio.sleep(0.05)

    try:
        asyncio.run(scenario())
    finally:
        process.kill()
        process.wait()


def test_without_a_server_open_raises() -> None:
    """At once, and with the address."""
    pytest.importorskip("nats")

    async def scenario() -> None:
        address = f"nats://127.0.0.1:{free_port()}"
        transport = NatsTransport(address, "alice")
        with pytest.raises(
            TransportError, match=f"{address}: cannot connect .*start one"
        ) as caught:
            await transport.open(Inbox())
        assert isinstance(caught.value.__cause__, ConnectionError)  # it did not wait for a timeout
        transport.send("bob", [b"lost"])
        transport.close()
        await transport.wait_closed()

    asyncio.run(scenario())


def test_without_the_package_open_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    """The remedy is the extra."""

    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(module, "import_module", missing)

    async def scenario() -> None:
        with pytest.raises(ResourceError, match=r"pip install 'beforehand\[nats\]'"):
            await NatsTransport("nats://127.0.0.1:1", "alice").open(Inbox())

    asyncio.run(scenario())


def test_names_and_prefixes_are_checked() -> None:
    """What cannot be a subject or a name is refused before any connection."""
    with pytest.raises(LocalProtocolError, match="not a valid subject prefix"):
        NatsTransport("nats://127.0.0.1:1", "alice", prefix="a.*")
    with pytest.raises(LocalProtocolError, match="must not be empty"):
        NatsTransport("nats://127.0.0.1:1", "")
    with pytest.raises(TransportError, match="name of a process"):
        asyncio.run(NatsTransport("nats://127.0.0.1:1", "alice").resolve(""))
