"""Processes that join, leave or crash, and how the others drop those that are gone."""

from typing import Final

from mypy_extensions import i64

from beforehand.simulator.world.faults import Stop
from beforehand.simulator.world.open_messages import OpenMessages
from beforehand.simulator.world.processes import NEVER, Process
from beforehand.simulator.world.run_setup import RunSetup
from beforehand.simulator.world.timers import Timers
from beforehand.simulator.world.transport import SimulatedTransport


class Lifecycle:
    """Starts and stops processes while the run goes on."""

    def __init__(
        self,
        setup: RunSetup,
        open_messages: OpenMessages,
        transport: SimulatedTransport,
        timers: Timers,
    ) -> None:
        self._queue: Final = setup.queue
        self._population: Final = setup.population
        self._meters: Final = setup.meters
        self._open_messages: Final = open_messages
        self._transport: Final = transport
        self._timers: Final = timers
        self._workload: Final = setup.workload
        self._observer: Final = setup.observer
        self._relays: Final = setup.overlay is not None
        self._keeps_dropped: Final = setup.keeps_dropped

    def schedule(self, stop: Stop) -> None:
        """Let a process crash at a time, and the others drop it."""
        process = self._population.by_name[stop.process]
        self._timers.run_later(lambda: self.stop(process, True), stop.time)
        if stop.dropped_at != NEVER:
            self._timers.run_later(lambda: self._drop(process), stop.dropped_at)

    def start(self, newcomer: Process) -> None:
        """A newcomer starts; it takes part once a contact has admitted it."""
        if self._observer is not None:
            self._observer.started(newcomer, "joined")
        self._timers.start_process(newcomer)

    def stop(self, process: Process, crashed: bool) -> None:
        """A process takes no further step; what is for it, or still inside it, is given up."""
        self._population.stop(process)
        self._open_messages.orphan(process)
        if self._observer is not None:
            self._observer.stopped(process, "crashed" if crashed else "left")
        self._open_messages.give_up_unreleased(process)

    def _drop(self, gone: Process) -> None:
        """The others drop a process that has stopped."""
        now: i64 = self._queue.now
        if not self._relays:  # relayed messages may still arrive everywhere
            self._open_messages.give_up_from(gone, self._keeps_dropped)
        for process in self._population.processes:
            if process.active():
                if self._observer is not None:
                    self._observer.evicted(process, gone)
                effects = process.core.drop(gone.name, now)
                if effects:
                    self._meters.ended_at = max(self._meters.ended_at, now)
                self._transport.carry_out(process, effects, process)
        for process in self._population.processes:
            if process.active():
                self._workload.dropped(process, gone)
        self._timers.wake()
