"""`beforehand node`: typed lines are sent, delivered messages are printed, and nothing else is."""

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
TIMEOUT = 20  # seconds, for exchanges that take milliseconds


class ConsoleUser:
    """A node console in this process, with scripted input and recorded output."""

    def __init__(self, network: MemoryNetwork, name: str, peers: list[str]) -> None:
        self.node = Node(
            name, transport=network.transport(name), peers={peer: peer for peer in peers}
        )
        self.printed_lines: list[str] = []
        self.printed_notes: list[str] = []
        self._input: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._changed = asyncio.Event()
        self._console_task: asyncio.Task[Counter[str]] | None = None

    def start(self, wait: float = 10.0) -> None:
        """Start the console."""
        console = NodeConsole(self.node, TextRenderer(self._print_line, self._print_note))
        self._console_task = asyncio.create_task(console.run(self._stdin(), wait))

    def type(self, *lines: str | bytes) -> None:
        """Enter lines on standard input."""
        for line in lines:
            self._input.put_nowait(line.encode() if isinstance(line, str) else line)

    async def leave(self) -> Counter[str]:
        """End the input; return the number of undelivered messages per peer."""
        assert self._console_task is not None
        self._input.put_nowait(None)
        return await self._console_task

    async def wait_for_line(self, text: str) -> None:
        """Wait until a line that contains this text is printed."""
        await self._until(lambda: any(text in line for line in self.printed_lines))

    async def wait_for_note(self, text: str) -> None:
        """Wait until a note that contains this text is printed."""
        await self._until(lambda: any(text in note for note in self.printed_notes))

    async def _until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            self._changed.clear()
            await self._changed.wait()

    async def _stdin(self) -> AsyncIterator[bytes]:
        while (line := await self._input.get()) is not None:
            yield line

    def _print_line(self, line: str) -> None:
        self.printed_lines.append(line)
        self._changed.set()

    def _print_note(self, note: str) -> None:
        self.printed_notes.append(note)
        self._changed.set()


def run_conversation(script: Callable[[ConsoleUser, ConsoleUser], Awaitable[None]]) -> None:
    """Run a script with alice and bob once they are connected."""

    async def main() -> None:
        network = MemoryNetwork(seed=1)
        alice, bob = ConsoleUser(network, "alice", ["bob"]), ConsoleUser(network, "bob", ["alice"])
        for user in (alice, bob):
            user.start()
        await alice.wait_for_note("bob: up")
        await bob.wait_for_note("alice: up")
        await script(alice, bob)

    asyncio.run(asyncio.wait_for(main(), TIMEOUT))


def test_typed_lines_are_delivered() -> None:
    """In both directions: to one peer, several peers, oneself and everybody; nothing is left."""

    async def script(alice: ConsoleUser, bob: ConsoleUser) -> None:
        alice.type("bob: hello: you", "bob,alice:to both", "", "*: all")
        await bob.wait_for_line("alice: all")
        bob.type("alice: hi\r")
        await alice.wait_for_line("bob: hi")
        assert not await alice.leave()
        assert not await bob.leave()
        assert bob.printed_lines == ["alice: hello: you", "alice: to both", "alice: all"]
        assert alice.printed_lines == ["alice: to both", "bob: hi"]
        assert bob.printed_notes[0] == "bob listens at bob"

    run_conversation(script)


def test_a_peer_cannot_write_to_the_terminal() -> None:
    """Control characters, invalid text and bidirectional overrides are printed as escapes."""

    async def script(alice: ConsoleUser, bob: ConsoleUser) -> None:
        alice.type(b"bob: \x1b[2J\xff\x07", "bob: a\u202eb\tc", "bob: end")
        await bob.wait_for_line("end")
        await alice.leave()
        await bob.leave()
        assert bob.printed_lines[:2] == ["alice: \\x1b[2J\ufffd\\x07", "alice: a\\u202eb\\tc"]
        assert all(line.isprintable() for line in bob.printed_lines)

    run_conversation(script)
    assert printable("two\nlines") == "two\\nlines"


def test_an_invalid_line_is_reported_and_the_next_one_works() -> None:
    """An unknown peer, a line without a receiver, an unknown command: one sentence each."""

    async def script(alice: ConsoleUser, bob: ConsoleUser) -> None:
        alice.type("hello", "dave: hello", "/fly", "/drop dave", "bob: still there")
        await bob.wait_for_line("alice: still there")
        await alice.wait_for_note("there is no peer 'dave' to drop")
        notes = "\n".join(alice.printed_notes)
        assert "the line names no receiver; write `bob: hello`" in notes
        assert "there is no peer 'dave'; the peers are: bob" in notes
        assert "there is no command /fly; /help lists them" in notes
        await alice.leave()
        await bob.leave()

    run_conversation(script)


def test_commands_print_the_state_of_the_node() -> None:
    """/peers, /stats, /held and /help print results; a dropped peer can't be sent to."""

    async def script(alice: ConsoleUser, bob: ConsoleUser) -> None:
        alice.type("bob: one")
        await bob.wait_for_line("one")
        await alice.node.flush()
        alice.type("/peers", "/held", "/stats", "/help", "/drop bob", "bob: two")
        await alice.wait_for_note("bob was dropped")
        printed = "\n".join(alice.printed_lines)
        assert "bob: up, round trip" in printed
        assert "1 sent, 1 of them delivered; 0 received" in printed
        assert "nothing is held" in printed
        assert "messages sent: 1" in printed and "protocol: hybrid-sps" in printed
        assert "/drop bob            give up on bob" in printed
        assert any(note.startswith("bob: dropped") for note in alice.printed_notes)
        assert not await alice.leave()
        assert bob.printed_lines == ["alice: one"]
        bob.type("/quit")
        await bob.leave()

    run_conversation(script)


def test_messages_to_an_unreachable_peer_are_reported() -> None:
    """Commands aren't blocked by waiting messages, which count as undelivered at the end."""

    async def main() -> None:
        alice = ConsoleUser(MemoryNetwork(seed=1), "alice", ["bob"])
        alice.start(wait=0.05)
        alice.type("bob: one", "bob: two", "/peers")
        await alice.wait_for_note("waiting for bob: not connected yet, or slow")
        await alice.wait_for_line("bob: awaited")
        assert await alice.leave() == Counter({"bob": 2})
        assert len(alice.printed_notes) == 2

    asyncio.run(asyncio.wait_for(main(), TIMEOUT))


def test_json_output_has_one_object_per_line() -> None:
    """Events, messages (binary ones too) and answers to commands, in one stream."""

    async def main() -> list[dict[str, Any]]:
        network = MemoryNetwork(seed=1)
        bob = ConsoleUser(network, "bob", ["alice"])
        bob.start()
        node = Node("alice", transport=network.transport("alice"), peers={"bob": "bob"})
        printed: list[str] = []
        stdin: asyncio.Queue[bytes | None] = asyncio.Queue()

        async def lines() -> AsyncIterator[bytes]:
            while (line := await stdin.get()) is not None:
                yield line

        async def until(text: str) -> None:
            while not any(text in line for line in printed):
                await asyncio.sleep(0.001)

        console = asyncio.create_task(
            NodeConsole(node, JsonRenderer(printed.append)).run(lines(), 10.0)
        )
        await bob.wait_for_note("alice: up")
        bob.type("alice: a\u202eb", b"alice: \xff\x00")
        await until("base64")
        for line in (b"dave: x", b"/peers", b"/held", b"/stats", b"/help", None):
            stdin.put_nowait(line)
        await console
        await bob.leave()
        assert all(line.isascii() and line.isprintable() for line in printed)
        return [json.loads(line) for line in printed]

    objects = asyncio.run(asyncio.wait_for(main(), TIMEOUT))
    assert objects[0] == {"kind": "listening", "name": "alice", "address": "alice"}
    by_kind = {item["kind"]: item for item in objects}
    assert by_kind["event"]["peer"] == "bob" and by_kind["event"]["event"] in (UP, SILENT, DROPPED)
    assert [item for item in objects if item["kind"] == "message"] == [
        {"kind": "message", "sender": "bob", "number": 1, "text": "a\u202eb"},
        {"kind": "message", "sender": "bob", "number": 2, "base64": "/wA="},
    ]
    assert "there is no peer 'dave'" in by_kind["note"]["text"]
    assert by_kind["peers"]["peers"]["bob"]["received"] == 2
    assert by_kind["stats"]["messages_delivered"] == 2 and by_kind["held"]["messages"] == []
    assert "/quit" in by_kind["help"]["text"]


@pytest.mark.parametrize("kind", ["pipe", "file"])
def test_lines_are_read_from_pipes_and_files(kind: str) -> None:
    """Long lines, many lines, and a last line without a newline."""
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


def start_process(*arguments: str) -> subprocess.Popen[str]:
    """Run the command in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "beforehand", "node", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "NO_COLOR": "1"},
    )


def test_two_processes_exchange_messages_through_pipes(tmp_path: Path) -> None:
    """With a key, over UDP; at the end of its input a node delivers everything and exits.

    One node prints JSON, the other text.
    """
    key = tmp_path / "cluster.key"
    assert runner.invoke(app, ["keygen", "--out", str(key)]).exit_code == 0
    trace = tmp_path / "trace"
    with start_process("bob", "--key", str(key), "--trace", str(trace)) as bob:
        assert bob.stderr is not None
        address = bob.stderr.readline().removeprefix("bob listens at ").strip()
        with start_process(
            "alice", "--peer", f"bob={address}", "--key", str(key), "--json"
        ) as alice:
            out, notes = alice.communicate("bob: hello\nbob: bye\n", timeout=TIMEOUT)
            objects = [json.loads(line) for line in out.splitlines()]
            assert (alice.returncode, notes) == (0, ""), notes
            assert (objects[0]["kind"], objects[0]["name"]) == ("listening", "alice")
            assert {"kind": "event", "event": "up", "peer": "bob", "detail": address} in objects
            assert objects[-1] == {"kind": "end", "undelivered": {}}
        out, notes = bob.communicate("/quit\n", timeout=TIMEOUT)
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
def test_invalid_options_are_rejected(arguments: list[str], problem: str) -> None:
    """One sentence and exit code 2."""
    result = runner.invoke(app, ["node", "alice", *arguments])
    assert result.exit_code == 2, result.output
    assert problem in result.stderr
    assert len(result.stderr.splitlines()) == 1
