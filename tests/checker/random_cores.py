"""Cores that only wander among a few states and send each other signals, at random.

They have no messages, so nothing can be wrong with any of their runs, except for one thing that is
planted: a state in which to end is bad, or an event in a state is an error. An exploration that leaves
out too much misses it.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import cast

from beforehand.checker.program import written_program
from beforehand.checker.setting import FaultBudget, Setting
from beforehand.protocols.controls import RawMessage
from beforehand.protocols.core import Core
from beforehand.protocols.effects import Effect, Transmit
from beforehand.protocols.frames import Frame
from tests.checker.cores import NAMES, Plain

STATES = 12


@dataclass(frozen=True)
class Plan:
    """What these cores do, drawn at random, and the problem that is planted in them."""

    seed: int
    fair: bool  # all processes do the same
    bad_end: tuple[str, int] = ("", 0)  # process ("*": any), state
    bad_step: tuple[str, int, str] = ("", 0, "")  # process ("*": any), state, event


@cache
def _lot(seed: int, process: str, state: int, event: str) -> tuple[int, str, int]:
    """The next state, who gets a signal, and of which of two kinds."""
    rng = random.Random(f"{seed} {process} {state} {event}")
    talks = [1, 3, 2] if event == "open" else [6, 3, 1]
    to = rng.choices(["nobody", "them", "others"], talks)[0]
    return rng.randrange(STATES), to, rng.randrange(2)


class Wanderer(Plain):
    """One process that wanders."""

    def __init__(self, plan: Plan, process: str) -> None:
        super().__init__(process)
        self.plan = plan
        self.state = 0

    def open(self, peer: str, via: object) -> list[Effect]:
        """The only thing that programs make them do."""
        return self._wander("open", peer, 2)

    def receive(self, sender: str, frame: Frame) -> list[Effect]:
        """A signal: its number is how often one may answer it, its payload is its kind."""
        assert isinstance(frame, RawMessage)
        return self._wander(f"signal {frame.payload!r}", sender, int(frame.number))

    def tick(self) -> list[Effect]:
        """Timers make them wander, too, but not from everywhere."""
        return self._wander("tick", "", 1) if self.state % 3 == 0 else []

    def unacknowledged(self) -> int:
        """Whether it must not end here."""
        return int(self.plan.bad_end in ((self.process, self.state), ("*", self.state)))

    def _wander(self, event: str, them: str, answers: int) -> list[Effect]:
        state_and_event = (self.state, event)
        if self.plan.bad_step in ((self.process, *state_and_event), ("*", *state_and_event)):
            raise ValueError(f"{self.process}: {event} in {self.state}")
        who = "" if self.plan.fair else self.process
        self.state, receiver, kind = _lot(self.plan.seed, who, *state_and_event)
        others = [name for name in self.names if name != self.process]
        to = {"nobody": [], "them": [them] * bool(them), "others": others}[receiver]
        return [Transmit(name, RawMessage(answers - 1, b"%d" % kind)) for name in to if answers]


def wanderer(plan: Plan, process: str) -> Core:
    """One core."""
    return cast(Core, Wanderer(plan, process))


def journey(seed: int, fair: bool) -> Setting:
    """A small setting without a problem, drawn at random."""
    rng = random.Random(f"journey {seed}")
    text = rng.choice(["a+b b+c c+a", "a+b a+c b+a", "a+b b+a", "a+c a+b c+b"])
    faults = rng.choice(
        [FaultBudget()] * 3 + [FaultBudget(1), FaultBudget(duplicate=1), FaultBudget(tick=1)]
    )
    return Setting(
        f"journey {seed}",
        written_program(text, NAMES),
        partial(wanderer, Plan(seed, fair)),
        faults,
        fifo=rng.random() < 0.5,
        timer=rng.random() < 0.2,
    )


def spoilt(seed: int, fair: bool, variant: int) -> Setting:
    """The same journey with a planted problem, perhaps where no run ever leads."""
    rng = random.Random(f"spoilt {seed} {variant}")
    process, state = rng.choice(["*", *NAMES]), rng.randrange(STATES)
    if variant % 2:
        plan = Plan(seed, fair, bad_end=(process, state))
    else:
        event = rng.choice(["open", "signal b'0'", "signal b'1'", "tick"])
        plan = Plan(seed, fair, bad_step=(process, state, event))
    return replace(journey(seed, fair), make=partial(wanderer, plan))
