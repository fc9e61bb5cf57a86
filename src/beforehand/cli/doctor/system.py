"""The network, the limits and the clocks of this machine, by really trying."""

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from tempfile import gettempdir, mkstemp
from typing import Final

import beforehand
from beforehand.cli.doctor.diagnosis import Diagnosis
from beforehand.runtime.transports import offload
from beforehand.runtime.transports.udp import BUFFER

LOOPBACK: Final = "127.0.0.1"
PATIENCE: Final = 1.0  # seconds for datagrams on loopback, which take microseconds
DATAGRAM: Final = 1_000  # bytes
DATAGRAMS: Final = 4
DESCRIPTORS: Final = (
    1_024  # open files: Spark and clusters of a hundred processes need about as many
)
COARSE: Final = 1e-3  # seconds: clocks of this resolution blur round trips


def diagnoses() -> Iterator[Diagnosis]:
    """In the order in which they may hurt."""
    yield _udp()
    yield _offload()
    yield from _buffers()
    yield _descriptors()
    yield _temporary_files()
    yield _monotonic_clock()
    yield _wall_clock()


# ---- network ----


def _sockets() -> tuple[socket.socket, socket.socket]:
    """Two UDP sockets, the first of which is bound to loopback."""
    receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    receiver.bind((LOOPBACK, 0))
    receiver.settimeout(PATIENCE)
    return receiver, socket.socket(socket.AF_INET, socket.SOCK_DGRAM)


def _udp() -> Diagnosis:
    try:
        receiver, sender = _sockets()
        with receiver, sender:
            sender.sendto(b"ping", receiver.getsockname())
            receiver.recv(offload.MAX_BYTES)
    except OSError as problem:
        remedy = f"allow UDP on {LOOPBACK}, for instance in the firewall or the container"
        cost = "no nodes and no clusters on this machine"
        return Diagnosis("UDP", "broken", f"no datagrams on loopback ({problem})", cost, remedy)
    return Diagnosis("UDP", "ok", "datagrams pass on loopback")


def _offload() -> Diagnosis:
    """Send several datagrams with one call, and see in how many pieces they arrive."""
    name = "UDP offload"
    cost = "one system call per datagram, so that nodes send and receive several times slower"
    remedy = "use Linux 5.0 or newer"
    try:
        receiver, sender = _sockets()
        with receiver, sender:
            gathers = offload.enable_gro(receiver)
            if not offload.can_segment(sender):
                return Diagnosis(name, "limited", "no UDP_SEGMENT", cost, remedy)
            sender.sendmsg(
                [bytes(DATAGRAM * DATAGRAMS)],
                offload.segments_of(DATAGRAM),
                0,
                receiver.getsockname(),
            )
            pieces = received = 0
            while received < DATAGRAM * DATAGRAMS:
                data = receiver.recvmsg(offload.MAX_BYTES, offload.CONTROL_SPACE)[0]
                pieces, received = pieces + 1, received + len(data)
    except OSError as problem:
        return Diagnosis(name, "limited", f"UDP_SEGMENT is refused ({problem})", cost, remedy)
    if gathers and pieces < DATAGRAMS:
        return Diagnosis(name, "ok", "UDP_SEGMENT and UDP_GRO work on loopback")
    cost = "one system call per received datagram"
    return Diagnosis(name, "limited", "UDP_SEGMENT works, UDP_GRO does not", cost, remedy)


def _buffers() -> Iterator[Diagnosis]:
    """What the kernel grants of the buffers that the UDP transport asks for."""
    for option, what, limit in (
        (socket.SO_RCVBUF, "receive", "net.core.rmem_max"),
        (socket.SO_SNDBUF, "send", "net.core.wmem_max"),
    ):
        name = f"{what} buffer"
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            try:
                sock.setsockopt(socket.SOL_SOCKET, option, BUFFER)
                # Linux doubles the value, for its own accounting.
                granted = min(sock.getsockopt(socket.SOL_SOCKET, option) // 2, BUFFER)
            except OSError:  # some systems reject large sizes instead of capping them
                granted = sock.getsockopt(socket.SOL_SOCKET, option)
        detail = f"{granted // 1024:,} KiB of the {BUFFER // 1024:,} KiB that nodes ask for"
        if granted >= BUFFER:
            yield Diagnosis(name, "ok", detail)
        else:
            cost = "bursts lose datagrams, which are sent again later"
            yield Diagnosis(name, "limited", detail, cost, f"`sudo sysctl -w {limit}={BUFFER}`")


# ---- limits ----


def _descriptors() -> Diagnosis:
    try:
        import resource
    except ImportError:  # not POSIX
        return Diagnosis("open files", "ok", "no limit known on this system")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= DESCRIPTORS:
        return Diagnosis("open files", "ok", "no limit" if soft < 0 else f"up to {soft:,}")
    allowed = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(DESCRIPTORS, hard)
    cost = "large clusters and Spark run out of them"
    return Diagnosis("open files", "limited", f"up to {soft:,}", cost, f"`ulimit -n {allowed}`")


def _temporary_files() -> Diagnosis:
    name = "temporary files"
    try:
        descriptor, path = mkstemp(prefix="beforehand-doctor-")
    except OSError as problem:
        cost = "no commands that need room on disk"
        return Diagnosis(name, "broken", f"{problem}", cost, "point TMPDIR at a writable folder")
    with open(descriptor, "wb"):
        Path(path).unlink()
    free = shutil.disk_usage(gettempdir()).free
    return Diagnosis(name, "ok", f"{gettempdir()}, {free / 1e9:,.1f} GB free")


# ---- clocks ----


def _monotonic_clock() -> Diagnosis:
    resolution = time.get_clock_info("monotonic").resolution
    detail = f"resolution {resolution * 1e9:,.0f} ns"
    if resolution < COARSE:
        return Diagnosis("monotonic clock", "ok", detail)
    return Diagnosis("monotonic clock", "limited", detail, "latencies are rounded to that", "none")


def _wall_clock() -> Diagnosis:
    name, now = "wall clock", datetime.now(UTC)
    detail = now.isoformat(timespec="seconds")
    cost = "times in traces and notes are wrong; order does not depend on them"
    remedy = "set the clock, for instance with `sudo timedatectl set-ntp true`"
    installed = datetime.fromtimestamp(Path(beforehand.__file__).stat().st_mtime, UTC)
    if now < installed:
        return Diagnosis(name, "limited", f"{detail}, before our files were written", cost, remedy)
    synchronised = _is_synchronised()
    if synchronised is False:
        cost = "times of several machines may differ; order does not depend on them"
        return Diagnosis(name, "limited", f"{detail}, not synchronised", cost, remedy)
    return Diagnosis(name, "ok", detail + (", synchronised" if synchronised else ""))


def _is_synchronised() -> bool | None:
    """What systemd says; None if there is none."""
    if shutil.which("timedatectl") is None:
        return None
    command = ["timedatectl", "show", "--property=NTPSynchronized", "--value"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=2, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return {"yes": True, "no": False}.get(answer.stdout.strip())
