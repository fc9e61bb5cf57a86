"""What an exploration found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from beforehand.checker.actions import Run

# What the oracle objects to; a core that refuses what a correct peer sent, or fails; and at the end of
# a run, a message that was never delivered, or a core that waits for something for ever.
ProblemKind = Literal[
    "causal", "fifo", "duplicate", "invented", "refused", "error", "undelivered", "stuck"
]


@dataclass(frozen=True)
class Problem:
    """A broken promise, and a sentence that a person can follow."""

    kind: ProblemKind
    sentence: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.sentence}"


@dataclass(frozen=True)
class Counterexample:
    """A run that ends in a problem."""

    run: Run
    problem: Problem


@dataclass(frozen=True)
class Verdict:
    """The result of an exploration.

    `correct`: all of it was explored. `violated`: there is a counterexample (unless a limit was hit in
    the search for the shortest one). `unfinished`: a limit
    was hit, which `reason` tells; nothing was found so far.
    """

    outcome: Literal["correct", "violated", "unfinished"]
    states: int  # distinct ones
    transitions: int  # all steps taken, whether their end was new or not
    depth: int  # actions of the longest run explored
    seconds: float
    seen: dict[str, bool] = field(default_factory=dict)  # the `sometimes` properties
    counterexample: Counterexample | None = None
    reason: str = ""
    symmetries: int = 1  # renamings of the processes under which states counted as one
    reduced: bool = True  # whether partial-order reduction was on

    @property
    def unseen(self) -> tuple[str, ...]:
        """What should have been seen and never was."""
        return tuple(name for name, seen in self.seen.items() if not seen)


@dataclass(frozen=True)
class Progress:
    """How far an exploration is."""

    states: int
    transitions: int
    depth: int
    waiting: int  # states that have yet to be looked at
    seconds: float
