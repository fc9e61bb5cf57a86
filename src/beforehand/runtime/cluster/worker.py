"""What runs in each process of a cluster: a node, the fault injector below it, and traffic.

The parent tells it what to do by lines of JSON on the standard input, and is told by lines of JSON on
the standard output. If the parent is gone, so is the process.

    told: the job; then meet (addresses of the others), go, finish (after a pause), count, stop
    says: listening, met, halfway, done (all sent and delivered), event, figures, counted, over
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from typing import Any, Final

from beforehand import protocols
from beforehand.errors import PeerDroppedError
from beforehand.runtime import events
from beforehand.runtime.cluster.plan import Job
from beforehand.runtime.cluster.traffic import Traffic, payload_of
from beforehand.runtime.node import Node
from beforehand.runtime.run import run
from beforehand.runtime.transports.faulty import Faulty
from beforehand.runtime.transports.udp import UdpTransport

REPORT_SECONDS: Final = 0.2
LOOKING: Final = 30  # times as long as it takes to look at what the core holds, it is left in peace
RETRY_SECONDS: Final = 0.005  # until those who choose receivers have heard of a dropped peer
LONGEST_LINE: Final = 2**20  # a job names everybody; the default of a stream is 64 KiB
GONE: Final = (events.DROPPED, events.EXPELLED)


class Worker:
    """One process: what it was told, what it has done."""

    def __init__(self, job: Job) -> None:
        self._job = job
        capabilities = protocols.describe(job.protocol)
        self._traffic = Traffic(job.seed, capabilities.casts)
        self._faulty = Faulty(
            UdpTransport("127.0.0.1:0"),
            loss=job.loss,
            duplicate=job.duplicate,
            reorder=job.reorder,
            seed=job.seed,
        )
        self._node = Node(
            job.name,
            peers=job.others,
            key=None if job.key is None else bytes.fromhex(job.key),
            protocol=job.protocol,
            processes=[job.name, *job.others],
            tree=job.tree,
            links=job.links,
            transport=self._faulty,
            trace=job.trace,
            run=job.run,
            window=job.window,
            silent_after=5.0 if job.drop_after is None else job.drop_after / 2,
            drop_after=job.drop_after,
        )
        self._there: set[str] = set()
        self._met = False
        self._resumed = asyncio.Event()
        self._most_held = 0
        self._held = 0
        self._look_at = 0.0
        self._damaged = 0

    async def live(self, commands: AsyncIterator[str]) -> None:
        """Do what the parent says until it says stop, or is gone."""
        node = await self._node.start()
        say("listening", address=node.address, process=node.process)
        async with asyncio.TaskGroup() as tasks:
            reports = tasks.create_task(self._report())
            running = [reports, *map(tasks.create_task, (self._take(), self._listen()))]
            async for line in commands:
                told = json.loads(line)
                if told["do"] == "meet":
                    for name, address in told["peers"].items():
                        node.add_peer(name, address)
                elif told["do"] == "go":
                    running.append(tasks.create_task(self._send()))
                elif told["do"] == "finish":
                    self._resumed.set()
                elif told["do"] == "count":
                    reports.cancel()  # these are the last: later ones would tell of those who leave
                    self._look_at = 0.0
                    self._say_figures()
                    say("counted")
                else:
                    break
            else:
                os._exit(1)  # without a parent there is nobody to tell anything
            for task in running:
                task.cancel()
        left = await node.close()
        say("over", undelivered=left.undelivered, unread=left.unread)

    async def _send(self) -> None:
        job, node = self._job, self._node
        burst = self._traffic.burst()
        while node.sent < job.messages:
            if job.pause and node.sent == job.pause:
                await self._resumed.wait()
            if not await self._send_one():
                await asyncio.sleep(RETRY_SECONDS)
                continue
            if node.sent == job.halfway:
                self._say_figures()
                say("halfway")
            burst -= 1
            if not burst:
                burst = self._traffic.burst()
                self._look()
                await asyncio.sleep(0)
        await node.flush()
        self._say_figures()
        say("done")

    async def _send_one(self) -> bool:
        """Send a message, unless its receiver is dropped meanwhile, or nobody is there."""
        if not self._there:
            return False
        to = self._traffic.receivers(self._there)
        payload = payload_of(self._job.name, self._node.sent + 1, self._job.payload)
        try:
            await self._node.send(to, payload)
        except PeerDroppedError:
            return False
        return True

    async def _take(self) -> None:
        """Messages are taken as they come; each may cause others."""
        size = self._job.payload
        while True:
            for message in await self._node.receive_batch():
                if message.payload != payload_of(message.sender, message.number, size):
                    self._damaged += 1
                self._traffic.delivered(message.sender)

    async def _listen(self) -> None:
        async for event in self._node.events():
            if event.kind in GONE:
                self._there.discard(event.peer)
            elif event.kind in (events.UP, events.RESTARTED):
                self._there.add(event.peer)
            say("event", kind=event.kind, peer=event.peer, detail=event.detail)
            if len(self._there) == len(self._job.others) and not self._met:
                self._met = True
                say("met")

    def _look(self) -> None:
        """How many messages does the core hold?"""
        clock = asyncio.get_running_loop().time
        begun = clock()
        if begun >= self._look_at:
            self._held = len(self._node.held())
            self._most_held = max(self._most_held, self._held)
            self._look_at = clock() + LOOKING * (clock() - begun)

    async def _report(self) -> None:
        while True:
            await asyncio.sleep(REPORT_SECONDS)
            self._say_figures()

    def _say_figures(self) -> None:
        stats = self._node.stats()
        self._look()
        trips = [peer.round_trip_ms for peer in stats.peers.values() if peer.state == "up"]
        say(
            "figures",
            sent=stats.messages_sent,
            delivered=stats.messages_delivered,
            reactions=self._traffic.reacted,
            held=self._held,
            most_held=self._most_held,
            lost=self._faulty.lost,
            doubled=self._faulty.doubled,
            held_back=self._faulty.held_back,
            resent=sum(peer.frames_resent for peer in stats.peers.values()),
            round_trip_ms=sum(trips) / len(trips) if trips else 0.0,
            damaged=self._damaged,
            misbehaved=stats.misbehaved,
        )


def say(what: str, **more: Any) -> None:
    """Tell the parent."""
    print(json.dumps({"say": what, **more}), flush=True)


async def main() -> None:
    """Live, as the standard input says."""
    reader = asyncio.StreamReader(LONGEST_LINE)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    job = json.loads(await reader.readline())
    await Worker(Job(**job)).live(line.decode() async for line in reader)


if __name__ == "__main__":
    run(main())
