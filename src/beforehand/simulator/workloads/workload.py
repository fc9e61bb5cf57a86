"""What a workload is: it decides who causal-sends what to whom, and when.

It is notified when the run starts and when messages are delivered, and acts through the `Application`:
`send`, `stream`, `processes`, `present()` and `queue`. The choices of a process come from a stream of
its own, so every protocol sees the same traffic.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mypy_extensions import i64

from beforehand.simulator.world.distributions import Distribution
from beforehand.simulator.world.event_queue import ScheduledEvent
from beforehand.simulator.world.processes import OpenMessage, Process
from beforehand.simulator.world.random_streams import Stream

if TYPE_CHECKING:
    from beforehand.simulator.world.application import Application


class Workload:
    """A source of causal-sends; it overrides the notifications that it needs."""

    def start(self, application: Application) -> None:
        """The run starts: schedule what happens by itself."""
        raise NotImplementedError

    def sent(self, process: Process, tag: object) -> None:
        """A process has causal-sent a message."""

    def delivered(self, process: Process, message: OpenMessage) -> None:
        """A process has delivered a message; its job is booked already."""

    def dropped(self, process: Process, peer: Process) -> None:
        """A process has dropped a peer: nothing more will come from it."""

    def skipped(self, process: Process, tag: object) -> None:
        """A message was not sent because all of its receivers had been dropped."""

    def expected(self) -> int:
        """How many causal-sends it will make if all goes well."""
        raise NotImplementedError


class PacedStep(ScheduledEvent):
    """The next step of a process: postponed while it is busy, cancelled when it has stopped."""

    def __init__(
        self, workload: PacedWorkload, process: Process, left: i64, stream: Stream
    ) -> None:
        super().__init__()
        self.workload = workload
        self.process = process
        self.left = left  # steps that it has yet to take, this one included
        self.stream = stream  # the random numbers of the process

    def fire(self) -> None:
        process = self.process
        if process.stopped:
            return
        if process.busy_until > self.time:
            self.workload.application.queue.schedule(self, process.busy_until)
        else:
            self.workload.step(process, self)

    def choose(self, candidates: Sequence[Process]) -> Process:
        """A random candidate other than the process itself, of which there must be one."""
        while True:
            chosen = candidates[self.stream.below(len(candidates))]
            if chosen is not self.process:
                return chosen


class PacedWorkload(Workload):
    """A workload in which processes act of their own accord, at intervals."""

    application: Application

    def __init__(self, steps: int, interval: Distribution) -> None:
        self.steps = steps  # of each active process
        self.interval = interval  # from one step of a process to its next

    def start(self, application: Application) -> None:
        self.application = application
        self.prepare()
        if self.steps == 0:
            return
        initiators = self.initiators()
        for position, process in enumerate(initiators):
            stream = application.stream(f"workload/{process.name}")
            # Spread over the first interval, so that processes do not act in lockstep.
            first = int(self.interval.draw(stream)) * position // len(initiators)
            application.queue.schedule(PacedStep(self, process, self.steps, stream), first)

    def prepare(self) -> None:
        """Set up what is needed before the first step."""

    def initiators(self) -> list[Process]:
        """The processes that act of their own accord: all of them."""
        return self.application.processes

    def step(self, process: Process, event: PacedStep) -> None:
        """Act, then schedule the next step."""
        self.act(process, event)
        self.schedule_next(event)

    def schedule_next(self, event: PacedStep) -> None:
        """Schedule the next step after an interval, if one is left."""
        event.left -= 1
        if event.left > 0:
            pause = self.interval.draw(event.stream)
            queue = self.application.queue
            queue.schedule(event, queue.now + pause)

    def act(self, process: Process, step: PacedStep) -> None:
        """What a process does in a step."""
        raise NotImplementedError

    def expected(self) -> int:
        return self.steps * len(self.initiators())
