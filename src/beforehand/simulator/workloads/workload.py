"""What a workload is: it decides who causal-sends what to whom, and when.

It is told when the run starts and when messages are delivered, and acts on a `Stage`. Choices of a
process come from a stream of its own, so that every protocol is given the same traffic.
"""

from __future__ import annotations

from collections.abc import Sequence

from mypy_extensions import i64

from beforehand.simulator.world.distributions import Distribution
from beforehand.simulator.world.engine import Engine, Event
from beforehand.simulator.world.processes import Message, Process
from beforehand.simulator.world.random_streams import Stream


class Stage:
    """What a workload sees of the simulation, and may do there."""

    engine: Engine
    processes: list[Process]
    present: list[Process]  # those that take part now

    def send(
        self,
        process: Process,
        receivers: Sequence[Process] | None,
        note: object,
        payload_bytes: i64 = -1,
    ) -> None:
        """Causal-send, or do so as soon as the process has finished its jobs.

        None for receivers is everybody. A negative number of bytes leaves their number to the
        scenario.
        """
        raise NotImplementedError

    def stream(self, purpose: str) -> Stream:
        """A stream of random numbers that depends on the seed and the purpose only."""
        raise NotImplementedError


class Workload:
    """A source of causal-sends. What it does not override, it does not care about."""

    def start(self, stage: Stage) -> None:
        """The run starts: schedule what happens by itself."""
        raise NotImplementedError

    def sent(self, process: Process, note: object) -> None:
        """A process has causal-sent a message."""

    def delivered(self, process: Process, message: Message) -> None:
        """A process has delivered a message; its jobs are booked already."""

    def dropped(self, process: Process, peer: Process) -> None:
        """A process has given up on a peer: nothing will come from there any more."""

    def skipped(self, process: Process, note: object) -> None:
        """A message was not sent because all of its receivers had been dropped."""

    def expected(self) -> int:
        """How many causal-sends it will make if all goes well."""
        raise NotImplementedError


class Step(Event):
    """The next step of a process: put off while it is busy, and left out when it has stopped."""

    def __init__(self, workload: Stepping, process: Process, left: i64, stream: Stream) -> None:
        super().__init__()
        self.workload = workload
        self.process = process
        self.left = left  # steps that it has yet to take, this one included
        self.stream = stream  # the random numbers of the process

    def happen(self) -> None:
        process = self.process
        if process.stopped:
            return
        if process.busy_until > self.time:
            self.workload.stage.engine.schedule(self, process.busy_until)
        else:
            self.workload.step(process, self)

    def choose(self, among: Sequence[Process]) -> Process:
        """One of them at random, but not the process itself; it must not be the only one."""
        while True:
            chosen = among[self.stream.below(len(among))]
            if chosen is not self.process:
                return chosen


class Stepping(Workload):
    """A workload in which processes take steps of their own, one after the other."""

    stage: Stage
    steps: int  # that each stepping process takes
    interval: Distribution  # from one step of a process to its next

    def __init__(self, steps: int, interval: Distribution) -> None:
        self.steps = steps
        self.interval = interval

    def start(self, stage: Stage) -> None:
        self.stage = stage
        self.prepare()
        if self.steps == 0:
            return
        steppers = self.steppers()
        for place, process in enumerate(steppers):
            stream = stage.stream(f"workload/{process.name}")
            # Spread over the first interval, so that processes do not march in step.
            first = int(self.interval.draw(stream)) * place // len(steppers)
            stage.engine.schedule(Step(self, process, self.steps, stream), first)

    def prepare(self) -> None:
        """Set up what is needed before the first step."""

    def steppers(self) -> list[Process]:
        """The processes that take steps: all of them."""
        return self.stage.processes

    def step(self, process: Process, event: Step) -> None:
        """Act, then come back after an interval."""
        self.act(process, event)
        self.again(event)

    def again(self, event: Step) -> None:
        """Schedule the next step, if one is left."""
        event.left -= 1
        if event.left > 0:
            pause = self.interval.draw(event.stream)
            self.stage.engine.schedule(event, self.stage.engine.now + pause)

    def act(self, process: Process, step: Step) -> None:
        """What a process does in a step."""
        raise NotImplementedError
