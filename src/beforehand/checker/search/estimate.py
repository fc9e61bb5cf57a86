"""How large an exploration will be, extrapolated from small ones before it starts.

The same setting is explored with fewer causal-sends, one more at a time, for two seconds in all. Each
further one multiplies the number of states by about the same factor, provided that states that are
renamings of each other are counted separately. The estimate is good to about a factor of ten: enough to
distinguish minutes from years.
"""

import time
from dataclasses import dataclass, replace
from math import exp, log

from beforehand.checker.explore import check
from beforehand.checker.program import shortened
from beforehand.checker.search.reductions.symmetry import renamings
from beforehand.checker.setting import Setting
from beforehand.checker.verdict import Verdict

SECONDS = 2.0  # for all small explorations together
QUICK = 60.0  # seconds: below that, the estimate need not be refined
MOST = 600.0  # as a power of e: close to the largest float
# What an exploration keeps of each state: its fingerprint in a table that is half empty, its
# predecessor, and of one in ten the row itself, until it is expanded.
BYTES_PER_STATE = 48


@dataclass(frozen=True)
class Estimate:
    """The expected cost of an exploration."""

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
    """The expected cost; None if unknown, because the setting is small or soon violates a guarantee."""
    end = time.monotonic() + seconds
    most = {name: setting.program.sends(name) for name in setting.processes}
    sends, senders = sum(most.values()), sum(map(bool, most.values()))
    verdicts: list[Verdict] = []  # with 1, 2, 3, ... sends in all
    guess = None
    symmetric = symmetry  # whether the cores treated names alike so far
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
        verdicts.append(verdict)
        symmetric = symmetric and verdict.symmetries == len(renamings(program))
        if some > 1:
            group = len(renamings(setting.program)) if symmetric else 1
            guess = _extrapolated(verdicts, sends, min(senders, some - 1), group)
        if some > senders and guess is not None and guess.seconds < QUICK:
            break
    return guess


def _shares(most: dict[str, int], sends: int) -> dict[str, int]:
    """Distribute that many sends over the processes in turn, within their limits."""
    shares = dict.fromkeys(most, 0)
    while sends:
        for name in most:
            if sends and shares[name] < most[name]:
                shares[name] += 1
                sends -= 1
    return shares


def _extrapolated(verdicts: list[Verdict], sends: int, span: int, symmetries: int) -> Estimate:
    """Assume the growth over the last `span` sends for the remaining ones."""
    last, before = verdicts[-1], verdicts[-1 - span]
    growth = log(_unreduced(last) / _unreduced(before)) / span
    exponent = log(_unreduced(last)) + growth * (sends - len(verdicts))
    states = exp(min(exponent, MOST)) / symmetries
    speed = max(verdict.states / max(verdict.seconds, 1e-9) for verdict in verdicts)
    return Estimate(states, states / speed, states * BYTES_PER_STATE)


def _unreduced(verdict: Verdict) -> int:
    """About how many states there are without symmetry."""
    return verdict.states * verdict.symmetries
