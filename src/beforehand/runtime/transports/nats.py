"""Datagrams as messages of a NATS server: causal order on top of NATS.

Each process subscribes to its own subject, made from a prefix and its name; an address is a name. Core
NATS delivers at most once, which is all that a link needs. A message starts with the sender's name,
prefixed by its length in one byte; then follow datagrams, each prefixed by its length in two bytes.
(With the name as a reply subject, servers would answer when a peer is away.)

Every client of the server can publish under any name, and a server may be part of a cluster: only a
key keeps strangers out, so this transport never counts as loopback.
"""

import asyncio
import base64
import logging
import re
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from typing import Any, Final, cast

from beforehand import requirements
from beforehand.causality.ids import check_process
from beforehand.errors import LocalProtocolError, ResourceError, TransportError
from beforehand.runtime.transports.base import Address, Receive, Transport

DATAGRAM: Final = 16_000  # three per message: larger ones gain little, and lose more at once
MAX_MESSAGE: Final = 60_000  # bytes; servers accept a megabyte, but large messages block others
MAX_QUEUED: Final = 8 * 2**20  # bytes queued for the connection before datagrams are dropped
FLUSH_AFTER: Final = 2**18  # bytes published before waiting for the server
CONNECT_SECONDS: Final = 5.0
RECONNECT_SECONDS: Final = 0.5  # between attempts
FLUSH_SECONDS: Final = 1

_log: Final = logging.getLogger(__name__)

_PREFIX: Final = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")
_LENGTH: Final = 2  # bytes, enough for 65,535


class NatsTransport(Transport):
    """One process on the subjects of a NATS server."""

    def __init__(self, server: str, name: str, prefix: str = "beforehand") -> None:
        if not _PREFIX.fullmatch(prefix):
            raise LocalProtocolError(
                f"{prefix!a} is not a valid subject prefix; use letters, digits, -, _ and single dots"
            )
        self.datagram = DATAGRAM
        self.local = check_process(name)
        self._head = bytes([len(name.encode())]) + name.encode()
        self.lost = 0  # datagrams that could not be published
        self.malformed = 0  # messages on our subject that are not ours
        self._server = server
        self._prefix = prefix
        self._client: Any = None
        self._receive: Receive | None = None
        self._queued: deque[tuple[str, bytes, int]] = deque()  # subject, content, datagrams in it
        self.queued_bytes = 0
        self._publishing: asyncio.Task[None] | None = None
        self._closing: asyncio.Task[None] | None = None

    async def open(self, receive: Receive) -> None:
        """Connect to the server and subscribe to our subject."""
        self._client = await self._connect()
        self._receive = receive
        await self._client.subscribe(self.subject(self.local), cb=self._arrived)
        for _ in range(2):
            # The first flush may overtake the subscription, the second cannot.
            await self._client.flush()

    async def _connect(self) -> Any:
        try:
            client = import_module("nats.aio.client").Client()
        except ImportError as error:
            raise ResourceError(
                "NATS needs the package nats-py, which is not installed; "
                f"run {requirements.install('nats')}"
            ) from error

        async def on_error(error: Exception) -> None:
            # Fail fast on the first connection; later the client may reconnect for as long as it takes.
            if self._receive is None:
                raise error
            _log.warning("%s: %s", self._server, error)

        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                await client.connect(
                    self._server,
                    error_cb=on_error,
                    name=self.local,
                    reconnect_time_wait=RECONNECT_SECONDS,
                    max_reconnect_attempts=-1,
                )
        except Exception as error:  # from the system or nats-py, or a malformed address
            with suppress(Exception):
                await client.close()
            reason = str(error) or type(error).__name__
            raise TransportError(
                f"{self._server}: cannot connect to a NATS server ({reason}); "
                "start one there, or check the address and the credentials in it"
            ) from error
        return client

    def send(self, address: Address, datagrams: list[bytes]) -> None:
        """Pack datagrams into messages and publish them as soon as the connection accepts them."""
        if self._receive is None:
            return
        subject = self.subject(cast(str, address))
        limit = min(MAX_MESSAGE, self._client.max_payload)
        for content, count in _pack(self._head, datagrams, limit):
            if not content or self.queued_bytes + len(content) > MAX_QUEUED:
                self.lost += count
                continue
            self._queued.append((subject, content, count))
            self.queued_bytes += len(content)
        if self._queued and self._publishing is None:
            self._publishing = asyncio.get_running_loop().create_task(self._publish())

    def busy(self) -> bool:
        """Whether more is queued than one flush takes: recent messages are always queued briefly."""
        return self.queued_bytes > FLUSH_AFTER

    async def resolve(self, text: str) -> Address:
        """The name of a process, which is its address."""
        try:
            return check_process(text)
        except LocalProtocolError as error:
            raise TransportError(f"an address on NATS is the name of a process: {error}") from error

    def close(self) -> None:
        """Stop receiving; queued messages are still published, see `wait_closed`."""
        if self._receive is None:
            return
        self._receive = None
        self._closing = asyncio.get_running_loop().create_task(self._shut_down())

    async def wait_closed(self) -> None:
        """Wait until the connection is closed."""
        if self._closing is not None:
            await self._closing

    async def _shut_down(self) -> None:
        if self._publishing is not None:
            await self._publishing
        await self._client.close()

    async def _publish(self) -> None:
        unflushed = 0
        while self._queued:
            subject, content, count = self._queued.popleft()
            self.queued_bytes -= len(content)
            unflushed += len(content)
            try:
                await self._client.publish(subject, content)
                if unflushed >= FLUSH_AFTER:
                    unflushed = 0
                    await self._client.flush(FLUSH_SECONDS)
            except Exception:  # disconnected; the client reconnects
                self.lost += count
        self._publishing = None

    async def _arrived(self, message: Any) -> None:
        if self._receive is None:
            return
        try:
            sender, datagrams = _unpack(message.data)
        except (ValueError, LocalProtocolError):
            self.malformed += 1
            return
        self._receive(datagrams, sender)

    def subject(self, name: str) -> str:
        """The subject of a process."""
        token = base64.urlsafe_b64encode(name.encode()).rstrip(b"=").decode()
        return f"{self._prefix}.{token}"


def _pack(head: bytes, datagrams: list[bytes], limit: int) -> Iterator[tuple[bytes, int]]:
    """Message contents and the number of datagrams in each; empty content if one is too long."""
    content = bytearray(head)
    count = 0
    for datagram in datagrams:
        size = _LENGTH + len(datagram)
        if len(head) + size > limit:
            yield b"", 1
            continue
        if len(content) + size > limit:
            yield bytes(content), count
            content = bytearray(head)
            count = 0
        content += len(datagram).to_bytes(_LENGTH, "big")
        content += datagram
        count += 1
    if count:
        yield bytes(content), count


def _unpack(content: bytes) -> tuple[str, list[bytes]]:
    """The sender and the datagrams of a message; ValueError or LocalProtocolError if malformed."""
    end = 1 + content[0] if content else 0
    sender = check_process(content[1:end].decode())
    datagrams: list[bytes] = []
    while end != len(content):
        start = end + _LENGTH
        end = start + int.from_bytes(content[end:start], "big")
        if end > len(content):
            raise ValueError("truncated")
        datagrams.append(content[start:end])
    if not datagrams:
        raise ValueError("no datagram")
    return sender, datagrams
