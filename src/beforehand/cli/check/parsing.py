"""Parsers for the values of `beforehand check`: bounds, faults, links and limits."""

import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Final

from beforehand.checker.program import OpenStep, parse_step
from beforehand.checker.setting import FaultBudget
from beforehand.errors import CheckError
from beforehand.results.format import counted

_SECONDS: Final = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600}
_LINK: Final = re.compile(r"([^\s,>-]+)([>-])([^\s,>-]+)")


def seconds(text: str) -> float:
    """Seconds, from `90`, `90s`, `10m` or `1h`."""
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([a-z]*)\s*", text)
    if match is None or match[2] not in _SECONDS or float(match[1]) == 0:
        raise CheckError(f"--time-limit: {text!r} is not a duration; write it like 90s, 10m or 1h")
    return float(match[1]) * _SECONDS[match[2]]


def sends(text: str, processes: int | None) -> list[int]:
    """How many messages each process sends, from `5,0,1`."""
    parts = text.split(",")
    if not all(re.fullmatch(r"\s*-?[0-9]+\s*", part) for part in parts):
        raise CheckError(
            f"--sends: {text!r} is not a list of numbers; write one for each process, like 5,0,1"
        )
    if processes is not None and len(parts) != processes:
        raise CheckError(
            f"--sends: {text} is for {counted(len(parts), 'process')}, but --processes is "
            f"{processes}; give one number for each"
        )
    return [int(part) for part in parts]


def faults(text: str) -> FaultBudget:
    """How many faults of each kind may happen, from `loss=1,duplicate=1`."""
    known = [field.name for field in fields(FaultBudget)]
    limits: dict[str, int] = {}
    for part in text.split(","):
        name, _, number = part.strip().partition("=")
        if name not in known or name in limits or not re.fullmatch("[0-9]+", number):
            raise CheckError(
                f"--faults: {part.strip()!r} is not a fault with its number; write them like "
                f"loss=1,duplicate=1 (known: {', '.join(known)})"
            )
        limits[name] = int(number)
    return FaultBudget(**limits)


def links(text: str) -> list[tuple[str, str]]:
    """Links with their directions, from `a-b,b>c`."""
    directed: list[tuple[str, str]] = []
    for part in text.split(","):
        link = _LINK.fullmatch(part.strip())
        if link is None:
            raise CheckError(
                f"--links: {part.strip()!r} is not a link; write a-b for both ways, a>b for one"
            )
        directed.append((link[1], link[3]))
        if link[2] == "-":
            directed.append((link[3], link[1]))
    return directed


def tree(text: str) -> Mapping[str, str]:
    """The parent of each process but the root, from `b:a,c:a`."""
    parents: dict[str, str] = {}
    for part in text.split(","):
        child, _, parent = part.strip().partition(":")
        if not child or not parent or child in parents:
            raise CheckError(
                f"--tree: {part.strip()!r} is not a branch; write child:parent once for each process "
                "but the root, like b:a,c:a"
            )
        parents[child] = parent
    return parents


def open_link(text: str) -> tuple[str, OpenStep]:
    """Who opens which link, from `a+c/b`."""
    name, step = parse_step(text)
    if not isinstance(step, OpenStep):
        raise CheckError(
            f"--open: {text!r} does not open a link; write a+c, or a+c/b with a mediator"
        )
    return name, step
