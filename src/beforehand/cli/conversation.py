"""A person, or a script, that talks through a node: lines in, lines out.

Messages and answers go to the standard output, what happens to peers to the standard error. What
a peer sends is shown as text and nothing else: whatever could move the cursor, change colours or
turn the direction of writing is escaped.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import fields
from typing import TYPE_CHECKING, Final

from rich.console import Console
from rich.text import Text

from beforehand.errors import BeforehandError, LocalProtocolError, WouldBlock

if TYPE_CHECKING:
    from beforehand.runtime.node import Leftover, Node

READ: Final = 65_536
MOST_LINES: Final = 1024  # that wait for a receiver, before the input has to wait too
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


async def talk(node: Node, wait: float) -> Leftover:
    """Start the node, do what the input says until it ends, and close."""
    out, notes = Console(highlight=False), Console(stderr=True, highlight=False)
    conversation = Conversation(
        node,
        lambda line: out.print(Text(line), soft_wrap=True),
        lambda line: notes.print(Text(line, style="dim"), soft_wrap=True),
    )
    return await conversation.run(lines(sys.stdin.fileno()), wait)


class Conversation:
    """What goes back and forth between somebody and a node."""

    def __init__(self, node: Node, say: Say, note: Say) -> None:
        self._node = node
        self._say = say
        self._note = note
        self._outgoing: asyncio.Queue[tuple[str, bytes]] = asyncio.Queue(MOST_LINES)

    async def run(self, typed: AsyncIterator[bytes], wait: float) -> Leftover:
        """All of it."""
        node = await self._node.start()
        self._note(f"{node.name} listens at {node.address}")
        tasks = [
            asyncio.ensure_future(each) for each in (self._show(), self._watch(), self._send_all())
        ]
        reading = asyncio.ensure_future(self._obey(typed))
        with suppress(NotImplementedError):  # where there are no such signals, ^C ends it at once
            asyncio.get_running_loop().add_signal_handler(signal.SIGINT, reading.cancel)
        try:
            done, _ = await asyncio.wait([reading, *tasks], return_when=asyncio.FIRST_COMPLETED)
            for task in done - {reading}:
                task.result()  # it does not end by itself
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._outgoing.join()
                    await node.flush()
            return await self._leave()
        finally:
            for task in (reading, *tasks):
                task.cancel()
            await asyncio.gather(reading, *tasks, return_exceptions=True)
            await node.close(0.0)
