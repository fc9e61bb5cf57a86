"""The console of a node: lines of input become messages and commands, a renderer shows the rest."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from beforehand import protocols
from beforehand.cli.node.renderers import Renderer
from beforehand.cli.node.stdin_lines import stdin_lines
from beforehand.errors import BeforehandError, LocalProtocolError, NodeClosedError, WouldBlock

if TYPE_CHECKING:
    from beforehand.runtime.node import Node

STANDARD_INPUT: Final = 0
MOST_WAITING: Final = 1024  # messages that wait for their receivers, before reading pauses
GOODBYE: Final = 0.5  # seconds to announce to the peers that we leave
EVERYBODY: Final = "*"
HELP: Final = """\
bob: hello           send to bob
bob, carol: hello    one message to both
*: hello             to everybody
/held                messages held in this node, and what they wait for
/peers               the peers and their state
/stats               the counters of this node
/drop bob            give up on bob for good, so that nothing waits for it
/quit                wait until all is delivered, and exit"""


async def talk(node: Node, renderer: Renderer, wait: float) -> Counter[str]:
    """Start the node and obey standard input until it ends; see `NodeConsole.run`."""
    return await NodeConsole(node, renderer).run(stdin_lines(STANDARD_INPUT), wait)


class NodeConsole:
    """Connects a user, or a script, with a node."""

    def __init__(self, node: Node, renderer: Renderer) -> None:
        self._node = node
        self._renderer = renderer
        self._outgoing: asyncio.Queue[tuple[str, bytes]] = asyncio.Queue(MOST_WAITING)
        self._sending = ""  # receivers of the message that is being sent
        self._commands: dict[str, Callable[[str], None]] = {
            "/help": lambda _: renderer.help(HELP),
            "/held": lambda _: renderer.held(node.held()),
            "/peers": lambda _: renderer.peers(node.stats()),
            "/stats": lambda _: renderer.stats(node.stats()),
            "/drop": node.drop,
        }

    async def run(self, lines: AsyncIterator[bytes], wait: float) -> Counter[str]:
        """Start the node, obey the input until it ends, wait up to `wait` seconds for deliveries, and
        close. Returns how many messages are not known to be delivered, by receiver.
        """
        node = await self._node.start()
        self._renderer.listening(node.name, node.address)
        tasks = [
            asyncio.ensure_future(task)
            for task in (self._obey(lines), self._show(), self._watch(), self._send_all())
        ]
        showing = tasks[1]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._outgoing.join()
                    await node.flush()
            undelivered = self._unsent() + Counter((await node.close(GOODBYE)).undelivered)
            await showing  # what has arrived is shown, too
        finally:
            for task in tasks:
                task.cancel()
            ends = await asyncio.gather(*tasks, return_exceptions=True)
            await node.close(GOODBYE)
        for end in ends:
            if isinstance(end, Exception):
                raise end
        return undelivered

    # ---- out ----

    async def _obey(self, lines: AsyncIterator[bytes]) -> None:
        async for line in lines:
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
                    self._renderer.note("the line names no receiver; write `bob: hello`, or /help")

    def _command(self, word: str, rest: str) -> None:
        command = self._commands.get(word)
        if command is None:
            self._renderer.note(f"there is no command {word}; /help lists them")
            return
        try:
            command(rest)
        except BeforehandError as problem:
            self._renderer.note(str(problem))

    async def _send_all(self) -> None:
        """Send messages in the order of the input; commands do not wait for them."""
        while True:
            self._sending, payload = await self._outgoing.get()
            try:
                await self._send(self._sending, payload)
            except NodeClosedError:
                return  # what is still queued is counted as undelivered
            except BeforehandError as problem:
                self._renderer.note(str(problem))
            self._sending = ""
            self._outgoing.task_done()

    async def _send(self, text: str, payload: bytes) -> None:
        to = self._receivers(text)
        try:
            self._node.try_send(to, payload)
        except WouldBlock:
            self._renderer.note(f"waiting for {text}: not connected yet, or slow")
            await self._node.send(to, payload)

    def _receivers(self, text: str) -> str | tuple[str, ...] | None:
        stats = self._node.stats()
        if text.strip() == EVERYBODY:
            if "broadcast" in protocols.describe(stats.protocol).casts:
                return None
            return tuple(name for name, peer in stats.peers.items() if peer.state != "dropped")
        names = tuple(name for part in text.split(",") if (name := part.strip()))
        for name in names:
            if name not in stats.peers and name != self._node.name:
                known = ", ".join(stats.peers) or "none"
                raise LocalProtocolError(f"there is no peer {name!r}; the peers are: {known}")
        return names[0] if len(names) == 1 else names

    def _unsent(self) -> Counter[str]:
        """The messages that the node never accepted."""
        waiting = Counter({self._sending.strip(): 1} if self._sending else {})
        while not self._outgoing.empty():
            waiting[self._outgoing.get_nowait()[0].strip()] += 1
        return waiting

    # ---- in ----

    async def _show(self) -> None:
        async for message in self._node:
            self._renderer.message(message)

    async def _watch(self) -> None:
        async for event in self._node.events():
            self._renderer.event(event)
