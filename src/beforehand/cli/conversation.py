"""A person, or a script, that talks through a node: lines in, lines out.

Messages and answers go to the standard output, what happens to peers to the standard error. What
a peer sends is shown as text and nothing else: whatever could move the cursor, change colours or
turn the direction of writing is escaped.
"""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import fields
from typing import TYPE_CHECKING, Final

from rich.console import Console
from rich.text import Text

from beforehand import protocols
from beforehand.cli.typed import typed_lines
from beforehand.errors import BeforehandError, LocalProtocolError, NodeClosedError, WouldBlock

if TYPE_CHECKING:
    from beforehand.runtime.node import Node

STANDARD_INPUT: Final = 0
MOST_WAITING: Final = 1024  # messages that wait for their receivers, before the input waits too
GOODBYE: Final = 0.5  # seconds for telling the others that we leave
EVERYBODY: Final = "*"
HELP: Final = """\
bob: hello           send to bob
bob, carol: hello    one message to both
*: hello             to everybody
/held                what waits inside this node, and for what
/peers               the others, and how they are
/stats               the counters of this node
/drop bob            give up on bob for ever, so that nothing waits for him
/quit                wait until all is delivered, and leave"""

Say = Callable[[str], None]


async def talk(node: Node, wait: float) -> Counter[str]:
    """Start the node and do what the standard input says until it ends; see `Conversation.run`."""
    out, notes = Console(highlight=False), Console(stderr=True, highlight=False)
    conversation = Conversation(
        node,
        lambda line: out.print(Text(line), soft_wrap=True),
        lambda line: notes.print(Text(line, style="dim"), soft_wrap=True),
    )
    return await conversation.run(typed_lines(STANDARD_INPUT), wait)


class Conversation:
    """What goes back and forth between somebody and a node."""

    def __init__(self, node: Node, say: Say, note: Say) -> None:
        self._node = node
        self._say = say
        self._note = note
        self._outgoing: asyncio.Queue[tuple[str, bytes]] = asyncio.Queue(MOST_WAITING)
        self._sending = ""  # for whom the message is that waits for room
        self._commands: dict[str, Callable[[str], None]] = {
            "/help": lambda _: self._say(HELP),
            "/held": self._show_held,
            "/peers": self._show_peers,
            "/stats": self._show_stats,
            "/drop": self._drop,
        }

    async def run(self, typed: AsyncIterator[bytes], wait: float) -> Counter[str]:
        """Start the node, obey until the input ends, wait up to so many seconds for what is under
        way, and leave. Returns how many messages are not known to be delivered, by receiver.
        """
        node = await self._node.start()
        self._note(f"{node.name} listens at {node.address}")
        tasks = [
            asyncio.ensure_future(each)
            for each in (self._obey(typed), self._show(), self._watch(), self._send_all())
        ]
        obeying, showing = tasks[:2]
        self._end_at_interrupt(obeying)
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._outgoing.join()
                    await node.flush()
            left = self._unsent() + Counter((await node.close(GOODBYE)).undelivered)
            await showing  # what has come is shown, too
        finally:
            for task in tasks:
                task.cancel()
            ends = await asyncio.gather(*tasks, return_exceptions=True)
            await node.close(0.0)
        for end in ends:
            if isinstance(end, Exception):
                raise end
        return left

    def _end_at_interrupt(self, obeying: asyncio.Future[None]) -> None:
        """The first ^C ends the input; a second one ends the process."""
        loop = asyncio.get_running_loop()

        def interrupted() -> None:
            loop.remove_signal_handler(signal.SIGINT)
            obeying.cancel()

        with suppress(
            NotImplementedError, RuntimeError, ValueError
        ):  # not here, or not this thread
            loop.add_signal_handler(signal.SIGINT, interrupted)

    # ---- out ----

    async def _obey(self, typed: AsyncIterator[bytes]) -> None:
        async for line in typed:
            line = line.rstrip(b"\r\n")
            if line.startswith(b"/"):
                word, _, rest = line.decode(errors="replace").strip().partition(" ")
                if word == "/quit":
                    return
                self._command(word, rest.strip())
            elif line.strip():
                to, colon, payload = line.partition(b":")
                if colon:
                    await self._outgoing.put(
                        (to.decode(errors="replace"), payload.removeprefix(b" "))
                    )
                else:
                    self._note("whom is that for? Write `bob: hello`; /help tells more")

    def _command(self, word: str, rest: str) -> None:
        command = self._commands.get(word)
        if command is None:
            self._note(f"there is no {shown(word)}; /help tells what there is")
            return
        try:
            command(rest)
        except BeforehandError as problem:
            self._note(shown(str(problem)))

    async def _send_all(self) -> None:
        """Messages go out in the order in which they were typed, while commands pass them by."""
        while True:
            self._sending, payload = await self._outgoing.get()
            try:
                await self._send(self._sending, payload)
            except NodeClosedError:
                return  # the end has come, and what waits is counted
            except BeforehandError as problem:
                self._note(shown(str(problem)))
            self._sending = ""
            self._outgoing.task_done()

    async def _send(self, text: str, payload: bytes) -> None:
        to = self._receivers(text)
        try:
            self._node.try_send(to, payload)
        except WouldBlock:
            self._note(f"waiting for {shown(text)}: not there yet, or behind")
            await self._node.send(to, payload)

    def _receivers(self, text: str) -> str | tuple[str, ...] | None:
        stats = self._node.stats()
        if text.strip() == EVERYBODY:
            if "broadcast" in protocols.describe(stats.protocol).casts:
                return None
            return tuple(name for name, peer in stats.peers.items() if peer.state != "dropped")
        names = tuple(name for each in text.split(",") if (name := each.strip()))
        for name in names:
            if name not in stats.peers and name != self._node.name:
                known = ", ".join(stats.peers) or "nobody"
                raise LocalProtocolError(f"there is no peer {name!r}; there is {known}")
        return names[0] if len(names) == 1 else names

    def _unsent(self) -> Counter[str]:
        """What was typed and never accepted."""
        waiting = Counter({self._sending.strip(): 1} if self._sending else {})
        while not self._outgoing.empty():
            waiting[self._outgoing.get_nowait()[0].strip()] += 1
        return waiting

    # ---- in ----

    async def _show(self) -> None:
        async for message in self._node:
            text = message.payload.decode(errors="replace")
            self._say(f"{shown(message.sender)}: {shown(text)}")

    async def _watch(self) -> None:
        async for event in self._node.events():
            self._note(shown(str(event)))

    # ---- commands ----

    def _show_held(self, _: str) -> None:
        held = self._node.held()
        for each in held:
            self._say(shown(str(each)))
        if not held:
            self._say("nothing waits")

    def _show_peers(self, _: str) -> None:
        for name, peer in self._node.stats().peers.items():
            self._say(
                f"{shown(name)}: {peer.state}, round trip {peer.round_trip_ms:.1f} ms; "
                f"{peer.accepted:,} sent, {peer.delivered:,} of them delivered; "
                f"{peer.received:,} received"
            )

    def _show_stats(self, _: str) -> None:
        stats = self._node.stats()
        for each in fields(stats):
            if each.name != "peers":
                self._say(f"{each.name.replace('_', ' ')}: {getattr(stats, each.name)}")

    def _drop(self, name: str) -> None:
        self._node.drop(name)


def shown(text: str) -> str:
    """Text of others, safe for a terminal."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
