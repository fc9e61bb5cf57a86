"""UDP over IPv4 and IPv6: one socket, read and written from the event loop.

Several datagrams share a system call where the kernel supports it (`offload`). Whether it does shows
only when a batch is sent: the first batch that is refused, although its datagrams then pass one by
one, disables batching for good. No datagram is lost by that.
"""

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

# Fits 1,500 bytes of Ethernet with IPv6 and a tunnel or two.
DATAGRAM: Final = 1_400
LOOPBACK_DATAGRAM: Final = 8_000  # loopback carries large datagrams; larger ones gain little
MIN_DATAGRAM: Final = 576  # what every host of the Internet accepts
MAX_DATAGRAM: Final = 65_000  # the limit of UDP is 65,507

BUFFER: Final = 4 * 2**20  # of the kernel: about 15 ms at 2 Gbit/s
MAX_QUEUED: Final = 8 * 2**20  # bytes queued for the kernel before datagrams are dropped

READ: Final = 65_536  # more than one call can return
SMALL_READ: Final = 700  # bytes; after a smaller read there is hardly more to come in this turn
READS_PER_TURN: Final = 8  # then other tasks run, and acknowledgements are sent

# (host, port), or (host, port, flow, scope) for IPv6.
SocketAddress = tuple[str, int] | tuple[str, int, int, int]

_yield_core = getattr(os, "sched_yield", None)  # not on Windows


class UdpTransport(Transport):
    """Datagrams over UDP; addresses are those of the socket module."""

    def __init__(self, listen: str = "127.0.0.1:0", datagram: int | None = None) -> None:
        self._host, self._port = addresses.parse(listen)
        if datagram is None:
            datagram = LOOPBACK_DATAGRAM if self.loopback() else DATAGRAM
        if not MIN_DATAGRAM <= datagram <= MAX_DATAGRAM:
            raise LocalProtocolError(
                f"datagrams of {datagram} bytes cannot be used; "
                f"choose from {MIN_DATAGRAM} to {MAX_DATAGRAM}, {DATAGRAM} if in doubt"
            )
        self.datagram = datagram
        self.refused = 0  # datagrams that the kernel rejected
        self.segmenting = False  # batching on send (UDP_SEGMENT)
        self.gathering = False  # batching on receive (UDP_GRO)
        self._listen = listen
        self._receive: Receive
        self._loop: asyncio.AbstractEventLoop
        self.socket: socket.socket | None = None  # while it is open
        self._queued: deque[tuple[SocketAddress, list[bytes]]] = deque()
        self.queued_bytes = 0  # waiting for the kernel

    async def open(self, receive: Receive) -> None:
        """Bind the socket and start receiving."""
        self._loop = asyncio.get_running_loop()
        self._receive = receive
        sock = await self._bind()
        try:
            sock.setblocking(False)
            for option in (socket.SO_RCVBUF, socket.SO_SNDBUF):
                with suppress(OSError):  # some systems reject large sizes instead of capping them
                    sock.setsockopt(socket.SOL_SOCKET, option, BUFFER)
            self.segmenting = offload.can_segment(sock)
            self.gathering = offload.enable_gro(sock)
            self._loop.add_reader(sock.fileno(), self._readable)
        except NotImplementedError as error:
            sock.close()
            raise TransportError(
                "this event loop does not support UDP sockets; on Windows, "
                "use asyncio.SelectorEventLoop instead of the default"
            ) from error
        self.socket = sock
        self._host, self._port = sock.getsockname()[:2]
        self.local = addresses.format_address(self._host, self._port)

    async def _bind(self) -> socket.socket:
        family, address = await self._look_up(self._listen, socket.AF_UNSPEC)
        try:
            sock = socket.socket(family, socket.SOCK_DGRAM)
        except OSError as error:
            raise TransportError(
                f"{self._listen}: cannot create such a socket ({error.strerror})"
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
                errno.EACCES: "choose a port from 1,024 on, or get permission for this one",
            }.get(error.errno or 0, "check the address")
            raise TransportError(
                f"{self._listen}: cannot listen ({error.strerror}); {remedy}"
            ) from error
        return sock

    def send(self, address: Address, datagrams: list[bytes]) -> None:
        """Hand datagrams to the kernel, or queue them while its buffer is full."""
        if self.socket is None:
            return
        target = cast(SocketAddress, address)
        if len(datagrams) == 1 and not self._queued:
            try:
                self.socket.sendto(datagrams[0], target)
                return
            except OSError:
                pass  # handled below
        groups = (
            offload.pack(datagrams) if self.segmenting else [[datagram] for datagram in datagrams]
        )
        for group in groups:
            if self._queued or not self._push(self.socket, target, group):
                self._queue(self.socket, target, group)

    def busy(self) -> bool:
        """Whether the kernel's buffer is full."""
        return bool(self._queued)

    async def resolve(self, text: str) -> Address:
        """Resolve host:port in the address family of our socket."""
        if not addresses.parse(text)[1]:
            raise TransportError(
                f"{text!a} has port 0, which cannot be sent to; give the peer's port"
            )
        family = socket.AF_UNSPEC if self.socket is None else self.socket.family
        return (await self._look_up(text, family))[1]

    async def _look_up(self, text: str, family: int) -> tuple[int, SocketAddress]:
        host, port = addresses.parse(text)
        loop = asyncio.get_running_loop()
        # An IPv6 socket reaches IPv4 hosts by mapped addresses.
        flags = socket.AI_V4MAPPED if family == socket.AF_INET6 else 0
        try:
            infos = await loop.getaddrinfo(
                host, port, family=family, type=socket.SOCK_DGRAM, flags=flags
            )
        except (OSError, ValueError) as error:  # a UnicodeError is a ValueError
            reason = getattr(error, "strerror", None) or str(error)
            remedy = (
                "listen on an IPv6 address to reach it"
                if family == socket.AF_INET and ":" in host
                else "check its spelling, and that name resolution works here"
            )
            raise TransportError(
                f"{text!a}: cannot resolve this host ({reason}); {remedy}"
            ) from error
        return infos[0][0], cast(SocketAddress, infos[0][4])

    def address_bytes(self, address: Address) -> bytes:
        """Host, port and scope; the flow label does not identify a peer."""
        host, port, *rest = cast(SocketAddress, address)
        return f"{host} {port} {rest[1] if rest else 0}".encode()

    def describe(self, address: Address) -> str:
        """The address as host:port."""
        return addresses.format_address(*cast(SocketAddress, address)[:2])

    def loopback(self) -> bool:
        """Whether the socket is, or will be, bound to a loopback address."""
        return addresses.is_loopback(self._host)

    def close(self) -> None:
        """Close the socket; queued datagrams are lost."""
        if self.socket is None:
            return
        self._loop.remove_reader(self.socket.fileno())
        self._loop.remove_writer(self.socket.fileno())
        self.socket.close()
        self.socket = None
        self._queued.clear()

    def spin(self, nanoseconds: int) -> bool:
        """Poll for datagrams for this long without sleeping; whether any arrived."""
        until = monotonic_ns() + nanoseconds
        while self._read() < 0:
            if monotonic_ns() >= until:
                return False
            if _yield_core is not None:
                _yield_core()  # the peer that is to answer may be waiting for this core
        return True

    def _readable(self) -> None:
        for _ in range(READS_PER_TURN):
            if self._read() < SMALL_READ:
                return  # checking for more would cost a call; the loop comes back if there is

    def _read(self) -> int:
        """Read once; the number of bytes, or -1 for nothing."""
        if self.socket is None:  # closed by the callback
            return -1
        try:
            if self.gathering:
                data, control, _, address = self.socket.recvmsg(READ, offload.CONTROL_SPACE)
                size = offload.size_in(control) if control else 0
            else:
                data, address = self.socket.recvfrom(READ)
                size = 0
        except (BlockingIOError, InterruptedError):
            return -1
        except OSError:
            return SMALL_READ  # an ICMP error for an earlier datagram; links detect losses
        self._receive(offload.split(data, size) if size else [data], address)
        return len(data)

    def _push(self, sock: socket.socket, address: SocketAddress, group: list[bytes]) -> bool:
        """Send a group; False if the kernel's buffer is full. Datagrams rejected otherwise are lost."""
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
        """Send a refused batch one by one, to find out whether batching is to blame."""
        before = self.refused
        self.segmenting = False
        taken = self._push(sock, address, group)
        if why not in offload.REFUSALS or self.refused > before:
            self.segmenting = True  # a transient error or a bad address, not the batch
        return taken

    def _queue(self, sock: socket.socket, address: SocketAddress, group: list[bytes]) -> None:
        """Queue a group until the kernel accepts more, unless too much is queued already."""
        size = sum(map(len, group))
        if self.queued_bytes + size > MAX_QUEUED:
            self.refused += len(group)
            return
        if not self._queued:
            self._loop.add_writer(sock.fileno(), self._writable)
        self._queued.append((address, group))
        self.queued_bytes += size

    def _writable(self) -> None:
        while self.socket is not None and self._queued:
            address, group = self._queued[0]
            size = sum(map(len, group))
            if not self._push(self.socket, address, group):
                self.queued_bytes -= size - sum(map(len, group))  # some may have been sent
                return
            self._queued.popleft()
            self.queued_bytes -= size
        if self.socket is not None:
            self._loop.remove_writer(self.socket.fileno())
