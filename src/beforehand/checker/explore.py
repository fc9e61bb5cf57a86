"""`check`: explore a setting, and judge what was found."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from beforehand.checker.explain.coverage import sometimes
from beforehand.checker.program import Program
from beforehand.checker.search.images import NotSymmetric
from beforehand.checker.search.partition import mirror
from beforehand.checker.search.search import Limits, Search
from beforehand.checker.search.symmetry import renamings
from beforehand.checker.setting import Setting
from beforehand.checker.verdict import Counterexample, Progress, Verdict
from beforehand.checker.world import replay

_SHARE = 0.75  # of the memory that is free at the start: the rest is for growing tables

Tell = Callable[[Progress], None]


def check(
    setting: Setting,
    *,
    reduce: bool = True,
    symmetry: bool = True,
    depth_first: bool = False,
    max_states: int | None = None,
    seconds: float | None = None,
    workers: int | None = None,
    progress: Tell | None = None,
    whole: Program | None = None,
) -> Verdict:
    """Explore every run of a setting.

    On a violation the counterexample is as short as possible. Limits that are hit make the verdict
    `unfinished`, never `correct`. `whole` is a program of which this one is a part, explored for all its
    renamings: raises NotSymmetric if these are not all alike.
    """
    started = time.monotonic()
    workers = workers or os.cpu_count() or 1
    limits = Limits(max_states, seconds, int(_SHARE * free_memory()))
    search = _searched(setting, reduce, symmetry, depth_first, workers, limits, progress)
    if whole is not None:
        mirror(search.local, replace(setting, program=whole))
    if search.problem_at is not None and (reduce or depth_first):
        # It is known to be there; which is the shortest run to it?
        limits = replace(limits, seconds=seconds and max(1, seconds - time.monotonic() + started))
        plain = _searched(setting, False, symmetry, False, workers, limits, progress)
        search.run_to_problem, search.depth = plain.run_to_problem, plain.depth
        if plain.reason:
            search.reason = f"it is violated, but in the search for a shortest run {plain.reason}"
    return _verdict(setting, search, time.monotonic() - started)


def _searched(
    setting: Setting,
    reduce: bool,
    symmetry: bool,
    depth_first: bool,
    workers: int,
    limits: Limits,
    progress: Tell | None,
) -> Search:
    group = renamings(setting.program)
    if not symmetry:
        group = group[:1]
    while True:
        try:
            search = Search(setting, group, reduce=reduce, depth_first=depth_first, workers=workers)
            search.explore(limits, progress)
            return search
        except NotSymmetric:
            group = group[:1]  # the cores do not treat names alike: explore every one


def _outcome(search: Search) -> Literal["correct", "violated", "unfinished"]:
    if search.problem_at is not None:
        return "violated"
    return "unfinished" if search.reason else "correct"


def _verdict(setting: Setting, search: Search, seconds: float) -> Verdict:
    found = None
    if search.run_to_problem is not None:
        _, problem = replay(setting, search.run_to_problem)
        assert problem is not None, f"the cores disagree about {search.run_to_problem}"
        found = Counterexample(search.run_to_problem, problem)
    return Verdict(
        _outcome(search),
        search.visited.count,
        search.transitions,
        search.depth,
        seconds,
        sometimes(setting, search.seen),
        found,
        search.reason,
        len(search.local.group),
        bool(search.shape.reduce),
    )


def free_memory() -> int:
    """Bytes that this process can still have, about."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            known = dict(line.split(":", 1) for line in lines)
        return int(known["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
