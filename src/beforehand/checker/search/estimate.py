"""How large an exploration will be, from small ones: said before it starts, not after a night.

The same setting with fewer causal-sends is explored, with one more at a time, for two seconds in all.
Each further one multiplies the states by about the same factor, if states that are renamings of each
other are counted one by one; what is left is a power. This is a guess, good to about a factor of ten:
enough to tell minutes from years.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from math import exp, log

from beforehand.checker.explore import check
from beforehand.checker.program import shortened
from beforehand.checker.search.symmetry import renamings
from beforehand.checker.setting import Setting
from beforehand.checker.verdict import Verdict

SECONDS = 2.0  # for all small explorations together
QUICK = 60.0  # seconds: a guess below that need not be a better one
MOST = 600.0  # as a power of e: no float is much larger, and no universe either
# What an exploration keeps of each state: its fingerprint in a table that is half empty, how it was
# reached, and of one in ten the state itself, until it is looked at.
BYTES_PER_STATE = 48


@dataclass(frozen=True)
class Estimate:
    """What an exploration may take."""

    states: float
    seconds: float
    bytes: float


def estimate(
    setting: Setting,
    *,
    reduce: bool = True,
    symmetry: bool = True,
    workers: int | None = None,
    seconds: float = SECONDS,
) -> Estimate | None:
    """What to expect; None if nobody can tell, because it is small or ends early with a violation."""
    end = time.monotonic() + seconds
    most = {name: setting.program.sends(name) for name in setting.processes}
    sends, senders = sum(most.values()), sum(map(bool, most.values()))
    found: list[Verdict] = []  # with 1, 2, 3, ... sends in all
    guess = None
    alike = symmetry  # whether the cores treat names alike, as far as one has seen
    for some in range(1, sends):
        program = shortened(setting.program, _shares(most, some))
        verdict = check(
            replace(setting, program=program),
            reduce=reduce,
            symmetry=symmetry,
            workers=workers,
            seconds=max(end - time.monotonic(), 0.0),
        )
        if verdict.outcome == "violated":
            return None
        if verdict.outcome == "unfinished":
            break
        found.append(verdict)
        alike = alike and verdict.symmetries == len(renamings(program))
        if some > 1:
            group = len(renamings(setting.program)) if alike else 1
            guess = _extrapolated(found, sends, min(senders, some - 1), group)
        if some > senders and guess is not None and guess.seconds < QUICK:
            break
    return guess


def _shares(most: dict[str, int], sends: int) -> dict[str, int]:
    """So many sends, dealt out in turn to those who have some left."""
    dealt = dict.fromkeys(most, 0)
    while sends:
        for name in most:
            if sends and dealt[name] < most[name]:
                dealt[name] += 1
                sends -= 1
    return dealt


def _extrapolated(found: list[Verdict], sends: int, span: int, symmetries: int) -> Estimate:
    """Go on as over the last sends, if possible one for each sender."""
    last, before = found[-1], found[-1 - span]
    growth = log(_apart(last) / _apart(before)) / span
    apart = log(_apart(last)) + growth * (sends - len(found))
    states = exp(min(apart, MOST)) / symmetries
    speed = max(each.states / max(each.seconds, 1e-9) for each in found)
    return Estimate(states, states / speed, states * BYTES_PER_STATE)


def _apart(verdict: Verdict) -> int:
    """The states, if those that are renamings of each other counted one by one; about."""
    return verdict.states * verdict.symmetries
