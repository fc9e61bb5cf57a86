"""Processes that join, leave or crash, and how the others drop those that are gone."""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from beforehand.simulator.workloads.workload import Workload
from beforehand.simulator.world.event_queue import TimingWheel
from beforehand.simulator.world.faults import Stop
from beforehand.simulator.world.observers import Observer
from beforehand.simulator.world.open_messages import OpenMessages
from beforehand.simulator.world.processes import NEVER, Population, Process
from beforehand.simulator.world.timers import Timers
from beforehand.simulator.world.transport import SimulatedTransport


class Lifecycle:
    """Starts and stops processes while the run goes on."""

    _queue: Final[TimingWheel]
    _population: Final[Population]
    _open_messages: Final[OpenMessages]
    _transport: Final[SimulatedTransport]
    _timers: Final[Timers]
    _workload: Final[Workload]
    _observer: Final[Observer | None]
    _relays: Final[bool]  # processes pass on each other's messages

    def __init__(
        self,
        queue: TimingWheel,
        population: Population,
        open_messages: OpenMessages,
        transport: SimulatedTransport,
        timers: Timers,
        *,
        workload: Workload,
        observer: Observer | None,
        relays: bool,
    ) -> None:
        self._queue = queue
        self._population = population
        self._open_messages = open_messages
        self._transport = transport
        self._timers = timers
        self._workload = workload
        self._observer = observer
        self._relays = relays

    def schedule(self, stop: Stop) -> None:
        """Let a process crash at a time, and the others drop it."""
        process = self._population.by_name[stop.process]
        self._timers.run_later(lambda: self.stop(process, True), stop.time)
        if stop.dropped_at != NEVER:
            self._timers.run_later(lambda: self._drop(process), stop.dropped_at)

    def start(self, newcomer: Process) -> None:
        """A newcomer starts; it takes part once a contact has admitted it."""
        if self._observer is not None:
            self._observer.started(newcomer, self._queue.now, "joined")
        self._timers.start_process(newcomer)

    def stop(self, process: Process, crashed: bool) -> None:
        """A process takes no further step; what is for it, or still inside it, is given up."""
        self._population.stop(process)
        self._open_messages.orphan(process)
        if self._observer is not None:
            self._observer.stopped(process, "crashed" if crashed else "left", self._queue.now)
        self._open_messages.give_up_unreleased(process)

    def _drop(self, gone: Process) -> None:
        """The others drop a process that has stopped."""
        now: i64 = self._queue.now
        if not self._relays:  # relayed messages may still arrive everywhere
            self._open_messages.give_up_from(gone)
        for process in self._population.processes:
            if process.active():
                if self._observer is not None:
                    self._observer.evicted(process, gone, now)
                self._transport.carry_out(process, process.core.drop(gone.name, now), process)
        for process in self._population.processes:
            if process.active():
                self._workload.dropped(process, gone)
        self._timers.wake()
