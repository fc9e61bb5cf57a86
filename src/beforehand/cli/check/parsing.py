"""Bounds, faults, links and limits of a check, as people write them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Final

from beforehand.checker.program import OpenStep, parse_step
from beforehand.checker.setting import FaultBudget
from beforehand.errors import CheckError

_SECONDS: Final = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600}
_LINK: Final = re.compile(r"([^\s,>-]+)([>-])([^\s,>-]+)")


def seconds(text: str) -> float:
    """How long `90`, `90s`, `10m` or `1h` is."""
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([a-z]*)\s*", text)
    if found is None or found[2] not in _SECONDS or float(found[1]) == 0:
        raise CheckError(f"--time-limit: {text!r} is no duration; write it like 90s, 10m or 1h")
    return float(found[1]) * _SECONDS[found[2]]


def count(number: int, noun: str) -> str:
    """So many of something, in words."""
    if number == 1:
        return f"1 {noun}"
    return f"{number} {noun}{'es' if noun.endswith('s') else 's'}"


def sends(text: str, processes: int | None) -> list[int]:
    """How many messages each process sends, from `5,0,1`."""
    parts = text.split(",")
    if not all(re.fullmatch(r"\s*-?[0-9]+\s*", part) for part in parts):
        raise CheckError(
            f"--sends: {text!r} is no list of numbers; write one for each process, like 5,0,1"
        )
    if processes is not None and len(parts) != processes:
        raise CheckError(
            f"--sends: {text} is for {count(len(parts), 'process')}, and --processes says "
            f"{processes}; give one number for each"
        )
    return [int(part) for part in parts]


def faults(text: str) -> FaultBudget:
    """How often what may happen, from `loss=1,duplicate=1`."""
    known = [field.name for field in fields(FaultBudget)]
    found: dict[str, int] = {}
    for part in text.split(","):
        name, _, number = part.strip().partition("=")
        if name not in known or name in found or not re.fullmatch("[0-9]+", number):
            raise CheckError(
                f"--faults: {part.strip()!r} is not understood; write how often each may happen, "
                f"like loss=1,duplicate=1 (of {', '.join(known)})"
            )
        found[name] = int(number)
    return FaultBudget(**found)


def links(text: str) -> list[tuple[str, str]]:
    """Links with their directions, from `a-b,b>c`."""
    found: list[tuple[str, str]] = []
    for part in text.split(","):
        link = _LINK.fullmatch(part.strip())
        if link is None:
            raise CheckError(
                f"--links: {part.strip()!r} is no link; write a-b for both ways, a>b for one"
            )
        found.append((link[1], link[3]))
        if link[2] == "-":
            found.append((link[3], link[1]))
    return found


def tree(text: str) -> Mapping[str, str]:
    """The parent of each process but the root, from `b:a,c:a`."""
    found: dict[str, str] = {}
    for part in text.split(","):
        child, _, parent = part.strip().partition(":")
        if not child or not parent or child in found:
            raise CheckError(
                f"--tree: {part.strip()!r} is no branch; write child:parent once for each process "
                "but the root, like b:a,c:a"
            )
        found[child] = parent
    return found


def open_link(text: str) -> tuple[str, OpenStep]:
    """Who opens which link, from `a+c/b`."""
    name, step = parse_step(text)
    if not isinstance(step, OpenStep):
        raise CheckError(f"--open: {text!r} opens no link; write a+c, or a+c/b with a mediator")
    return name, step
