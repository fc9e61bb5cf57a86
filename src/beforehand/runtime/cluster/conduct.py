"""The parent of a cluster: starts processes, lets them meet, kills and restarts some, ends it all."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from beforehand.errors import BeforehandError
from beforehand.runtime import events
from beforehand.runtime.cluster.child import Child
from beforehand.runtime.cluster.plan import Plan

NEWS_SECONDS: Final = 0.2  # between two looks at what has changed, for those who watch
OVER: Final = (events.DROPPED, events.RESTARTED)

Watch = Callable[["list[Child]", str], None]  # told of the processes and of what they are doing


class ClusterError(BeforehandError):
    """A cluster did not come to its end; the text says what was missing."""


@dataclass(frozen=True)
class Course:
    """How a run went, before anybody has judged it."""

    children: list[Child]
    seconds: float
    run: str

    @property
    def killed(self) -> list[Child]:
        """Those that did not live to the end."""
        return [child for child in self.children if child.killed]


class Conductor:
    """Conducts one run; every step waits for what the processes say."""

    def __init__(self, plan: Plan, key: bytes | None, folder: str, watch: Watch) -> None:
        self._plan = plan
        self._key = key
        self._folder = folder
        self._run = f"cluster-{plan.protocol}-{plan.seed}"
        self._watch = watch
        self._children: list[Child] = []
        self._step = "starting"
        self._news = asyncio.Event()

    async def run(self, timeout: float) -> Course:
        """All of it, or ClusterError after so many seconds."""
        begun = time.monotonic()
        watching = asyncio.ensure_future(self._keep_watch())
        try:
            for name in self._plan.names:
                await self._start(name)
            async with asyncio.timeout(timeout):
                await self._play()
        except TimeoutError:
            raise ClusterError(
                f"not finished within {timeout:g} s, while {self._step}: {self._missing()}; "
                "check the protocol, or allow a longer `timeout`"
            ) from None
        finally:
            watching.cancel()
            for child in self._children:
                child.kill()
            await asyncio.gather(*(child.wait() for child in self._children))
        return Course(self._children, time.monotonic() - begun, self._run)

    async def _play(self) -> None:
        await self._until("starting", lambda child: bool(child.address))
        self._introduce(self._living())
        await self._until("meeting", lambda child: "met" in child.said)
        self._tell_all("go")
        if self._plan.kill:
            await self._kill_some()
        await self._until("sending", lambda child: "done" in child.said)
        self._tell_all("count")
        await self._until("counting", lambda child: "counted" in child.said)
        self._tell_all("stop")
        await self._until("ending", lambda child: "over" in child.said and child.ended)

    async def _start(self, name: str, life: int = 1) -> Child:
        job = self._plan.job(name, self._key, self._folder, self._run, life)
        child = Child(job, life, self._news.set)
        await child.start()
        self._children.append(child)
        return child

    def _introduce(self, newcomers: list[Child]) -> None:
        addresses = {child.name: child.address for child in self._living()}
        for child in newcomers:
            others = {name: addresses[name] for name in child.job.others if name in addresses}
            child.tell("meet", peers=others)

    async def _kill_some(self) -> None:
        """Each victim when it is half-way; those left go on to the end when all have noticed."""
        victims = [child for child in self._children if child.name in self._plan.victims]
        for victim in victims:
            await self._kill(victim)
        survivors = self._living()
        if self._plan.restart:
            await self._restart([victim.name for victim in victims])
        names = {victim.name for victim in victims}
        await self._until(
            "waiting until all have noticed who is gone",
            lambda child: child not in survivors or self._has_noticed(child, names),
        )
        for child in survivors:
            child.tell("finish")

    async def _kill(self, victim: Child) -> None:
        await self._until("sending", lambda child: child is not victim or "halfway" in child.said)
        victim.killed = True
        victim.kill()
        await victim.wait()

    async def _restart(self, names: list[str]) -> None:
        newcomers = [await self._start(name, life=2) for name in names]
        await self._until("restarting", lambda child: bool(child.address))
        self._introduce(newcomers)
        await self._until("restarting", lambda child: "met" in child.said)
        for newcomer in newcomers:
            newcomer.tell("go")

    def _has_noticed(self, child: Child, names: set[str]) -> bool:
        told = {peer for kind, peer, _ in child.events if kind in OVER}
        return names <= told and (not self._plan.restart or names <= child.there)

    def _tell_all(self, do: str) -> None:
        for child in self._living():
            child.tell(do)

    def _living(self) -> list[Child]:
        return [child for child in self._children if not child.killed]

    async def _until(self, step: str, reached: Callable[[Child], bool]) -> None:
        """Until all that live are there; ClusterError if one dies unasked, or cannot be judged."""
        self._step = step
        while True:
            self._news.clear()
            for child in self._living():
                self._check(child)
            if all(reached(child) for child in self._living()):
                return
            await self._news.wait()

    def _check(self, child: Child) -> None:
        if child.ended and "over" not in child.said:
            raise ClusterError(
                f"{child.label} died by itself: {child.last_words or 'without a word'}"
            )
        for kind, _, detail in child.events:
            if kind == events.TRACE_FAILED:
                raise ClusterError(f"{child.label} cannot be judged without its trace: {detail}")

    def _missing(self) -> str:
        """Who is how far, for those who have to find out why."""
        parts = []
        for child in self._living():
            if "done" not in child.said:
                figures = child.figures
                parts.append(
                    f"{child.label} has sent {figures.sent:,} of {child.job.messages:,}, "
                    f"holds {figures.held:,} and is in touch with {len(child.there)} of "
                    f"{len(child.job.others)}"
                )
        return "; ".join(parts) or "everything was sent and delivered"

    async def _keep_watch(self) -> None:
        while True:
            self._watch(self._children, self._step)
            await asyncio.sleep(NEWS_SECONDS)


def conduct(
    plan: Plan, key: bytes | None, folder: str | os.PathLike[str], timeout: float, watch: Watch
) -> Course:
    """Run a cluster; its traces are in the folder afterwards."""

    async def all_of_it() -> Course:
        return await Conductor(plan, key, os.fspath(folder), watch).run(timeout)

    return asyncio.run(all_of_it())
