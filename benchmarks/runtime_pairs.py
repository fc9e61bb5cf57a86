"""The processes of a measurement: how they are started, report their results, and are timed.

A *role* is a function of a benchmark that runs in a process of its own: a receiver, a sender, an echo.
It prints one line of JSON when it is ready and, if it is the one that measures, one with its result.
A role that does not measure works until it is stopped. `Window` counts what was delivered between two
moments: the first after some warming up, so that connecting and filling buffers is not counted.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

MAIN = Path(__file__).with_name("runtime.py")
LOOPBACK = "127.0.0.1"
GIVE_UP = 120  # seconds; longer than any role runs, so that an orphaned one ends by itself
ONE_THREAD = ("node", "udp")  # candidates whose processes have no other threads
LOOK = 256  # messages between two readings of the clock: one costs as much as a few messages


@dataclass(frozen=True)
class Setting:
    """The settings of a role; those that do not concern it keep their defaults."""

    listen: str = ""  # where this process is
    peer: str = ""  # where it finds the other one
    size: int = 32  # bytes of payload
    warm_up: float = 0.5  # seconds, from the first message on
    seconds: float = 2.0
    loop: str = "uvloop"
    pinned: bool = False  # two processes of one thread each get a core each
    core: int = -1  # to stay on; -1 for any
    encrypted: bool = False
    batch: bool = False  # send_many and receive_batch
    spin: float = 0.0  # seconds, of nodes
    count: int = 0  # messages or peers, where not time but a number is given
    loss: float = 0.0  # of the relay, as is the delay in seconds
    delay: float = 0.0
    congestion: str = ""  # control of TCP, where it matters
    seed: int = 0
    names: dict[str, str] | None = None  # addresses of all processes, where there are more than two
    name: str = ""  # one of them


Call = tuple[str, Setting]  # name of a role, and its setting


class Process:
    """A process that runs a role."""

    def __init__(self, call: Call, *, within: Sequence[str] = ()) -> None:
        self.name, setting = call
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115, closed by `stop`
        role = ("--role", self.name, json.dumps(asdict(setting)))
        self._process = subprocess.Popen(
            [*within, sys.executable, str(MAIN), *role],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )

    def read(self) -> Any:
        """The next value that it reports."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self._process.wait()
            self._errors.seek(0)
            raise SystemExit(
                f"{self.name} ended with code {self._process.returncode} instead of an answer:\n"
                f"{self._errors.read()}"
            )
        return json.loads(line)

    def write(self, value: Any) -> None:
        """Send a value to a role that waits for one."""
        assert self._process.stdin is not None
        print(json.dumps(value), file=self._process.stdin, flush=True)

    def pause(self) -> None:
        """Suspend it."""
        self._process.send_signal(signal.SIGSTOP)

    def stop(self) -> None:
        """Kill it."""
        self._process.kill()
        self._process.communicate()
        self._errors.close()


@contextmanager
def at_work(calls: Sequence[Call]) -> Iterator[list[Process]]:
    """Processes started one after the other, each once the one before is ready."""
    started: list[Process] = []
    try:
        for call in calls:
            process = Process(call)
            started.append(process)
            process.read()
        yield started
    finally:
        for process in started:
            process.stop()


def pair(
    name: str, near: str, far: str, setting: Setting, here: str = LOOPBACK, there: str = LOOPBACK
) -> list[Call]:
    """The calls of two roles of a candidate that find each other: `near` is to start first.

    The scheduler likes to put two processes that wake each other on one core, where they take turns.
    Those with threads of their own (pyzmq) are better off if they may use all cores.
    """
    first, second = free_port(here), free_port(here)
    cores = sorted(os.sched_getaffinity(0))
    alone = setting.pinned and name in ONE_THREAD and len(cores) > 1
    first_core, second_core = cores[:2] if alone else (-1, -1)
    return [
        (
            f"{name}_{near}",
            replace(setting, listen=f"{here}:{first}", peer=f"{there}:{second}", core=first_core),
        ),
        (
            f"{name}_{far}",
            replace(setting, listen=f"{here}:{second}", peer=f"{there}:{first}", core=second_core),
        ),
    ]


def rate_of(calls: Sequence[Call]) -> float:
    """Messages per second that the first of two roles has counted."""
    with at_work(calls) as (receiver, _):
        rate: float = receiver.read()
    return rate


def run_role(role: Any, setting: str) -> None:
    """Run a role, in the process that `Process` started."""
    signal.alarm(GIVE_UP)
    parsed = Setting(**json.loads(setting))
    if parsed.core >= 0:
        os.sched_setaffinity(0, {parsed.core})
    result = role(parsed)
    if result is not None:
        emit(result)


def emit(value: Any) -> None:
    """Report a value to the process that started this one."""
    print(json.dumps(value), flush=True)


def read_command() -> Any:
    """Wait for a value from that process."""
    return json.loads(sys.stdin.readline())


def ready() -> None:
    """Report that the next process may start."""
    emit("ready")


class Window:
    """Counts what is delivered in a span of time that begins after a warm-up."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._open_at = 0.0
        self._opened = 0.0
        self._messages = 0
        self.rate = 0.0  # messages per second, when it is over

    def add(self, messages: int, payload: bytes) -> bool:
        """Count deliveries, the last of them with this payload; returns whether the window is over."""
        now = time.perf_counter()
        if not self._open_at:
            if len(payload) != self._setting.size:
                raise SystemExit(f"{len(payload)} bytes arrived, {self._setting.size} were sent")
            self._open_at = now + self._setting.warm_up
        if now < self._open_at:
            return False
        if not self._opened:
            self._opened = now
            return False
        self._messages += messages
        if now < self._opened + self._setting.seconds:
            return False
        self.rate = self._messages / (now - self._opened)
        return True


def run_loop(main: Coroutine[Any, Any, Any], loop: str) -> Any:
    """Run a coroutine on the kind of loop that was chosen."""
    if loop == "uvloop":
        import uvloop

        factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    else:
        factory = asyncio.new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        return runner.run(main)


def best_loop() -> str:
    """The loop that `beforehand` uses: uvloop where it is installed."""
    try:
        import uvloop  # noqa: F401
    except ImportError:
        return "asyncio"
    return "uvloop"


def free_port(host: str = LOOPBACK) -> int:
    """A port that neither TCP nor UDP uses now."""
    while True:
        with (
            socket.socket(socket.AF_INET, socket.SOCK_STREAM) as tcp,
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp,
        ):
            tcp.bind((host, 0))
            port: int = tcp.getsockname()[1]
            try:
                udp.bind((host, port))
            except OSError:
                continue
            return port


def split(address: str) -> tuple[str, int]:
    """Host and port."""
    host, _, port = address.rpartition(":")
    return host, int(port)
