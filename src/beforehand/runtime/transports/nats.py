"""Datagrams as messages of a NATS server: whoever runs one gets causal order on it.

Each process listens on a subject of its own, made from a prefix and its name, and an address is a
name. Core subjects deliver at most once, which is all that a link asks for. A message begins with
the name of the sender, after its length in one byte; then come datagrams, each after its length in
two bytes. (The name could be a reply subject; then servers would answer when a peer is away.)

Anybody whom the server lets in can publish under any name, and a server may be part of a cluster:
only a key keeps strangers out, so this is never taken for a loopback.
"""

from __future__ import annotations

import asyncio
import base64
import logging
import re
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from typing import Any, Final, cast

from beforehand.causality.ids import check_process
from beforehand.errors import LocalProtocolError, TransportError
from beforehand.runtime.transports.base import Address, Receive, Transport

DATAGRAM: Final = 16_000  # three to a message: larger ones gain little, and lose more at once
MOST_BYTES: Final = (
    60_000  # of a message; servers take a megabyte, but others wait for it meanwhile
)
MOST_WAITING: Final = 8 * 2**20  # bytes that wait here for the connection before they are lost
FLUSH_AFTER: Final = 2**18  # bytes for the server before we wait until it has taken them
CONNECT_SECONDS: Final = 5.0
RECONNECT_SECONDS: Final = 0.5  # between attempts: links wait about as long before they despair
FLUSH_SECONDS: Final = 1

_log: Final = logging.getLogger(__name__)

_PREFIX: Final = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")
_LENGTH: Final = 2  # bytes, enough for 65,535


class NatsTransport(Transport):
    """One process on the subjects of a NATS server."""

    def __init__(self, server: str, name: str, prefix: str = "beforehand") -> None:
        if not _PREFIX.fullmatch(prefix):
            raise LocalProtocolError(
                f"{prefix!a} cannot begin a subject; use letters, digits, - and _, with single dots"
            )
        self.datagram = DATAGRAM
        self.local = check_process(name)
        self._head = bytes([len(name.encode())]) + name.encode()
        self.lost = 0  # datagrams that could not be published
        self.malformed = 0  # messages on our subject that no transport like this one sent
        self._server = server
        self._prefix = prefix
        self._client: Any = None
        self._receive: Receive | None = None
        self._waiting: deque[tuple[str, bytes, int]] = deque()  # subject, content, datagrams in it
        self._waiting_bytes = 0
        self._publishing: asyncio.Task[None] | None = None
        self._leaving: asyncio.Task[None] | None = None

    async def open(self, receive: Receive) -> None:
        """Connect to the server and listen on the own subject."""
        self._client = await self._connect()
        self._receive = receive
        await self._client.subscribe(self._subject(self.local), cb=self._arrived)
        for _ in range(2):
            # A flush may overtake the subscription, but a second one not: then the server knows.
            await self._client.flush()

    async def _connect(self) -> Any:
        try:
            client = import_module("nats.aio.client").Client()
        except ImportError as error:
            raise TransportError(
                "NATS needs the package nats-py, which is not installed; "
                "`pip install 'beforehand[nats]'`"
            ) from error

        async def trouble(error: Exception) -> None:
            # At first, or the client would try for minutes; once it was connected, it may.
            if self._receive is None:
                raise error
            _log.warning("%s: %s", self._server, error)

        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                await client.connect(
                    self._server,
                    error_cb=trouble,
                    name=self.local,
                    reconnect_time_wait=RECONNECT_SECONDS,
                    max_reconnect_attempts=-1,
                )
        except Exception as error:  # of the system, of nats-py, or the address makes no sense to it
            with suppress(Exception):
                await client.close()
            reason = str(error) or type(error).__name__
            raise TransportError(
                f"{self._server}: no connection to a NATS server ({reason}); "
                "start one there, or check the address and the credentials in it"
            ) from error
        return client

    def send(self, address: Address, datagrams: list[bytes]) -> None:
        """Put datagrams into messages and publish them as soon as the connection takes them."""
        if self._receive is None:
            return
        subject = self._subject(cast(str, address))
        limit = min(MOST_BYTES, self._client.max_payload)
        for content, count in _pack(self._head, datagrams, limit):
            if not content or self._waiting_bytes + len(content) > MOST_WAITING:
                self.lost += count
                continue
            self._waiting.append((subject, content, count))
            self._waiting_bytes += len(content)
        if self._waiting and self._publishing is None:
            self._publishing = asyncio.get_running_loop().create_task(self._publish())

    def busy(self) -> bool:
        """Whether more waits than one flush takes: what was just sent always waits for a moment."""
        return self._waiting_bytes > FLUSH_AFTER

    async def resolve(self, text: str) -> Address:
        """The name of a process, which is its address."""
        try:
            return check_process(text)
        except LocalProtocolError as error:
            raise TransportError(f"an address on NATS is the name of a process: {error}") from error

    def address_bytes(self, address: Address) -> bytes:
        """The name."""
        return cast(str, address).encode()

    def describe(self, address: Address) -> str:
        """The name."""
        return cast(str, address)

    def close(self) -> None:
        """Receive nothing more; what was sent still goes out, see `wait_closed`."""
        if self._receive is None:
            return
        self._receive = None
        self._leaving = asyncio.get_running_loop().create_task(self._leave())

    async def wait_closed(self) -> None:
        """Wait until the connection is closed."""
        if self._leaving is not None:
            await self._leaving

    async def _leave(self) -> None:
        if self._publishing is not None:
            await self._publishing
        await self._client.close()

    async def _publish(self) -> None:
        unflushed = 0
        while self._waiting:
            subject, content, count = self._waiting.popleft()
            self._waiting_bytes -= len(content)
            unflushed += len(content)
            try:
                await self._client.publish(subject, content)
                if unflushed >= FLUSH_AFTER:
                    unflushed = 0
                    await self._client.flush(FLUSH_SECONDS)
            except Exception:  # disconnected, for whatever reason: the client connects again
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

    def _subject(self, name: str) -> str:
        token = base64.urlsafe_b64encode(name.encode()).rstrip(b"=").decode()
        return f"{self._prefix}.{token}"


def _pack(head: bytes, datagrams: list[bytes], limit: int) -> Iterator[tuple[bytes, int]]:
    """The contents of messages, and how many datagrams each has; empty if one is too long."""
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
    """The sender and the datagrams of a message; ValueError or LocalProtocolError if it has none."""
    at = 1 + content[0] if content else 0
    sender = check_process(content[1:at].decode())
    datagrams: list[bytes] = []
    while at != len(content):
        start = at + _LENGTH
        at = start + int.from_bytes(content[at:start], "big")
        if at > len(content):
            raise ValueError("cut off")
        datagrams.append(content[start:at])
    if not datagrams:
        raise ValueError("no datagram")
    return sender, datagrams
