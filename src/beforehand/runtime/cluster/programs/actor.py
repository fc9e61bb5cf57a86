"""The part of one process in a script, performed on a node, with a log of what its user saw."""

import asyncio
import time
from collections import defaultdict
from typing import Final, NamedTuple

from beforehand.runtime.cluster.programs.script import Script, index_of, payload_of
from beforehand.runtime.node import Node

PACE_SECONDS: Final = 0.03  # between two lines that a process sends of its own accord


class LogEntry(NamedTuple):
    """A line that a process sent or saw."""

    line: int  # its index in the script
    number: int  # of the message, at its sender
    sent: bool  # or else seen
    time_ns: int


class Actor:
    """Sends the lines of one process, each after what causes it.

    It goes on receiving while a message waits for room at its receivers: if all processes stopped, none
    would ever have room again.
    """

    def __init__(self, node: Node, script: Script) -> None:
        self.log: list[LogEntry] = []
        self._node = node
        self._script = script
        self._due: asyncio.Queue[int] = asyncio.Queue()  # lines whose cause is known
        self._unprompted: list[int] = []
        self._reactions: dict[int, list[int]] = defaultdict(list)
        for index, line in enumerate(script):
            if line.sender == node.name:
                after = self._unprompted if line.after is None else self._reactions[line.after]
                after.append(index)

    @property
    def reactions(self) -> int:
        """How many lines it has sent because of another."""
        return sum(entry.sent and self._script[entry.line].after is not None for entry in self.log)

    async def perform(self) -> None:
        """Send everything, and return when everything from the others was seen."""
        async with asyncio.TaskGroup() as tasks:
            for work in (self._pace(), self._send(), self._receive()):
                tasks.create_task(work)

    async def _pace(self) -> None:
        for index in self._unprompted:
            self._due.put_nowait(index)
            await asyncio.sleep(PACE_SECONDS)

    async def _send(self) -> None:
        name = self._node.name
        for _ in range(sum(line.sender == name for line in self._script)):
            index = await self._due.get()
            line = self._script[index]
            number = await self._node.send(line.to, payload_of(index, line))
            self._know(index, number, sent=True)

    async def _receive(self) -> None:
        name = self._node.name
        for _ in range(sum(name in line.to for line in self._script)):
            message = await self._node.receive()
            self._know(index_of(message.payload), message.number, sent=False)

    def _know(self, index: int, number: int, sent: bool) -> None:
        self.log.append(LogEntry(index, number, sent, time.time_ns()))
        for reaction in self._reactions[index]:
            self._due.put_nowait(reaction)
