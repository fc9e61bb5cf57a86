"""A link that loses packets, for TCP as well as for us: a TUN device and a process that reads it.

What is sent to 10.77.0.2 comes out of the device, packet by packet of at most 1,500 bytes (the kernel
has cut large sends before, whether TCP's or UDP_SEGMENT's). The relay loses some, keeps the others for
a while, exchanges source and destination and puts them back: they arrive at 10.77.0.1 as if 10.77.0.2
had sent them. Exchanging two addresses does not change a checksum. So two processes on one machine,
which both live at 10.77.0.1 and call each other 10.77.0.2, talk through it.

It runs in a network namespace of its own (`unshare -rn`), so it needs no rights and changes nothing.
"""

from __future__ import annotations

import fcntl
import os
import random
import select
import struct
import subprocess
import sys
import time
from collections import deque
from pathlib import Path

from benchmarks.runtime_pairs import Setting, ready

NAMESPACE = ("unshare", "--map-root-user", "--net")  # in front of a command
HERE = "10.77.0.1"
THERE = "10.77.0.2"
DEVICE = "lossy0"
QUEUE = 5_000  # packets that wait for the relay; what it loses is meant to be chance, not overflow
TUNSETIFF = 0x400454CA  # names from linux/if_tun.h
IFF_TUN = 0x0001
IFF_NO_PI = 0x1000


def why_not() -> str:
    """Why there can be no relay here; empty if there can."""
    probe = [*NAMESPACE, sys.executable, "-c", _PROBE]
    try:
        ran = subprocess.run(probe, capture_output=True, text=True)
    except OSError as error:
        return str(error)
    return ran.stderr.strip().rpartition("\n")[2] if ran.returncode else ""


_PROBE = f"import os; os.close(os.open('/dev/net/tun', {os.O_RDWR})); os.execlp('ip', 'ip', 'link')"


def open_device(congestion: str) -> int:
    """Make the device, with its address and the congestion control of TCP over it; its file."""
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    wanted = struct.pack("16sH22x", DEVICE.encode(), IFF_TUN | IFF_NO_PI)
    fcntl.ioctl(device, TUNSETIFF, wanted)
    commands = [
        "link set lo up",
        f"addr add {HERE} dev {DEVICE}",
        f"link set {DEVICE} mtu 1500 txqueuelen {QUEUE} up",
        f"route add {THERE} dev {DEVICE}" + (congestion and f" congctl {congestion}"),
    ]
    for command in commands:
        subprocess.run(["ip", *command.split()], check=True)
    return device


def congestion_controls() -> list[str]:
    """Those of TCP that this kernel has; `cubic` is what most machines use."""
    return Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().split()


def relay(setting: Setting) -> None:
    """Carry packets until stopped."""
    device = open_device(setting.congestion)
    rng = random.Random(setting.seed)
    in_flight: deque[tuple[float, bytes]] = deque()
    ready()
    while True:
        wait = max(0.0, in_flight[0][0] - time.monotonic()) if in_flight else None
        if select.select([device], [], [], wait)[0]:
            due = time.monotonic() + setting.delay
            for packet in _arrived(device):
                if rng.random() >= setting.loss:
                    in_flight.append((due, _turned(packet)))
        now = time.monotonic()
        while in_flight and in_flight[0][0] <= now:
            os.write(device, in_flight.popleft()[1])


def _arrived(device: int) -> list[bytes]:
    """A few packets, so that those whose time has come are not kept waiting."""
    packets = []
    try:
        for _ in range(32):
            packet = os.read(device, 2048)
            if packet[0] >> 4 == 4:  # the kernel looks for IPv6 neighbours, too
                packets.append(packet)
    except BlockingIOError:
        pass
    return packets


def _turned(packet: bytes) -> bytes:
    """With source and destination exchanged."""
    return packet[:12] + packet[16:20] + packet[12:16] + packet[20:]
