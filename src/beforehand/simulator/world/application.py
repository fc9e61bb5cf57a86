"""The application of every process: it causal-sends what the workload decides, and works on deliveries.

A delivery may start a job; until its jobs are done a process sends nothing. A broadcast is for every
process that takes part at that moment, the sender included.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from mypy_extensions import i64

from beforehand.errors import ScenarioError
from beforehand.simulator.world.event_queue import MAX_TIME, ScheduledEvent
from beforehand.simulator.world.open_messages import OpenMessages
from beforehand.simulator.world.processes import DeferredSend, OpenMessage, Process
from beforehand.simulator.world.random_streams import Stream
from beforehand.simulator.world.run_setup import RunSetup

if TYPE_CHECKING:
    from beforehand.simulator.world.transport import SimulatedTransport


class JobsDone(ScheduledEvent):
    """A process has finished its jobs, unless a new one has come."""

    def __init__(self, application: Application, process: Process) -> None:
        super().__init__()
        self.application = application
        self.process = process

    def fire(self) -> None:
        self.application.resume(self, self.process)


class Application:
    """What a workload sees of the run: processes, time, randomness, and `send`."""

    def __init__(
        self, setup: RunSetup, open_messages: OpenMessages, transport: SimulatedTransport
    ) -> None:
        self.queue: Final = setup.queue
        self.processes: Final = setup.population.processes
        self._seed: Final = setup.seed
        self._population: Final = setup.population
        self._open_messages: Final = open_messages
        self._transport: Final = transport
        self._workload: Final = setup.workload
        self._sizes: Final = setup.sizes
        self._meters: Final = setup.meters
        self._observer: Final = setup.observer
        self._split: Final = setup.split
        self._broadcasts: Final = "broadcast" in setup.casts
        self._only_broadcasts: Final = self._broadcasts and len(setup.casts) == 1
        self._relays: Final = setup.overlay is not None

    # ---- for workloads ----

    def present(self) -> list[Process]:
        """The processes that take part now."""
        return self._population.present

    def stream(self, purpose: str) -> Stream:
        """A stream of random numbers that depends on the seed and the purpose only."""
        return Stream(f"{self._seed}/{purpose}")

    def send(
        self,
        process: Process,
        receivers: Sequence[Process] | None,
        tag: object,
        payload_bytes: i64 = -1,
    ) -> None:
        """Causal-send, now or as soon as the process has finished its jobs.

        None for receivers is everybody. A negative size leaves the size to the scenario.
        """
        if process.busy_until > self.queue.now or process.outbox:
            if not process.outbox:
                self.queue.schedule(JobsDone(self, process), process.busy_until)
            to = None if receivers is None else list(receivers)
            process.outbox.append(DeferredSend(to, payload_bytes, tag))
        else:
            self._send(process, receivers, tag, payload_bytes)

    # ---- sends ----

    def resume(self, event: JobsDone, process: Process) -> None:
        """Send what had to wait, unless there is another job."""
        sent: i64 = 0
        while sent < len(process.outbox) and not process.stopped:
            if process.busy_until > self.queue.now:
                self.queue.schedule(event, process.busy_until)
                break
            deferred = process.outbox[sent]
            sent += 1
            self._send(process, deferred.receivers, deferred.tag, deferred.payload_bytes)
        del process.outbox[: int(sent)]

    def _send(
        self,
        process: Process,
        receivers: Sequence[Process] | None,
        tag: object,
        payload_bytes: i64,
    ) -> None:
        self._meters.actions += 1
        everybody = self._broadcasts and (receivers is None or self._only_broadcasts)
        present = self._population.present
        if everybody and self._relays:
            to: Sequence[Process] = present
        elif everybody or receivers is None:
            to = [other for other in self.processes if other.present]
        else:
            to = receivers
        if self._population.any_stopped and to is not present:
            gone = process.core.dropped()
            to = [receiver for receiver in to if receiver.name not in gone]
            if not to:
                self._meters.skipped += 1
                self._workload.skipped(process, tag)
                return
        if payload_bytes < 0:
            payload_bytes = self._sizes.payload_bytes(process)
        if self._split and not everybody:
            for receiver in to:
                self._send_one(process, [receiver], False, tag, payload_bytes)
        else:
            self._send_one(process, to, everybody, tag, payload_bytes)
        self._workload.sent(process, tag)

    def _send_one(
        self,
        process: Process,
        receivers: Sequence[Process],
        everybody: bool,
        tag: object,
        payload_bytes: i64,
    ) -> None:
        now = self.queue.now
        message = OpenMessage(process, receivers, now, payload_bytes, tag)
        message.job = self._sizes.job(process)
        self._open_messages.open(message, now)
        payload = self._sizes.payload(payload_bytes)
        if everybody:
            effects = process.core.send(None, payload, int(now))
        elif len(receivers) == 1:
            effects = process.core.send(receivers[0].name, payload, int(now))
        else:
            names = [receiver.name for receiver in receivers]
            effects = process.core.send(names, payload, int(now))
        self._meters.ended_at = max(self._meters.ended_at, now)
        # It may be ahead of now: the time at which a frame will be out.
        self._open_messages.news_at = max(self._open_messages.news_at, now)
        if self._observer is not None:
            self._observer.sent(process, message, receivers, everybody)
        self._transport.carry_out(process, effects, receivers[0])
        if self._observer is not None:
            self._observer.held_at_sender(process, message)

    # ---- deliveries ----

    def delivered(self, process: Process, message: OpenMessage) -> None:
        """A process has delivered a message: book its job, then let the workload react."""
        if message.job >= 0:
            self._book_job(process, message.job)
        self._workload.delivered(process, message)

    def _book_job(self, process: Process, length: i64) -> None:
        """Jobs of a process follow each other; it sends nothing until the last one is done."""
        start = max(self.queue.now, process.busy_until)
        if start + length > MAX_TIME:
            raise ScenarioError(
                f"the jobs of {process.name} would end after the end of time (146 years); make them "
                "shorter or fewer"
            )
        process.busy_until = start + length
        self._meters.jobs += 1
        self._meters.job_starts += int(start)
        self._meters.ended_at = max(self._meters.ended_at, process.busy_until)
