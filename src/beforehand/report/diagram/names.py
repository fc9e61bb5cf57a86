"""Names of processes, messages and runs, as people read them."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from beforehand.results.format import printable, shortened, some

_INCARNATION: Final = re.compile(r"(.+)@([0-9a-f]{16})", re.DOTALL)  # how real nodes are traced
_SUFFIX: Final = 4  # digits that distinguish two incarnations of one process
_DIGITS: Final = re.compile(r"([0-9]+)")


def labels(processes: Sequence[str]) -> tuple[str, ...]:
    """The label of each process: without its incarnation where the name is unique."""
    chosen = list(processes)
    for digits in (0, _SUFFIX):
        short = [_short(name, digits) for name in processes]
        # A label must not be the name or a possible label of another process.
        others = (name for name, label in zip(chosen, short, strict=True) if name != label)
        taken = Counter([*short, *others])
        for index, label in enumerate(short):
            if chosen[index] == processes[index] and taken[label] == 1:
                chosen[index] = label
    return tuple(chosen)


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
    """The name of a message: `alice#3`."""
    return f"{sender}#{mid}"


def quoted(name: str) -> str:
    """A name in a sentence: short, and printable everywhere."""
    return shortened(printable(name)) or "(no name)"


def some_of(names: Sequence[str]) -> str:
    """The first few names, in a sentence."""
    return some([quoted(name) for name in names])
