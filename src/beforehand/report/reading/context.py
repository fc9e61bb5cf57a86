"""State shared while a folder is read: names in use, and missing parts."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from beforehand.report.commands import Commands
from beforehand.report.model import MissingPart

T = TypeVar("T")

_MOST_LETTERS: Final = 60  # of a name: it becomes a file name and a part of links


class Gap(Exception):
    """Something cannot be read: it is damaged, or was never finished, so that its note is missing."""

    def __init__(self, problem: str, damaged: bool = True) -> None:
        self.damaged = damaged
        super().__init__(problem)


class ReadingContext:
    """The state of one report."""

    def __init__(self, root: Path, commands: Commands) -> None:
        self.root = root
        self.commands = commands
        self.missing: list[MissingPart] = []
        self._taken: set[str] = set()

    def name(self, *words: str) -> str:
        """A unique name of letters, digits and dashes."""
        plain = re.sub(r"[^a-z0-9]+", "-", "-".join(words).lower()).strip("-")
        plain = plain[:_MOST_LETTERS].rstrip("-") or "part"
        name, number = plain, 2
        while name in self._taken:
            name, number = f"{plain}-{number}", number + 1
        self._taken.add(name)
        return name

    def label(self, folder: Path) -> str:
        """What to call a folder: its path below the root, or the root's own name."""
        inside = folder.relative_to(self.root).as_posix()
        return (self.root.resolve().name or "report") if inside == "." else inside

    def part(self, what: str, remedy: str, repair: str | None = None) -> PartContext:
        """A part that is about to be read."""
        return PartContext(self, what, remedy, remedy if repair is None else repair)


@dataclass(frozen=True)
class PartContext:
    """A part of a report, which may have gaps."""

    context: ReadingContext
    what: str  # such as "the sweep growth"
    remedy: str  # what to do if it was not finished
    repair: str  # what to do if something of it is damaged or deleted

    def miss(self, which: str, why: str, *, damaged: bool = False) -> None:
        """List something of it as missing."""
        remedy = self.repair if damaged else self.remedy
        gap = MissingPart(f"{which} of {self.what}", f"{why}; {remedy}")
        if gap not in self.context.missing:
            self.context.missing.append(gap)

    def attempt(self, which: str, read: Callable[[], T]) -> T | None:
        """The result of `read`; None if there is a gap, which is then listed as missing."""
        try:
            return read()
        except Gap as gap:
            self.miss(which, str(gap), damaged=gap.damaged)
        except OSError as problem:  # such as missing permissions
            self.miss(which, f"{problem.filename} cannot be read ({problem.strerror})")
        return None
