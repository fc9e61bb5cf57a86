"""Names of processes, messages and runs, as people read them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from beforehand.results.format import printable, shortened, some

_INCARNATION: Final = re.compile(r"(.+)@([0-9a-f]{16})", re.DOTALL)  # how real nodes are traced
_SUFFIX: Final = 4  # digits that distinguish two incarnations of one process
_DIGITS: Final = re.compile(r"([0-9]+)")


def labels(processes: Sequence[str]) -> tuple[str, ...]:
    """What to call each process: without its incarnation where the name is unique."""
    found = list(processes)
    for digits in (0, _SUFFIX):
        short = [_short(name, digits) for name in processes]
        # A short name must not be what another process is called, or could be.
        taken = Counter(short) + Counter(
            name for name, each in zip(found, short, strict=True) if name != each
        )
        for place, each in enumerate(short):
            if found[place] == processes[place] and taken[each] == 1:
                found[place] = each
    return tuple(found)


def _short(name: str, digits: int) -> str:
    parts = _INCARNATION.fullmatch(name)
    if parts is None:
        return name
    return parts[1] + (f"@{parts[2][:digits]}" if digits else "")


def natural(name: str) -> tuple[list[tuple[int, int, str]], str]:
    """A key that puts p2 before p10."""
    parts = _DIGITS.split(name)
    key = [(0, int(part[:18]), "") if part.isdecimal() else (1, 0, part) for part in parts]
    return key, name


def message_name(sender: str, mid: int) -> str:
    """What a message is called: `alice#3`."""
    return f"{sender}#{mid}"


def quoted(name: str) -> str:
    """A name in a sentence: short, and printable everywhere."""
    return shortened(printable(name)) or "(no name)"


def some_of(names: Sequence[str]) -> str:
    """The first few names, in a sentence."""
    return some([quoted(name) for name in names])
