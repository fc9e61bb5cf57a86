"""The result of an exploration."""

from dataclasses import dataclass, field
from typing import Literal

from beforehand.checker.actions import Run

# Violations that the oracle reports; a core that refuses a frame of a correct peer, or fails; and at the
# end of a run, a message that was never delivered, or a core that still waits for something.
ProblemKind = Literal[
    "causal", "fifo", "duplicate", "invented", "refused", "error", "undelivered", "stuck"
]


@dataclass(frozen=True)
class CheckProblem:
    """A broken guarantee, with a sentence that explains it."""

    kind: ProblemKind
    sentence: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.sentence}"


@dataclass(frozen=True)
class Counterexample:
    """A run that ends in a problem."""

    run: Run
    problem: CheckProblem


@dataclass(frozen=True)
class Verdict:
    """The result of an exploration.

    `correct`: every run was explored. `violated`: there is a counterexample (unless the search for the
    shortest one hit a limit). `unfinished`: a limit was hit, named by `reason`, and no problem was
    found up to there.
    """

    outcome: Literal["correct", "violated", "unfinished"]
    states: int  # distinct states
    transitions: int  # including those to states that were already known
    depth: int  # actions of the longest run explored
    seconds: float
    seen: dict[str, bool] = field(default_factory=dict)  # the coverage conditions that were met
    counterexample: Counterexample | None = None
    reason: str = ""
    symmetries: int = 1  # renamings of processes; states equal up to these count as one
    reduced: bool = True  # whether partial-order reduction was on

    @property
    def unseen(self) -> tuple[str, ...]:
        """Coverage conditions that were never met."""
        return tuple(name for name, seen in self.seen.items() if not seen)


@dataclass(frozen=True)
class SearchProgress:
    """How far an exploration has got."""

    states: int
    transitions: int
    depth: int
    waiting: int  # states yet to be expanded
    seconds: float
