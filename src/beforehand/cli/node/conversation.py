"""A person, or a script, that talks through a node: lines in, and out what a voice makes of it."""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from beforehand import protocols
from beforehand.cli.node.renderers import Voice
from beforehand.cli.node.stdin_lines import typed_lines
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


async def talk(node: Node, voice: Voice, wait: float) -> Counter[str]:
    """Start the node and do what the standard input says until it ends; see `Conversation.run`."""
    return await Conversation(node, voice).run(typed_lines(STANDARD_INPUT), wait)


class Conversation:
    """What goes back and forth between somebody and a node."""

    def __init__(self, node: Node, voice: Voice) -> None:
        self._node = node
        self._voice = voice
        self._outgoing: asyncio.Queue[tuple[str, bytes]] = asyncio.Queue(MOST_WAITING)
        self._sending = ""  # for whom the message is that waits for room
        self._commands: dict[str, Callable[[str], None]] = {
            "/help": lambda _: voice.help(HELP),
            "/held": lambda _: voice.held(node.held()),
            "/peers": lambda _: voice.peers(node.stats()),
            "/stats": lambda _: voice.stats(node.stats()),
            "/drop": node.drop,
        }

    async def run(self, typed: AsyncIterator[bytes], wait: float) -> Counter[str]:
        """Start the node, obey until the input ends, wait up to so many seconds for what is under
        way, and leave. Returns how many messages are not known to be delivered, by receiver.
        """
        node = await self._node.start()
        self._voice.listening(node.name, node.address)
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
                    self._voice.note("whom is that for? Write `bob: hello`; /help tells more")

    def _command(self, word: str, rest: str) -> None:
        command = self._commands.get(word)
        if command is None:
            self._voice.note(f"there is no {word}; /help tells what there is")
            return
        try:
            command(rest)
        except BeforehandError as problem:
            self._voice.note(str(problem))

    async def _send_all(self) -> None:
        """Messages go out in the order in which they were typed, while commands pass them by."""
        while True:
            self._sending, payload = await self._outgoing.get()
            try:
                await self._send(self._sending, payload)
            except NodeClosedError:
                return  # the end has come, and what waits is counted
            except BeforehandError as problem:
                self._voice.note(str(problem))
            self._sending = ""
            self._outgoing.task_done()

    async def _send(self, text: str, payload: bytes) -> None:
        to = self._receivers(text)
        try:
            self._node.try_send(to, payload)
        except WouldBlock:
            self._voice.note(f"waiting for {text}: not there yet, or behind")
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
            self._voice.message(message)

    async def _watch(self) -> None:
        async for event in self._node.events():
            self._voice.event(event)
