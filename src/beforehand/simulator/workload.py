"""What a workload is: it decides who causal-sends what to whom, and when.

It is told when the run starts and when messages are delivered, and acts on a `Stage`. Choices of a
process come from a stream of its own, so that every protocol is given the same traffic.
"""

from __future__ import annotations

from collections.abc import Sequence

from mypy_extensions import i64

from beforehand.simulator.distributions import Distribution, Draw
from beforehand.simulator.engine import Engine, Event
from beforehand.simulator.records import Message, Process


class Stage:
    """What a workload sees of the simulation, and may do there."""

    engine: Engine
    processes: list[Process]

    def send(
        self, process: Process, receivers: Sequence[Process], note: object, payload_bytes: i64 = -1
    ) -> None:
        """Causal-send, or do so as soon as the process has finished its jobs.

        A negative number of bytes leaves their number to the scenario.
        """
        raise NotImplementedError

    def stream(self, purpose: str) -> Draw:
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

    def __init__(self, workload: Stepping, process: Process) -> None:
        super().__init__()
        self.workload = workload
        self.process = process

    def happen(self) -> None:
        process = self.process
        if process.stopped:
            return
        if process.busy_until > self.time:
            self.workload.stage.engine.schedule(self, process.busy_until)
        else:
            self.workload.step(process, self)


class Stepping(Workload):
    """A workload in which processes take steps of their own, one after the other."""

    stage: Stage
    steps: int  # that each stepping process takes
    interval: Distribution  # from one step of a process to its next
    _left: list[int]  # process -> steps that it has yet to take
    _draws: list[Draw | None]  # process -> its stream

    def __init__(self, steps: int, interval: Distribution) -> None:
        self.steps = steps
        self.interval = interval

    def start(self, stage: Stage) -> None:
        self.stage = stage
        self._left = [0] * len(stage.processes)
        self._draws = [None] * len(stage.processes)
        self.prepare()
        if self.steps == 0:
            return
        for process in self.steppers():
            self._left[process.index] = self.steps
            # Somewhere in the first interval, so that processes do not march in step.
            first = self.interval.draw(self.draw(process))
            begin = i64(self.uniform(process) * float(first))
            stage.engine.schedule(Step(self, process), begin)

    def prepare(self) -> None:
        """Set up what is needed before the first step."""

    def steppers(self) -> list[Process]:
        """The processes that take steps: all of them."""
        return self.stage.processes

    def step(self, process: Process, event: Step) -> None:
        """Act, then come back after an interval."""
        self.act(process)
        self.again(process, event)

    def again(self, process: Process, event: Step) -> None:
        """Schedule the next step, if one is left."""
        self._left[process.index] -= 1
        if self._left[process.index] > 0:
            pause = self.interval.draw(self.draw(process))
            self.stage.engine.schedule(event, self.stage.engine.now + pause)

    def act(self, process: Process) -> None:
        """What a process does in a step."""
        raise NotImplementedError

    def draw(self, process: Process) -> Draw:
        """The stream of a process."""
        draw = self._draws[process.index]
        if draw is None:
            draw = self.stage.stream(f"workload/{process.name}")
            self._draws[process.index] = draw
        return draw

    def uniform(self, process: Process) -> float:
        """The next number of the stream of a process."""
        return self.draw(process)()

    def choose(self, process: Process, among: Sequence[Process]) -> Process:
        """One of them at random, but not the process itself; it must not be the only one."""
        while True:
            chosen = among[i64(self.uniform(process) * float(len(among)))]
            if chosen is not process:
                return chosen
