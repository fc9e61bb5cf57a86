"""UDP: datagrams over real sockets on loopback, and sockets that refuse."""

import asyncio
import errno
import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from beforehand.errors import LocalProtocolError, TransportError
from beforehand.runtime.transports import Address, UdpTransport, udp
from tests.runtime.transports.inbox import PATIENCE, Inbox

HAS_IPV6 = socket.has_ipv6 and os.path.exists("/proc/net/if_inet6")


class RefusingSocket:
    """A socket whose sends fail on demand; everything else is the real one."""

    def __init__(self, inner: socket.socket) -> None:
        self.inner = inner
        self.batch_error = 0  # for batches only
        self.error = 0  # for everything
        self.batches = 0  # that were tried
        self.room: int | None = None  # for so many datagrams, one by one; None is for any number

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def sendmsg(self, *arguments: Any) -> int:
        self.batches += 1
        if self.batch_error or self.error:
            raise OSError(self.batch_error or self.error, "refused")
        return self.inner.sendmsg(*arguments)

    def sendto(self, *arguments: Any) -> int:
        if self.room is not None:
            if self.room == 0:
                raise BlockingIOError
            self.room -= 1
        if self.error:
            raise OSError(self.error, "refused")
        return self.inner.sendto(*arguments)


@asynccontextmanager
async def pair(
    listen: str = "127.0.0.1:0", other: str | None = None, datagram: int = udp.DATAGRAM
) -> AsyncIterator[tuple[UdpTransport, Address, Inbox]]:
    """A transport that sends, and the address and the inbox of another."""
    alice, bob, inbox = UdpTransport(listen, datagram), UdpTransport(other or listen), Inbox()
    await bob.open(inbox)
    await alice.open(Inbox())
    try:
        yield alice, await alice.resolve(bob.local), inbox
    finally:
        alice.close()
        bob.close()


def refusing_socket(transport: UdpTransport) -> RefusingSocket:
    """Replace the socket of a transport by one whose sends can fail."""
    assert transport.socket is not None
    wrapped = RefusingSocket(transport.socket)
    transport.socket = wrapped  # type: ignore[assignment]
    return wrapped


def numbered(count: int, size: int = 1_400) -> list[bytes]:
    """Distinct datagrams."""
    return [number.to_bytes(2, "big") * (size // 2) for number in range(count)]


def test_datagrams_arrive_whole_with_the_address_of_the_sender() -> None:
    """Of any length, some of them together, and the address leads back to the sender."""

    async def scenario() -> None:
        async with pair() as (alice, bob, inbox):
            sent = [*numbered(90), b"short", b"x", b"", b"y" * 1_400, b"z" * 65_000]
            alice.send(bob, sent)
            assert await inbox.wait(len(sent)) == sent
            assert {alice.describe(address) for _, address in inbox.batches} == {alice.local}
            if alice.segmenting and alice.gathering:
                assert len(inbox.batches) < 10
            assert not alice.busy()

    asyncio.run(scenario())


def test_on_uvloop_it_works_the_same() -> None:
    """uvloop supports the socket too."""
    uvloop = pytest.importorskip("uvloop")

    async def scenario() -> None:
        async with pair() as (alice, bob, inbox):
            alice.send(bob, numbered(90))
            assert await inbox.wait(90) == numbered(90)

    uvloop.run(scenario())


@pytest.mark.skipif(not HAS_IPV6, reason="this machine has no IPv6")
@pytest.mark.parametrize(
    ("listen", "other"), [("[::1]:0", "[::1]:0"), ("[::]:0", "127.0.0.1:0"), ("[::]:0", "[::1]:0")]
)
def test_ipv6_sockets_reach_both_kinds_of_hosts(listen: str, other: str) -> None:
    """An IPv6 socket that listens everywhere also sends to IPv4 addresses."""

    async def scenario() -> None:
        async with pair(listen, other) as (alice, bob, inbox):
            alice.send(bob, numbered(50))
            assert await inbox.wait(50) == numbered(50)
            assert len(alice.address_bytes(bob)) > 0

    asyncio.run(scenario())


@pytest.mark.skipif(not HAS_IPV6, reason="this machine has no IPv6")
def test_an_ipv4_socket_cannot_reach_an_ipv6_host() -> None:
    """The remedy is to listen on the other family."""

    async def scenario() -> None:
        async with pair() as (alice, _, _):
            with pytest.raises(TransportError, match="listen on an IPv6 address"):
                await alice.resolve("[::1]:7001")

    asyncio.run(scenario())


def test_where_the_kernel_knows_no_batches_datagrams_go_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing else changes on other systems and old kernels."""
    monkeypatch.setattr(sys, "platform", "other")

    async def scenario() -> None:
        async with pair() as (alice, bob, inbox):
            alice.send(bob, numbered(90))
            assert await inbox.wait(90) == numbered(90)
            assert {len(batch) for batch, _ in inbox.batches} == {1}
            assert not alice.segmenting and not alice.gathering

    asyncio.run(scenario())


def test_a_refused_batch_goes_out_one_by_one_and_is_the_last() -> None:
    """Nothing is lost by the fallback, and batches are not tried again."""

    async def scenario() -> None:
        async with pair() as (alice, bob, inbox):
            alice.segmenting = True
            sock = refusing_socket(alice)
            sock.batch_error = errno.EIO
            alice.send(bob, numbered(60))
            sock.batch_error = 0
            alice.send(bob, numbered(60))
            assert await inbox.wait(120) == numbered(60) * 2
            assert sock.batches == 1 and not alice.segmenting and alice.refused == 0

    asyncio.run(scenario())


def test_an_address_that_cannot_be_reached_does_not_end_batches() -> None:
    """A socket of loopback gets the errno of a refused batch for strangers; batches are not to blame."""

    async def scenario() -> None:
        async with pair() as (alice, bob, inbox):
            alice.segmenting = True
            sock = refusing_socket(alice)
            sock.error = errno.EINVAL
            alice.send(bob, numbered(10))
            assert alice.segmenting and alice.refused == 10
            sock.error, sock.batch_error = 0, errno.ENOBUFS  # passing trouble of another kind
            alice.send(bob, numbered(10))
            assert await inbox.wait(10) == numbered(10)
            assert alice.segmenting and alice.refused == 10

    asyncio.run(scenario())


@pytest.mark.parametrize("segmenting", [True, False])
def test_datagrams_that_a_full_kernel_refuses_go_out_later_in_order(segmenting: bool) -> None:
    """Meanwhile the transport is busy; what is sent in the meantime queues up behind."""

    async def scenario() -> None:
        async with pair() as (alice, bob, inbox):
            alice.segmenting = segmenting
            sock = refusing_socket(alice)
            sock.error = errno.EAGAIN
            alice.send(bob, numbered(50)[:45])
            assert alice.busy() and not inbox.batches
            await asyncio.sleep(0)
            sock.error = 0
            alice.send(bob, numbered(50)[45:])
            assert await inbox.wait(50) == numbered(50)
            async with asyncio.timeout(PATIENCE):
                while alice.busy():
                    await asyncio.sleep(0)
            assert alice.refused == 0 and alice.queued_bytes == 0

    asyncio.run(scenario())


def test_a_queued_batch_may_be_sent_one_by_one() -> None:
    """When batches were given up meanwhile, each datagram goes once, and the count is right."""

    async def scenario() -> None:
        async with pair() as (alice, bob, inbox):
            sock = refusing_socket(alice)
            sock.error, alice.segmenting = errno.EAGAIN, True
            alice.send(bob, numbered(40))
            sock.error, alice.segmenting, sock.room = 0, False, 10
            assert await inbox.wait(10) == numbered(10)
            assert alice.busy() and alice.queued_bytes == 30 * 1_400
            sock.room = None
            assert await inbox.wait(40) == numbered(40)
            assert not alice.busy() and alice.queued_bytes == 0

    asyncio.run(scenario())


def test_the_queue_for_the_kernel_is_bounded() -> None:
    """Beyond the limit datagrams are lost and counted, as in any network."""

    async def scenario() -> None:
        async with pair() as (alice, bob, _):
            refusing_socket(alice).error = errno.EAGAIN
            for _ in range(300):
                alice.send(bob, numbered(40))
            assert alice.queued_bytes <= udp.MAX_QUEUED
            queued = alice.queued_bytes // 1_400
            assert alice.refused > 0 and alice.refused + queued == 300 * 40

    asyncio.run(scenario())


def test_an_absent_peer_and_a_closed_transport_are_no_errors() -> None:
    """Datagrams to an absent peer, or of a closed transport, are lost; closing twice is fine."""

    async def scenario() -> None:
        async with pair() as (alice, bob, inbox):
            closed = UdpTransport()
            await closed.open(Inbox())
            address = await alice.resolve(closed.local)
            closed.close()
            for _ in range(3):
                alice.send(address, numbered(3))
                await asyncio.sleep(0.001)
            alice.send(bob, [b"still here"])
            assert await inbox.wait(1) == [b"still here"]
            alice.close()
            alice.close()
            alice.send(bob, [b"too late"])
        assert inbox.datagrams == [b"still here"]

    asyncio.run(scenario())


def test_a_receiver_may_close_the_transport() -> None:
    """Closing from within `receive` ends the reading, without touching the closed socket."""

    async def scenario() -> None:
        async with pair() as (alice, _, _):
            batches: list[list[bytes]] = []
            troubles: list[dict[str, Any]] = []
            asyncio.get_running_loop().set_exception_handler(
                lambda _, context: troubles.append(context)
            )
            carol = UdpTransport()

            def take(datagrams: list[bytes], address: Address) -> None:
                batches.append(datagrams)
                carol.close()

            await carol.open(take)
            address = await alice.resolve(carol.local)
            alice.send(address, [b"1"])
            alice.send(address, [b"22"])
            async with asyncio.timeout(PATIENCE):
                while not batches:
                    await asyncio.sleep(0.001)
            await asyncio.sleep(0.005)
            assert batches == [[b"1"]] and troubles == []

    asyncio.run(scenario())


def test_listening_where_it_is_impossible_raises_with_a_remedy() -> None:
    """A port in use, an address of another machine, an unknown name."""

    async def scenario() -> None:
        async with pair() as (alice, _, _):
            for listen, problem in (
                (alice.local, "another port"),
                ("192.0.2.1:7001", "an address of this machine"),
                ("host.invalid:7001", "cannot resolve this host"),
            ):
                with pytest.raises(TransportError, match=problem):
                    await UdpTransport(listen).open(Inbox())

    asyncio.run(scenario())


@pytest.mark.parametrize(
    "text", ["host.invalid:7001", "a" * 70 + ".example:1", "nul\0:1", "alice:0"]
)
def test_an_address_that_leads_nowhere_is_refused(text: str) -> None:
    """Whatever the resolver's error, the message explains the address."""

    async def scenario() -> None:
        with pytest.raises(TransportError, match=r"cannot resolve this host|port 0"):
            await UdpTransport().resolve(text)

    asyncio.run(scenario())


@pytest.mark.parametrize("datagram", [0, 575, 65_001])
def test_datagrams_have_a_least_and_a_largest_size(datagram: int) -> None:
    """Sizes that no network carries are refused at once."""
    with pytest.raises(LocalProtocolError, match="choose from 576 to 65000"):
        UdpTransport(datagram=datagram)


def test_loopback_is_known_before_and_after_opening() -> None:
    """So that a node without a key can refuse before it listens."""

    async def scenario() -> None:
        for listen, expected in (
            ("localhost:0", True),
            ("127.0.0.1:0", True),
            ("0.0.0.0:0", False),
        ):
            transport = UdpTransport(listen)
            assert transport.loopback() is expected
            await transport.open(Inbox())
            assert transport.loopback() is expected
            assert not transport.local.endswith(":0")
            transport.close()

    asyncio.run(scenario())
