"""Random runs, correct and incorrect, to test the order theory on.

A run is a list of steps, each a causal-send or a delivery. It is made from plain numbers, so that
Hypothesis can shrink it and a seeded `random.Random` can make long ones. Deliveries are in any
order at all; some are duplicates, some of messages that were never sent or sent to another process.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from beforehand.causality import MessageId

NAMES = ("alice", "bob", "carol", "dave", "erin", "frank")


class Send(NamedTuple):
    """A process causal-sends its next message."""

    process: str
    receivers: frozenset[str]


class Deliver(NamedTuple):
    """A process delivers a message."""

    process: str
    message: MessageId


Step = Send | Deliver
Choice = tuple[int, int, int]


class _Maker:
    """Turns numbers into steps that are possible at that point of the run."""

    def __init__(self, processes: int) -> None:
        self.names = NAMES[:processes]
        self.numbers = dict.fromkeys(self.names, 0)
        self.open: list[Deliver] = []
        self.done: list[Deliver] = []
        self.elsewhere: list[Deliver] = []  # deliveries that would be at the wrong process

    def step(self, choice: Choice) -> Step | None:
        """The step that this choice encodes at this point, if any."""
        action, first, second = choice
        match action % 16:
            case 0 | 1 | 2:
                return self.send(self.names[first % len(self.names)], second)
            case 3 | 4 | 5 | 6 if self.done:  # a process that has just delivered sends: long chains
                return self.send(self.done[-1].process, second)
            case 7 | 8 | 9 | 10 if self.open:  # the newest: old messages are left behind
                return self.deliver(len(self.open) - 1)
            case 11 | 12 if self.open:
                return self.deliver(first % len(self.open))
            case 13 if self.done:
                return self.done[first % len(self.done)]
            case 14 if self.elsewhere:
                return self.elsewhere[first % len(self.elsewhere)]
            case 15:
                sender, process = (self.names[i % len(self.names)] for i in (first, second))
                return Deliver(process, MessageId(sender, self.numbers[sender] + 1))
        return None

    def send(self, process: str, number: int) -> Send:
        """A causal-send: to some set of processes, to any one, or mostly to the neighbour.

        Messages passed from neighbour to neighbour make long chains without a short cut.
        """
        mask, count = number // 8, len(self.names)
        if number % 8 == 0:
            chosen = 1 + mask % (2**count - 1)
        elif number % 8 < 4:
            chosen = 1 << mask % count
        else:
            chosen = 1 << (self.names.index(process) + 1) % count
        self.numbers[process] += 1
        message = MessageId(process, self.numbers[process])
        receivers = {name for bit, name in enumerate(self.names) if chosen >> bit & 1}
        for name in self.names:
            (self.open if name in receivers else self.elsewhere).append(Deliver(name, message))
        return Send(process, frozenset(receivers))

    def deliver(self, index: int) -> Deliver:
        """A first delivery of a message that waits for it."""
        self.done.append(self.open.pop(index))
        return self.done[-1]


def run_of(processes: int, choices: Sequence[Choice]) -> list[Step]:
    """The run that these numbers encode; numbers without a meaning at their point are skipped."""
    maker = _Maker(processes)
    return [step for choice in choices if (step := maker.step(choice)) is not None]


def random_run(random: Random, length: int, processes: int | None = None) -> list[Step]:
    """A run of about `length` steps, decided by `random` alone."""
    choices = [
        (random.randrange(16), random.randrange(256), random.randrange(256)) for _ in range(length)
    ]
    return run_of(processes or random.randint(2, len(NAMES)), choices)
