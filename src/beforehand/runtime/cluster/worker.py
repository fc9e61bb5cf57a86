"""One process of a cluster: a node, the fault injector below it, and random traffic or a program.

Commands arrive as JSON lines on standard input, reports leave as JSON lines on standard output. The
process exits when its parent does.

    commands: the job; then meet (addresses of the others), go, finish (after a pause), count, stop
    reports:  listening, met, halfway, log (of a program), done (all sent and delivered), event, figures,
              counted, over
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from typing import Any, Final

from beforehand.errors import PeerDroppedError
from beforehand.runtime import events
from beforehand.runtime.cluster.plan import LONGEST_LINE, ClusterPlan, WorkerJob
from beforehand.runtime.cluster.programs.actor import Actor
from beforehand.runtime.cluster.traffic import TrafficSource, payload_of
from beforehand.runtime.node import Node
from beforehand.runtime.run import run
from beforehand.runtime.transports.faulty import Faulty
from beforehand.runtime.transports.udp import UdpTransport

REPORT_SECONDS: Final = 0.2
SAMPLING_PAUSE: Final = 30  # times the cost of sampling `held()`, between two samples
RETRY_SECONDS: Final = 0.005  # until a dropped peer is no longer chosen as a receiver
LOG_ENTRIES: Final = 1_000  # in one report, which is one line
GONE: Final = (events.DROPPED, events.EXPELLED)


class Worker:
    """Runs one job."""

    def __init__(self, job: WorkerJob) -> None:
        self._job = job
        plan = job.plan
        self._traffic = TrafficSource(job.seed, plan.capabilities.casts)
        self._faulty = Faulty(
            UdpTransport("127.0.0.1:0"),
            loss=plan.loss,
            duplicate=plan.duplicate,
            reorder=plan.reorder,
            seed=job.seed,
        )
        self._node = Node(
            job.name,
            peers=job.others,
            key=None if job.key is None else bytes.fromhex(job.key),
            protocol=plan.protocol,
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
        script = plan.script
        self._actor = Actor(self._node, script) if script else None
        self._connected: set[str] = set()
        self._met = False
        self._resumed = asyncio.Event()
        self._most_held = 0
        self._held = 0
        self._next_sample = 0.0
        self._damaged = 0

    async def run(self, commands: AsyncIterator[str]) -> None:
        """Execute commands until `stop`, or until the parent is gone."""
        node = await self._node.start()
        report("listening", address=node.address, process=node.process)
        async with asyncio.TaskGroup() as tasks:
            reporting = tasks.create_task(self._report_regularly())
            running = [reporting, tasks.create_task(self._watch_events())]
            if self._actor is None:
                running.append(tasks.create_task(self._consume()))
            async for line in commands:
                command = json.loads(line)
                if command["command"] == "meet":
                    for name, address in command["peers"].items():
                        node.add_peer(name, address)
                elif command["command"] == "go":
                    work = self._send() if self._actor is None else self._perform(self._actor)
                    running.append(tasks.create_task(work))
                elif command["command"] == "finish":
                    self._resumed.set()
                elif command["command"] == "count":
                    reporting.cancel()  # the final figures: later ones would include peers leaving
                    self._next_sample = 0.0
                    self._report_figures()
                    report("counted")
                else:
                    break
            else:
                os._exit(1)  # the parent is gone
            for task in running:
                task.cancel()
        left = await node.close()
        async for event in node.events():  # all of them again: a trace may fail at its very end
            if event.kind == events.TRACE_FAILED:
                report("event", kind=event.kind, peer=event.peer, detail=event.detail)
        report("over", undelivered=left.undelivered, unread=left.unread)

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
                self._report_figures()
                report("halfway")
            burst -= 1
            if not burst:
                burst = self._traffic.burst()
                self._sample_held()
                await asyncio.sleep(0)
        await node.flush()
        self._report_figures()
        report("done")

    async def _perform(self, actor: Actor) -> None:
        await actor.perform()
        await self._node.flush()
        for first in range(0, len(actor.log), LOG_ENTRIES):
            report("log", entries=actor.log[first : first + LOG_ENTRIES])
        self._report_figures()
        report("done")

    async def _send_one(self) -> bool:
        """Send a message, unless its receiver was just dropped, or no peer is connected."""
        if not self._connected:
            return False
        to = self._traffic.receivers(self._connected)
        payload = payload_of(self._job.name, self._node.sent + 1, self._job.plan.payload)
        try:
            await self._node.send(to, payload)
        except PeerDroppedError:
            return False
        return True

    async def _consume(self) -> None:
        """Consume messages as they arrive; each may trigger others."""
        size = self._job.plan.payload
        while True:
            for message in await self._node.receive_batch():
                if message.payload != payload_of(message.sender, message.number, size):
                    self._damaged += 1
                self._traffic.delivered(message.sender)

    async def _watch_events(self) -> None:
        async for event in self._node.events():
            if event.kind in GONE:
                self._connected.discard(event.peer)
            elif event.kind in (events.UP, events.RESTARTED):
                self._connected.add(event.peer)
            report("event", kind=event.kind, peer=event.peer, detail=event.detail)
            if len(self._connected) == len(self._job.others) and not self._met:
                self._met = True
                report("met")

    def _sample_held(self) -> None:
        """Sample how many messages the core holds, now and then."""
        clock = asyncio.get_running_loop().time
        started = clock()
        if started >= self._next_sample:
            self._held = len(self._node.held())
            self._most_held = max(self._most_held, self._held)
            self._next_sample = clock() + SAMPLING_PAUSE * (clock() - started)

    async def _report_regularly(self) -> None:
        while True:
            await asyncio.sleep(REPORT_SECONDS)
            self._report_figures()

    def _report_figures(self) -> None:
        stats = self._node.stats()
        self._sample_held()
        trips = [peer.round_trip_ms for peer in stats.peers.values() if peer.state == "up"]
        report(
            "figures",
            sent=stats.messages_sent,
            delivered=stats.messages_delivered,
            reactions=self._traffic.reacted if self._actor is None else self._actor.reactions,
            held=self._held,
            most_held=self._most_held,
            lost=self._faulty.lost,
            doubled=self._faulty.doubled,
            held_back=self._faulty.held_back,
            bytes_out=stats.bytes_out,
            resent=sum(peer.frames_resent for peer in stats.peers.values()),
            round_trip_ms=sum(trips) / len(trips) if trips else 0.0,
            damaged=self._damaged,
            misbehaved=stats.misbehaved,
        )


def report(what: str, **fields: Any) -> None:
    """Write a report to the parent."""
    print(json.dumps({"report": what, **fields}), flush=True)


class _NoPandas:
    """An import hook: pyarrow, which writes traces, imports pandas just in case if it is there.

    Nothing here needs it, and the second that it takes in each process is longer than many runs.
    """

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("a worker does without pandas", name=name)


async def main() -> None:
    """Run the job that standard input describes."""
    reader = asyncio.StreamReader(LONGEST_LINE)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    job = json.loads(await reader.readline())
    job["plan"] = ClusterPlan(**job["plan"])
    await Worker(WorkerJob(**job)).run(line.decode() async for line in reader)


if __name__ == "__main__":
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # Ctrl-C reaches the whole group; the parent decides
    sys.meta_path.insert(0, _NoPandas)
    run(main())
