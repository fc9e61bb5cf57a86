"""UDP_SEGMENT and UDP_GRO: many datagrams per system call, because calls dominate the cost.

Linux splits one buffer into datagrams of a given size (the last may be shorter), and coalesces
datagrams that arrive together into one buffer and a size. Python has no names for either option,
hence the numbers. Elsewhere, and on older kernels, `can_segment` and `enable_gro` return False.
"""

import errno
import socket
import struct
import sys
from contextlib import suppress
from typing import Final

SOL_UDP: Final = 17
UDP_SEGMENT: Final = 103
UDP_GRO: Final = 104

# Per system call. Kernels accept 64 datagrams, which together must fit into one IP packet: 65,535
# bytes with headers. More than 40 make no measurable difference.
MAX_DATAGRAMS: Final = 40
MAX_BYTES: Final = 65_000

# Errors that mean that batches, or batches of this size on this path, are not supported.
REFUSALS: Final = frozenset(
    {errno.EINVAL, errno.EIO, errno.EMSGSIZE, errno.ENOPROTOOPT, errno.EOPNOTSUPP}
)

# Enough for the control message of UDP_GRO, with room to spare.
CONTROL_SPACE: Final = 64

_SIZE: Final = struct.Struct("=H")
_RECEIVED_SIZE: Final = struct.Struct("=i")

ControlMessages = list[tuple[int, int, bytes]]


def can_segment(sock: socket.socket) -> bool:
    """Whether the kernel supports UDP_SEGMENT; whether the network card does shows only later."""
    with suppress(OSError):
        if sys.platform == "linux":  # elsewhere the number may mean something else
            sock.getsockopt(SOL_UDP, UDP_SEGMENT)
            return True
    return False


def enable_gro(sock: socket.socket) -> bool:
    """Ask the kernel to coalesce datagrams on receive; whether it can."""
    with suppress(OSError):
        if sys.platform == "linux":  # elsewhere the number may mean something else
            sock.setsockopt(SOL_UDP, UDP_GRO, 1)
            return True
    return False


def pack(datagrams: list[bytes]) -> list[list[bytes]]:
    """Group datagrams that one call can send: of equal length, the last possibly shorter."""
    groups: list[list[bytes]] = []
    group: list[bytes] = []
    size = length = total = 0  # of the group's datagrams, its last one, and all of it
    for datagram in datagrams:
        before, length = length, len(datagram)
        if (
            length > size
            or before < size  # a shorter datagram ends the group
            or len(group) == MAX_DATAGRAMS
            or total + length > MAX_BYTES
            or not length  # an empty datagram would vanish in a batch
        ):
            group = []
            groups.append(group)
            size, total = length, 0
        group.append(datagram)
        total += length
    return groups


def segments_of(size: int) -> ControlMessages:
    """The control message that requests datagrams of this size."""
    return [(SOL_UDP, UDP_SEGMENT, _SIZE.pack(size))]


def size_in(control: ControlMessages) -> int:
    """The size of the datagrams in a coalesced buffer, or 0 for a single datagram."""
    for level, kind, data in control:
        if level == SOL_UDP and kind == UDP_GRO and len(data) >= _RECEIVED_SIZE.size:
            size: int = _RECEIVED_SIZE.unpack_from(data)[0]
            return size
    return 0


def split(data: bytes, size: int) -> list[bytes]:
    """Split a coalesced buffer into datagrams of this size."""
    if size <= 0 or len(data) <= size:
        return [data]
    return [data[start : start + size] for start in range(0, len(data), size)]
