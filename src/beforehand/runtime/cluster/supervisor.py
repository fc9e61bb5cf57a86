"""The parent of a cluster: starts workers, introduces them, kills and restarts some, stops them."""

import asyncio
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from beforehand.errors import ResourceError
from beforehand.runtime import events
from beforehand.runtime.cluster.child import Child
from beforehand.runtime.cluster.plan import ClusterPlan

UPDATE_SECONDS: Final = 0.2  # between two calls of the observer
OVER: Final = (events.DROPPED, events.RESTARTED)

Observer = Callable[["list[Child]", str], None]  # called with the workers and the current step


@dataclass(frozen=True)
class ClusterRun:
    """A finished run, before it is judged."""

    children: list[Child]
    seconds: float
    run: str

    @property
    def killed(self) -> list[Child]:
        """The workers that were killed."""
        return [child for child in self.children if child.killed]


class Supervisor:
    """Supervises one run; every step waits for reports of the workers."""

    def __init__(
        self, plan: ClusterPlan, key: bytes | None, folder: str, observer: Observer
    ) -> None:
        self._plan = plan
        self._key = key
        self._folder = folder
        self._run = f"cluster-{plan.protocol}-{plan.seed}"
        self._observer = observer
        self._children: list[Child] = []
        self._step = "starting"
        self._changed = asyncio.Event()

    async def run(self, timeout: float) -> ClusterRun:
        """Run to the end; ResourceError after `timeout` seconds."""
        started = time.monotonic()
        observing = asyncio.ensure_future(self._observe())
        try:
            for name in self._plan.names:
                await self._start(name)
            async with asyncio.timeout(timeout):
                await self._run_steps()
        except TimeoutError:
            raise ResourceError(
                f"not finished within {timeout:g} s, while {self._step}: {self._missing()}; "
                "check the protocol, or allow a longer `timeout`"
            ) from None
        finally:
            observing.cancel()
            for child in self._children:
                child.kill()
            await asyncio.gather(*(child.reaped() for child in self._children))
            await asyncio.gather(*(child.wait() for child in self._children))
        return ClusterRun(self._children, time.monotonic() - started, self._run)

    async def _run_steps(self) -> None:
        await self._until("starting", lambda child: bool(child.address))
        self._introduce(self._living())
        await self._until("meeting", lambda child: "met" in child.reports)
        self._command_all("go")
        if self._plan.kill:
            await self._kill_some()
        await self._until("sending", lambda child: "done" in child.reports)
        self._command_all("count")
        await self._until("counting", lambda child: "counted" in child.reports)
        self._command_all("stop")
        await self._until("ending", lambda child: "over" in child.reports and child.ended)

    async def _start(self, name: str, generation: int = 1) -> Child:
        job = self._plan.job(name, self._key, self._folder, self._run, generation)
        child = Child(job, generation, self._changed.set)
        await child.start()
        self._children.append(child)
        return child

    def _introduce(self, newcomers: list[Child]) -> None:
        addresses = {child.name: child.address for child in self._living()}
        for child in newcomers:
            others = {name: addresses[name] for name in child.job.others if name in addresses}
            child.command("meet", peers=others)

    async def _kill_some(self) -> None:
        """Kill each victim half-way; the survivors finish once all of them have noticed."""
        victims = [child for child in self._children if child.name in self._plan.victims]
        for victim in victims:
            await self._kill(victim)
        survivors = self._living()
        if self._plan.restart:
            await self._restart([victim.name for victim in victims])
        names = {victim.name for victim in victims}
        await self._until(
            "waiting until all have noticed the failures",
            lambda child: child not in survivors or self._has_noticed(child, names),
        )
        for child in survivors:
            child.command("finish")

    async def _kill(self, victim: Child) -> None:
        await self._until(
            "sending", lambda child: child is not victim or "halfway" in child.reports
        )
        victim.killed = True
        victim.kill()
        await victim.wait()

    async def _restart(self, names: list[str]) -> None:
        newcomers = [await self._start(name, generation=2) for name in names]
        await self._until("restarting", lambda child: bool(child.address))
        self._introduce(newcomers)
        await self._until("restarting", lambda child: "met" in child.reports)
        for newcomer in newcomers:
            newcomer.command("go")

    def _has_noticed(self, child: Child, names: set[str]) -> bool:
        reported = {peer for kind, peer, _ in child.events if kind in OVER}
        return names <= reported and (not self._plan.restart or names <= child.connected)

    def _command_all(self, command: str) -> None:
        for child in self._living():
            child.command(command)

    def _living(self) -> list[Child]:
        return [child for child in self._children if not child.killed]

    async def _until(self, step: str, reached: Callable[[Child], bool]) -> None:
        """Wait for a condition on all living workers; an error if one crashes or loses its trace."""
        self._step = step
        while True:
            self._changed.clear()
            for child in self._living():
                self._check(child)
            if all(reached(child) for child in self._living()):
                return
            await self._changed.wait()

    def _check(self, child: Child) -> None:
        if child.ended and "over" not in child.reports:
            raise ResourceError(f"{child.label} crashed: {child.stderr_tail or 'without output'}")
        for kind, _, detail in child.events:
            if kind == events.TRACE_FAILED:
                raise ResourceError(f"{child.label} lost its trace, which judging needs: {detail}")

    def _missing(self) -> str:
        """The progress of each unfinished worker, for diagnosis."""
        parts = []
        for child in self._living():
            if "done" not in child.reports:
                figures = child.figures
                parts.append(
                    f"{child.label} has sent {figures.sent:,} of {child.job.messages:,}, "
                    f"holds {figures.held:,} and is connected to {len(child.connected)} of "
                    f"{len(child.job.others)}"
                )
        return "; ".join(parts) or "everything was sent and delivered"

    async def _observe(self) -> None:
        while True:
            self._observer(self._children, self._step)
            await asyncio.sleep(UPDATE_SECONDS)


def run_cluster(
    plan: ClusterPlan,
    key: bytes | None,
    folder: str | os.PathLike[str],
    timeout: float,
    observer: Observer,
) -> ClusterRun:
    """Run a cluster; its traces are in the folder afterwards."""
    return asyncio.run(Supervisor(plan, key, os.fspath(folder), observer).run(timeout))
