"""UDP_SEGMENT and UDP_GRO: many datagrams per system call, which is where the time goes.

Linux takes a buffer and a size, and sends it as datagrams of that size (the last may be shorter);
and it hands over datagrams that arrived together as one buffer and a size. Python has no names for
either, hence the numbers. Elsewhere, and in older kernels, `can_segment` and `enable_gro` say no.
"""

from __future__ import annotations

import errno
import socket
import struct
import sys
from typing import Final

SOL_UDP: Final = 17
UDP_SEGMENT: Final = 103
UDP_GRO: Final = 104

# Per system call. Kernels take 64 datagrams, and together they must fit into one IP packet: 65,535
# bytes with headers. More than 40 gain nothing that can be measured.
MOST_DATAGRAMS: Final = 40
MOST_BYTES: Final = 65_000

# How a system says that it does not send batches, or not of this size on this way.
REFUSALS: Final = frozenset(
    {errno.EINVAL, errno.EIO, errno.EMSGSIZE, errno.ENOPROTOOPT, errno.EOPNOTSUPP}
)

# A control message with the one integer of UDP_GRO; room for a second one does no harm.
CONTROL_SPACE: Final = 64

_SIZE: Final = struct.Struct("=H")
_RECEIVED_SIZE: Final = struct.Struct("=i")

ControlMessages = list[tuple[int, int, bytes]]


def can_segment(sock: socket.socket) -> bool:
    """Whether the kernel knows UDP_SEGMENT; whether a network card takes it shows only later."""
    if sys.platform != "linux":
        return False  # the number may mean something else there
    try:
        sock.getsockopt(SOL_UDP, UDP_SEGMENT)
    except OSError:
        return False
    return True


def enable_gro(sock: socket.socket) -> bool:
    """Ask for datagrams to be handed over together; whether that is possible."""
    if sys.platform != "linux":
        return False
    try:
        sock.setsockopt(SOL_UDP, UDP_GRO, 1)
    except OSError:
        return False
    return True


def pack(datagrams: list[bytes]) -> list[list[bytes]]:
    """The datagrams in groups that one call can send: of equal length, the last maybe shorter."""
    groups: list[list[bytes]] = []
    group: list[bytes] = []
    size = length = total = 0  # of the datagrams of the group, of its last one, and of all
    for datagram in datagrams:
        before, length = length, len(datagram)
        if (
            length > size
            or before < size  # a shorter one has ended the group
            or len(group) == MOST_DATAGRAMS
            or total + length > MOST_BYTES
            or not length  # the kernel would not see it among the others
        ):
            group = []
            groups.append(group)
            size, total = length, 0
        group.append(datagram)
        total += length
    return groups


def segments_of(size: int) -> ControlMessages:
    """The control message that asks for datagrams of this size."""
    return [(SOL_UDP, UDP_SEGMENT, _SIZE.pack(size))]


def size_in(control: ControlMessages) -> int:
    """The size of the datagrams in a buffer, or 0 if it holds a single one."""
    for level, kind, data in control:
        if level == SOL_UDP and kind == UDP_GRO and len(data) >= _RECEIVED_SIZE.size:
            size: int = _RECEIVED_SIZE.unpack_from(data)[0]
            return size
    return 0


def split(data: bytes, size: int) -> list[bytes]:
    """The datagrams in a buffer that was handed over with this size."""
    if size <= 0 or len(data) <= size:
        return [data]
    return [data[start : start + size] for start in range(0, len(data), size)]
