"""`beforehand node`: what is typed is sent, what arrives is shown, and nothing else is."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from beforehand import Node
from beforehand.cli import app
from beforehand.cli.node.console import NodeConsole
from beforehand.cli.node.renderers import JsonRenderer, TextRenderer
from beforehand.cli.node.stdin_lines import READ, stdin_lines
from beforehand.results.format import printable
from beforehand.runtime.events import DROPPED, SILENT, UP
from beforehand.runtime.transports import MemoryNetwork

runner = CliRunner()
PATIENCE = 20  # seconds for what takes milliseconds


class Person:
    """Somebody at a terminal, in this process: types lines, and sees others."""

    def __init__(self, network: MemoryNetwork, name: str, peers: list[str]) -> None:
        self.node = Node(
            name, transport=network.transport(name), peers={peer: peer for peer in peers}
        )
        self.seen: list[str] = []
        self.noted: list[str] = []
        self._typed: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._changed = asyncio.Event()
        self._left: asyncio.Task[Counter[str]] | None = None

    def sit_down(self, wait: float = 10.0) -> None:
        """Start to talk."""
        conversation = NodeConsole(self.node, TextRenderer(self._see, self._note))
        self._left = asyncio.create_task(conversation.run(self._lines(), wait))

    def type(self, *lines: str | bytes) -> None:
        """Type some lines."""
        for line in lines:
            self._typed.put_nowait(line.encode() if isinstance(line, str) else line)

    async def leave(self) -> Counter[str]:
        """No more lines; what was not delivered."""
        assert self._left is not None
        self._typed.put_nowait(None)
        return await self._left

    async def sees(self, line: str) -> None:
        """Wait until a line is shown that contains this."""
        await self._until(lambda: any(line in each for each in self.seen))

    async def notes(self, line: str) -> None:
        """Wait until there is such a note."""
        await self._until(lambda: any(line in each for each in self.noted))

    async def _until(self, happened: Callable[[], bool]) -> None:
        while not happened():
            self._changed.clear()
            await self._changed.wait()

    async def _lines(self) -> AsyncIterator[bytes]:
        while (line := await self._typed.get()) is not None:
            yield line

    def _see(self, line: str) -> None:
        self.seen.append(line)
        self._changed.set()

    def _note(self, line: str) -> None:
        self.noted.append(line)
        self._changed.set()


def talk(script: Callable[[Person, Person], Awaitable[None]]) -> None:
    """Alice and bob sit down and do what the script says; they are in touch from its start on."""

    async def main() -> None:
        network = MemoryNetwork(seed=1)
        alice, bob = Person(network, "alice", ["bob"]), Person(network, "bob", ["alice"])
        for person in (alice, bob):
            person.sit_down()
        await alice.notes("bob: up")
        await bob.notes("alice: up")
        await script(alice, bob)

    asyncio.run(asyncio.wait_for(main(), PATIENCE))


def test_what_one_types_the_other_sees() -> None:
    """Both ways, to one, to several, to oneself and to everybody; at the end nothing is left."""

    async def script(alice: Person, bob: Person) -> None:
        alice.type("bob: hello: you", "bob,alice:to both", "", "*: all")
        await bob.sees("alice: all")
        bob.type("alice: hi\r")
        await alice.sees("bob: hi")
        assert not await alice.leave()
        assert not await bob.leave()
        assert bob.seen == ["alice: hello: you", "alice: to both", "alice: all"]
        assert alice.seen == ["alice: to both", "bob: hi"]
        assert bob.noted[0] == "bob listens at bob"

    talk(script)


def test_a_peer_cannot_write_to_the_terminal() -> None:
    """Control characters, broken text and changes of direction arrive as what they are called."""

    async def script(alice: Person, bob: Person) -> None:
        alice.type(b"bob: \x1b[2J\xff\x07", "bob: a\u202eb\tc", "bob: end")
        await bob.sees("end")
        await alice.leave()
        await bob.leave()
        assert bob.seen[:2] == ["alice: \\x1b[2J\ufffd\\x07", "alice: a\\u202eb\\tc"]
        assert all(line.isprintable() for line in bob.seen)

    talk(script)
    assert printable("two\nlines") == "two\\nlines"


def test_a_wrong_line_is_told_and_the_next_one_works() -> None:
    """Nobody of that name, no receiver at all, no such command: a sentence each."""

    async def script(alice: Person, bob: Person) -> None:
        alice.type("hello", "dave: hello", "/fly", "/drop dave", "bob: still there")
        await bob.sees("alice: still there")
        await alice.notes("there is no peer 'dave' to drop")
        notes = "\n".join(alice.noted)
        assert "the line names no receiver; write `bob: hello`" in notes
        assert "there is no peer 'dave'; the peers are: bob" in notes
        assert "there is no command /fly; /help lists them" in notes
        await alice.leave()
        await bob.leave()

    talk(script)


def test_commands_show_what_the_node_knows() -> None:
    """/peers, /stats, /held and /help answer; who is dropped cannot be sent to."""

    async def script(alice: Person, bob: Person) -> None:
        alice.type("bob: one")
        await bob.sees("one")
        await alice.node.flush()
        alice.type("/peers", "/held", "/stats", "/help", "/drop bob", "bob: two")
        await alice.notes("bob was dropped")
        seen = "\n".join(alice.seen)
        assert "bob: up, round trip" in seen and "1 sent, 1 of them delivered; 0 received" in seen
        assert "nothing is held" in seen
        assert "messages sent: 1" in seen and "protocol: hybrid-sps" in seen
        assert "/drop bob            give up on bob" in seen
        assert any(note.startswith("bob: dropped") for note in alice.noted)
        assert not await alice.leave()
        assert bob.seen == ["alice: one"]
        bob.type("/quit")
        await bob.leave()

    talk(script)


def test_what_waits_for_somebody_who_does_not_come_is_told() -> None:
    """Commands pass waiting messages by, and at the end the messages are counted as not delivered."""

    async def main() -> None:
        alice = Person(MemoryNetwork(seed=1), "alice", ["bob"])
        alice.sit_down(wait=0.05)
        alice.type("bob: one", "bob: two", "/peers")
        await alice.notes("waiting for bob: not connected yet, or slow")
        await alice.sees("bob: awaited")
        assert await alice.leave() == Counter({"bob": 2})
        assert len(alice.noted) == 2

    asyncio.run(asyncio.wait_for(main(), PATIENCE))


def test_programs_get_an_object_per_line() -> None:
    """What happened, what arrived (also what is no text) and the answers, in one stream."""

    async def main() -> list[dict[str, Any]]:
        network = MemoryNetwork(seed=1)
        bob = Person(network, "bob", ["alice"])
        bob.sit_down()
        node = Node("alice", transport=network.transport("alice"), peers={"bob": "bob"})
        told: list[str] = []
        typed: asyncio.Queue[bytes | None] = asyncio.Queue()

        async def lines() -> AsyncIterator[bytes]:
            while (line := await typed.get()) is not None:
                yield line

        async def until(words: str) -> None:
            while not any(words in each for each in told):
                await asyncio.sleep(0.001)

        talking = asyncio.create_task(
            NodeConsole(node, JsonRenderer(told.append)).run(lines(), 10.0)
        )
        await bob.notes("alice: up")
        bob.type("alice: a\u202eb", b"alice: \xff\x00")
        await until("base64")
        for line in (b"dave: x", b"/peers", b"/held", b"/stats", b"/help", None):
            typed.put_nowait(line)
        await talking
        await bob.leave()
        assert all(line.isascii() and line.isprintable() for line in told)
        return [json.loads(line) for line in told]

    told = asyncio.run(asyncio.wait_for(main(), PATIENCE))
    assert told[0] == {"kind": "listening", "name": "alice", "address": "alice"}
    by_kind = {each["kind"]: each for each in told}
    assert by_kind["event"]["peer"] == "bob" and by_kind["event"]["event"] in (UP, SILENT, DROPPED)
    assert [each for each in told if each["kind"] == "message"] == [
        {"kind": "message", "sender": "bob", "number": 1, "text": "a\u202eb"},
        {"kind": "message", "sender": "bob", "number": 2, "base64": "/wA="},
    ]
    assert "there is no peer 'dave'" in by_kind["note"]["text"]
    assert by_kind["peers"]["peers"]["bob"]["received"] == 2
    assert by_kind["stats"]["messages_delivered"] == 2 and by_kind["held"]["messages"] == []
    assert "/quit" in by_kind["help"]["text"]


@pytest.mark.parametrize("kind", ["pipe", "file"])
def test_lines_come_from_anything(kind: str) -> None:
    """Long ones, many of them, and a last one without an end, from pipes and files alike."""
    expected = [b"x" * (READ + 1), b"", *(b"%d" % number for number in range(60_000)), b"last"]
    with tempfile.TemporaryFile() as file:
        file.write(b"\n".join(expected))
        file.seek(0)
        if kind == "file":
            assert asyncio.run(_all_lines(file.fileno())) == expected
        else:
            with subprocess.Popen(["cat"], stdin=file, stdout=subprocess.PIPE) as cat:
                assert cat.stdout is not None
                assert asyncio.run(_all_lines(cat.stdout.fileno())) == expected


async def _all_lines(descriptor: int) -> list[bytes]:
    return [line async for line in stdin_lines(descriptor)]


def start(*arguments: str) -> subprocess.Popen[str]:
    """The command in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "beforehand", "node", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "NO_COLOR": "1"},
    )


def test_two_processes_talk_through_pipes(tmp_path: Path) -> None:
    """With a key, over UDP; the end of the input is the end of the node, when all is delivered.

    One of them tells a program, the other a person.
    """
    key = tmp_path / "cluster.key"
    assert runner.invoke(app, ["keygen", "--out", str(key)]).exit_code == 0
    trace = tmp_path / "trace"
    with start("bob", "--key", str(key), "--trace", str(trace)) as bob:
        assert bob.stderr is not None
        address = bob.stderr.readline().removeprefix("bob listens at ").strip()
        with start("alice", "--peer", f"bob={address}", "--key", str(key), "--json") as alice:
            out, notes = alice.communicate("bob: hello\nbob: bye\n", timeout=PATIENCE)
            told = [json.loads(line) for line in out.splitlines()]
            assert (alice.returncode, notes) == (0, ""), notes
            assert (told[0]["kind"], told[0]["name"]) == ("listening", "alice")
            assert {"kind": "event", "event": "up", "peer": "bob", "detail": address} in told
            assert told[-1] == {"kind": "end", "undelivered": {}}
        out, notes = bob.communicate("/quit\n", timeout=PATIENCE)
    assert (bob.returncode, out) == (0, "alice: hello\nalice: bye\n"), notes
    assert "alice: dropped, it has left" in notes
    assert list(trace.iterdir())


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--peer", "=127.0.0.1:1"], "--peer '=127.0.0.1:1': write it like bob=127.0.0.1:7002"),
        (["--peer", "bob="], "--peer 'bob=': write it like bob=127.0.0.1:7002, or bob"),
        (["--peer", "alice=127.0.0.1:1"], "a node isn't a peer of itself"),
        (["--protocol", "hybird"], "did you mean hybrid?"),
        (["--protocol", "tree"], "tree runs on an overlay, which this command cannot describe"),
        (["--key", "/nowhere/key"], "the key file '/nowhere/key' cannot be read"),
        (["--listen", "nowhere"], "nowhere"),
        (["--listen", "0.0.0.0:0"], "without --key a node only listens to this machine"),
        (["--nats", "nats://127.0.0.1:1"], "without --key a node only listens to this machine"),
        (["--nats", "nats://127.0.0.1:1", "--insecure"], "cannot connect to a NATS server"),
        (["--drop-after", "0"], "drop_after=0"),
    ],
)
def test_what_cannot_be_is_refused(arguments: list[str], problem: str) -> None:
    """One sentence and exit code 2."""
    result = runner.invoke(app, ["node", "alice", *arguments])
    assert result.exit_code == 2, result.output
    assert problem in result.stderr
    assert len(result.stderr.splitlines()) == 1
