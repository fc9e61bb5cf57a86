"""UDP, over IPv4 and IPv6: one socket, read and written from the event loop.

Several datagrams share a system call where the kernel can do that (`offload`). Whether it really can
shows when a batch is sent: the first one that is refused, although its datagrams then pass one by
one, ends it for good. Nothing is lost by that.
"""

from __future__ import annotations

import asyncio
import errno
import os
import socket
from collections import deque
from contextlib import suppress
from time import monotonic_ns
from typing import Final, cast

from beforehand.errors import LocalProtocolError, TransportError
from beforehand.runtime.transports import addresses, offload
from beforehand.runtime.transports.base import Address, Receive, Transport

# Fits the 1,500 bytes of Ethernet with IPv6 and a tunnel or two on the way.
DATAGRAM: Final = 1_400
LOOPBACK_DATAGRAM: Final = (
    8_000  # within a machine datagrams may be large; beyond, little is gained
)
LEAST_DATAGRAM: Final = 576  # what every host of the Internet takes
MOST_DATAGRAM: Final = 65_000  # UDP itself ends at 65,507

BUFFER: Final = 4 * 2**20  # asked for in the kernel: 15 ms of a gigabyte or two per second
MOST_WAITING: Final = 8 * 2**20  # bytes that wait here for the kernel before they are lost

READ: Final = 65_536  # more than one call can give
ALONE: Final = 700  # bytes of a read below which there is hardly more to come in this turn
READS_PER_TURN: Final = 8  # then others have their turn, and acknowledgements go out

# The local side must be (host, port), or (host, port, flow, scope) for IPv6.
SocketAddress = tuple[str, int] | tuple[str, int, int, int]


_give_way = getattr(os, "sched_yield", None)  # not on Windows


class UdpTransport(Transport):
    """Datagrams over UDP; an address is what the socket module says it is."""

    def __init__(self, listen: str = "127.0.0.1:0", datagram: int | None = None) -> None:
        self._host, self._port = addresses.parse(listen)
        if datagram is None:
            datagram = LOOPBACK_DATAGRAM if self.loopback() else DATAGRAM
        if not LEAST_DATAGRAM <= datagram <= MOST_DATAGRAM:
            raise LocalProtocolError(
                f"datagrams of {datagram} bytes cannot be used; "
                f"choose from {LEAST_DATAGRAM} to {MOST_DATAGRAM}, {DATAGRAM} if in doubt"
            )
        self.datagram = datagram
        self.refused = 0  # datagrams that the system did not take
        self.segmenting = False  # several datagrams per call, when sending
        self.gathering = False  # and when receiving
        self._listen = listen
        self._receive: Receive
        self._loop: asyncio.AbstractEventLoop
        self._socket: socket.socket | None = None
        self._waiting: deque[tuple[SocketAddress, list[bytes]]] = deque()
        self._waiting_bytes = 0

    async def open(self, receive: Receive) -> None:
        """Bind the socket and start to listen."""
        self._loop = asyncio.get_running_loop()
        self._receive = receive
        sock = await self._bind()
        try:
            sock.setblocking(False)
            for option in (socket.SO_RCVBUF, socket.SO_SNDBUF):
                with suppress(
                    OSError
                ):  # some systems refuse what is too much instead of capping it
                    sock.setsockopt(socket.SOL_SOCKET, option, BUFFER)
            self.segmenting = offload.can_segment(sock)
            self.gathering = offload.enable_gro(sock)
            self._loop.add_reader(sock.fileno(), self._readable)
        except NotImplementedError as error:
            sock.close()
            raise TransportError(
                "this event loop cannot wait for UDP sockets; on Windows, "
                "run under asyncio.SelectorEventLoop instead of the default"
            ) from error
        self._socket = sock
        self._host, self._port = sock.getsockname()[:2]
        self.local = addresses.show(self._host, self._port)

    async def _bind(self) -> socket.socket:
        family, address = await self._look_up(
            self._listen, self._host, self._port, socket.AF_UNSPEC
        )
        try:
            sock = socket.socket(family, socket.SOCK_DGRAM)
        except OSError as error:
            raise TransportError(
                f"{self._listen}: no such sockets here ({error.strerror})"
            ) from error
        try:
            if family == socket.AF_INET6:
                with suppress(OSError):  # then IPv6 only
                    sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            sock.bind(address)
        except OSError as error:
            sock.close()
            remedy = {
                errno.EADDRINUSE: "stop the other program, or choose another port; 0 takes a free one",
                errno.EADDRNOTAVAIL: "choose an address of this machine",
                errno.EACCES: "choose a port from 1,024 on, or ask for the right to use this one",
            }.get(error.errno or 0, "check the address")
            raise TransportError(
                f"{self._listen}: cannot listen there ({error.strerror}); {remedy}"
            ) from error
        return sock

    def send(self, address: Address, datagrams: list[bytes]) -> None:
        """Hand datagrams to the kernel, or keep them while it does not take any."""
        if self._socket is None:
            return
        target = cast(SocketAddress, address)
        if len(datagrams) == 1 and not self._waiting:
            try:
                self._socket.sendto(datagrams[0], target)
                return
            except OSError:
                pass  # whatever it is, it is seen to below
        groups = offload.pack(datagrams) if self.segmenting else [[each] for each in datagrams]
        for group in groups:
            if self._waiting or not self._push(self._socket, target, group):
                self._wait(self._socket, target, group)

    def busy(self) -> bool:
        """Whether the kernel's buffer is full."""
        return bool(self._waiting)

    async def resolve(self, text: str) -> Address:
        """The address of a host and a port, of the family of the own socket."""
        host, port = addresses.parse(text)
        if not port:
            raise TransportError(f"{text!a} has port 0, where nobody listens; give the peer's port")
        family = socket.AF_UNSPEC if self._socket is None else self._socket.family
        return (await self._look_up(text, host, port, family))[1]

    async def _look_up(
        self, text: str, host: str, port: int, family: int
    ) -> tuple[int, SocketAddress]:
        loop = asyncio.get_running_loop()
        # An IPv6 socket reaches IPv4 hosts by addresses of its own family that stand for theirs.
        flags = socket.AI_V4MAPPED if family == socket.AF_INET6 else 0
        try:
            found = await loop.getaddrinfo(
                host, port, family=family, type=socket.SOCK_DGRAM, flags=flags
            )
        except (OSError, ValueError) as error:  # a UnicodeError is a ValueError
            reason = getattr(error, "strerror", None) or str(error)
            remedy = (
                "listen on an IPv6 address to reach it"
                if family == socket.AF_INET and ":" in host
                else "check its spelling, and that names can be looked up here"
            )
            raise TransportError(
                f"{text!a}: no address of this host ({reason}); {remedy}"
            ) from error
        return found[0][0], cast(SocketAddress, found[0][4])

    def address_bytes(self, address: Address) -> bytes:
        """Host, port and scope; the rest is no part of where somebody is."""
        host, port, *rest = cast(SocketAddress, address)
        return f"{host} {port} {rest[1] if rest else 0}".encode()

    def describe(self, address: Address) -> str:
        """The address as host:port."""
        return addresses.show(*cast(SocketAddress, address)[:2])

    def loopback(self) -> bool:
        """Whether the socket is, or will be, bound to this machine only."""
        return addresses.is_loopback(self._host)

    def close(self) -> None:
        """Close the socket; what waited here is lost."""
        if self._socket is None:
            return
        self._loop.remove_reader(self._socket.fileno())
        self._loop.remove_writer(self._socket.fileno())
        self._socket.close()
        self._socket = None
        self._waiting.clear()

    def linger(self, nanoseconds: int) -> bool:
        """Look for datagrams that come within this time, without sleeping; whether some did."""
        until = monotonic_ns() + nanoseconds
        while self._read() < 0:
            if monotonic_ns() >= until:
                return False
            if _give_way is not None:
                _give_way()  # the one who is to answer may want this very core
        return True

    def _readable(self) -> None:
        for _ in range(READS_PER_TURN):
            if self._read() < ALONE:
                return  # to find out would cost another call; if there is more, the loop comes back

    def _read(self) -> int:
        """One read; its bytes, or -1 if there was nothing."""
        if self._socket is None:  # closed by whom we just told
            return -1
        try:
            if self.gathering:
                data, control, _, address = self._socket.recvmsg(READ, offload.CONTROL_SPACE)
                size = offload.size_in(control) if control else 0
            else:
                data, address = self._socket.recvfrom(READ)
                size = 0
        except (BlockingIOError, InterruptedError):
            return -1
        except OSError:
            return ALONE  # an earlier datagram did not reach anybody; links find out by themselves
        self._receive(offload.split(data, size) if size else [data], address)
        return len(data)

    def _push(self, sock: socket.socket, address: SocketAddress, group: list[bytes]) -> bool:
        """Send a group; False if the kernel's buffer is full. What it refuses otherwise is lost."""
        if len(group) > 1 and self.segmenting:
            try:
                sock.sendmsg(group, offload.segments_of(len(group[0])), 0, address)
                return True
            except (BlockingIOError, InterruptedError):
                return False
            except OSError as error:
                return self._push_singly(sock, address, group, error.errno)
        while group:
            try:
                sock.sendto(group[0], address)
            except (BlockingIOError, InterruptedError):
                return False
            except OSError:
                self.refused += 1
            del group[0]
        return True

    def _push_singly(
        self, sock: socket.socket, address: SocketAddress, group: list[bytes], why: int | None
    ) -> bool:
        """Send one by one what was refused together, and find out what was wrong with it."""
        before = self.refused
        self.segmenting = False
        taken = self._push(sock, address, group)
        if why not in offload.REFUSALS or self.refused > before:
            self.segmenting = True  # a passing trouble, or a wrong address, and not the batch
        return taken

    def _wait(self, sock: socket.socket, address: SocketAddress, group: list[bytes]) -> None:
        """Keep a group until the kernel takes more, unless too much is kept already."""
        size = sum(map(len, group))
        if self._waiting_bytes + size > MOST_WAITING:
            self.refused += len(group)
            return
        if not self._waiting:
            self._loop.add_writer(sock.fileno(), self._writable)
        self._waiting.append((address, group))
        self._waiting_bytes += size

    def _writable(self) -> None:
        while self._socket is not None and self._waiting:
            address, group = self._waiting[0]
            size = sum(map(len, group))
            if not self._push(self._socket, address, group):
                self._waiting_bytes -= size - sum(map(len, group))  # some may have gone
                return
            self._waiting.popleft()
            self._waiting_bytes -= size
        if self._socket is not None:
            self._loop.remove_writer(self._socket.fileno())
