"""What a slip of a printed algorithm is: a change of text, and the bound at which it shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from beforehand import protocols
from beforehand.checker.setting import NO_FAULTS, FaultBudget, Setting, setting
from beforehand.checker.verdict import ProblemKind
from beforehand.protocols.core import Core
from tests.checker.printed.around import Liar
from tests.checker.printed.punctual import Punctual, Rules
from tests.mutants.broken import broken_modules
from tests.mutants.mutant import Change

Make = Callable[[str], Core]
Changes = tuple[Change, ...]


@dataclass(frozen=True)
class Algorithm:
    """Where a slip can be made: the modules to copy, the class in the last of them, our own core."""

    modules: tuple[str, ...]
    name: str
    real: str
    conservative: bool = True  # of CSPS, not SPS

    def copied(self, slip: str, changes: Changes) -> Make:
        """How to make cores of a copy with these changes."""
        kind: Make = getattr(broken_modules(self.modules, slip, changes)[-1], self.name)
        return kind


@dataclass(frozen=True)
class Bound:
    """How much is explored: any receivers for so many sends of each process, or one program."""

    sends: tuple[int, ...] = ()
    program: str = ""
    multicast: bool = False
    faults: FaultBudget = NO_FAULTS

    def setting(self, protocol: str, make: Make) -> Setting:
        """This bound for a protocol of the registry, with these cores in its place."""
        chosen = setting(
            protocol,
            sends=self.sends or None,
            program=self.program or None,
            multicast=self.multicast,
            faults=self.faults,
        )
        return replace(chosen, make=make)

    def smaller(self) -> Iterator[Bound]:
        """One send less, one process less, or one fault less, in every way."""
        for index, count in enumerate(self.sends):
            if count:
                yield replace(
                    self, sends=(*self.sends[:index], count - 1, *self.sends[index + 1 :])
                )
        if len(self.sends) > 2:
            yield replace(self, sends=self.sends[:-1])
        steps = self.program.split()
        for index in range(len(steps)):
            yield replace(self, program=" ".join(steps[:index] + steps[index + 1 :]))
        if self.faults.loss:
            yield replace(self, faults=replace(self.faults, loss=self.faults.loss - 1))
        if self.faults.duplicate:
            yield replace(self, faults=replace(self.faults, duplicate=self.faults.duplicate - 1))

    def __str__(self) -> str:
        description = (
            f"`{self.program}`" if self.program else f"sends {','.join(map(str, self.sends))}"
        )
        description += ", multicast" if self.multicast else ""
        for name in ("loss", "duplicate", "tick"):
            count = getattr(self.faults, name)
            description += f", {name}={count}" if count else ""
        return description


@dataclass(frozen=True)
class Slip:
    """One slip, and how it is found."""

    name: str
    algorithm: Algorithm
    changes: Changes
    bound: Bound
    kind: ProblemKind
    length: int  # actions of the shortest run
    sentence_part: str  # a part of the sentence that explains it
    # Not every slip shows in runs of correct peers, or breaks a promise to the application:
    # cores that acknowledge the next or the last id too, or that are watched for late permits.
    around: Literal["", "lie: next", "lie: last", "punctual"] = ""

    def broken(self, bound: Bound | None = None) -> Setting:
        """Cores that have this slip, at the bound at which it shows or at another one."""
        return self._setting(self.algorithm.copied(self.name, self.changes), bound or self.bound)

    def unbroken(self) -> Setting:
        """Copies of the same cores without it."""
        return self._setting(self.algorithm.copied("nothing", ()), self.bound)

    def real(self) -> Setting:
        """Our own cores in their place."""
        make = partial(protocols.create, self.algorithm.real)
        return self._setting(make, self.bound, cumulative=True)

    def _setting(self, make: Make, bound: Bound, cumulative: bool = False) -> Setting:
        around = self._around(make, Rules(self.algorithm.conservative, cumulative))
        return bound.setting(self.algorithm.real, around)

    def _around(self, make: Make, rules: Rules) -> Make:
        match self.around:
            case "lie: next":
                return lambda process: Liar(make(process), 1)
            case "lie: last":
                return lambda process: Liar(make(process), -1)
            case "punctual":
                return lambda process: Punctual(make(process), rules)
            case _:
                return make

    @property
    def instead(self) -> str:
        """The outcome of cores without the slip at this bound."""
        if self.around.startswith("lie"):
            return "refused"
        return "no program" if "a> " in self.bound.program else "correct"
