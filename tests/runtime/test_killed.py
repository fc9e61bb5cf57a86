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


class Cast:
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
        """The numbers that a process got from a sender, in order."""
        words = [line.split() for line in self.lines(name)]
        return [int(each[1]) for each in words if each[0] == sender]

    def wait_for_line(self, name: str, line: str) -> None:
        """Until a process has printed something."""
        deadline = time.monotonic() + PATIENCE
        while line not in self.lines(name):
            assert time.monotonic() < deadline, f"{name} says {self.lines(name)[-3:]}, not {line}"
            time.sleep(0.01)

    def wait_for_numbers(self, name: str, sender: str, count: int) -> None:
        """Until a process has got so many numbers of a sender."""
        deadline = time.monotonic() + PATIENCE
        while len(self.numbers(name, sender)) < count:
            assert time.monotonic() < deadline, f"{name} says {self.lines(name)[-3:]}"
            time.sleep(0.01)

    def kill(self, name: str) -> None:
        """With -9: it has no time for a word."""
        process = self.running.pop(name)
        process.kill()
        process.wait()


def free_ports(names: list[str]) -> dict[str, int]:
    """Ports that nobody uses at the moment."""
    sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in names]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return dict(zip(names, ports, strict=True))


@pytest.fixture
def cast(tmp_path: Path) -> Iterator[Cast]:
    """Processes that do not outlive the test."""
    cast = Cast(tmp_path)
    yield cast
    for name in list(cast.running):
        cast.kill(name)


def test_one_is_killed_in_the_middle_and_comes_back(cast: Cast) -> None:
    """The others finish what they have to tell each other, and then talk to its next life."""
    everything = list(range(COUNT))
    for name in cast.ports:
        cast.start(name)
    for name in ("alice", "carol"):
        cast.wait_for_numbers(name, "bob", 1)
    cast.kill("bob")
    heard = [len(cast.numbers(name, "bob")) for name in ("alice", "carol")]
    assert min(heard) < COUNT, "bob was done before he was killed"
    for name, other in (("alice", "carol"), ("carol", "alice")):
        cast.wait_for_line(name, "event dropped bob")
        cast.wait_for_line(name, "done sending")
        cast.wait_for_numbers(name, other, COUNT)
        assert cast.numbers(name, other) == everything
        first_life = cast.numbers(name, "bob")
        assert first_life == everything[: len(first_life)]
    before = {name: len(cast.numbers(name, "bob")) for name in ("alice", "carol")}
    cast.start("bob", life=2)
    for name, count in before.items():
        cast.wait_for_numbers(name, "bob", count + COUNT)
        assert cast.numbers(name, "bob")[count:] == everything
