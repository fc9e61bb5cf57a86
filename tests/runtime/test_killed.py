"""Real processes, one of them killed with -9: the others finish; started again, it takes part."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

COUNT = 600
PATIENCE = 30.0  # seconds after which the test gives up; it takes a few
ROOT = Path(__file__).resolve().parents[2]


class Processes:
    """Three processes, and what each of them printed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ports = free_ports(["alice", "bob", "carol"])
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        self.outputs: dict[str, Path] = {}

    def start(self, name: str, life: int = 1) -> None:
        """Start a process, or start it again."""
        self.outputs[name] = self.folder / f"{name}-{life}.txt"
        peers = [f"{peer}={port}" for peer, port in self.ports.items() if peer != name]
        command = [sys.executable, "-m", "tests.runtime.killed_process", name]
        with self.outputs[name].open("wb") as output:
            self.running[name] = subprocess.Popen(
                [*command, str(self.ports[name]), str(COUNT), *peers], stdout=output, cwd=ROOT
            )

    def lines(self, name: str) -> list[str]:
        """What a process has printed so far, whole lines only."""
        return self.outputs[name].read_text().split("\n")[:-1]

    def numbers(self, name: str, sender: str) -> list[int]:
        """The numbers that a process has received from a sender, in order."""
        rows = [line.split() for line in self.lines(name)]
        return [int(fields[1]) for fields in rows if fields[0] == sender]

    def wait_for_line(self, name: str, line: str) -> None:
        """Wait until a process has printed a line."""
        deadline = time.monotonic() + PATIENCE
        while line not in self.lines(name):
            assert time.monotonic() < deadline, f"{name} says {self.lines(name)[-3:]}, not {line}"
            time.sleep(0.01)

    def wait_for_numbers(self, name: str, sender: str, count: int) -> None:
        """Wait until a process has received this many numbers from a sender."""
        deadline = time.monotonic() + PATIENCE
        while len(self.numbers(name, sender)) < count:
            assert time.monotonic() < deadline, f"{name} says {self.lines(name)[-3:]}"
            time.sleep(0.01)

    def kill(self, name: str) -> None:
        """With SIGKILL, so that it cannot close its sessions."""
        process = self.running.pop(name)
        process.kill()
        process.wait()


def free_ports(names: list[str]) -> dict[str, int]:
    """Ports that nobody uses at the moment."""
    sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in names]
    for sock in sockets:
        sock.bind(("127.0.0.1", 0))
    ports = [sock.getsockname()[1] for sock in sockets]
    for sock in sockets:
        sock.close()
    return dict(zip(names, ports, strict=True))


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    """Processes that do not outlive the test."""
    processes = Processes(tmp_path)
    yield processes
    for name in list(processes.running):
        processes.kill(name)


def test_one_is_killed_in_the_middle_and_comes_back(processes: Processes) -> None:
    """The others exchange all of their messages, and then those with its next incarnation."""
    everything = list(range(COUNT))
    for name in processes.ports:
        processes.start(name)
    for name in ("alice", "carol"):
        processes.wait_for_numbers(name, "bob", 1)
    processes.kill("bob")
    delivered = [len(processes.numbers(name, "bob")) for name in ("alice", "carol")]
    assert min(delivered) < COUNT, "bob had finished before it was killed"
    for name, other in (("alice", "carol"), ("carol", "alice")):
        processes.wait_for_line(name, "event dropped bob")
        processes.wait_for_line(name, "done sending")
        processes.wait_for_numbers(name, other, COUNT)
        assert processes.numbers(name, other) == everything
        first_life = processes.numbers(name, "bob")
        assert first_life == everything[: len(first_life)]
    before = {name: len(processes.numbers(name, "bob")) for name in ("alice", "carol")}
    processes.start("bob", life=2)
    for name, count in before.items():
        processes.wait_for_numbers(name, "bob", count + COUNT)
        assert processes.numbers(name, "bob")[count:] == everything
