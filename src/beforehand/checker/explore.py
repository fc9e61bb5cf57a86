"""`check`: explore a setting and judge it."""

import os
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from beforehand.checker.explain.coverage import coverage
from beforehand.checker.program import CheckProgram
from beforehand.checker.search.partition import verify_symmetry
from beforehand.checker.search.reductions.images import NotSymmetric
from beforehand.checker.search.reductions.symmetry import renamings
from beforehand.checker.search.search import Limits, StateSearch
from beforehand.checker.setting import Setting
from beforehand.checker.verdict import Counterexample, SearchProgress, Verdict
from beforehand.checker.world import replay

_MEMORY_SHARE = 0.75  # of the memory that is free at the start: tables need the rest to grow

ProgressCallback = Callable[[SearchProgress], None]


def check(
    setting: Setting,
    *,
    reduce: bool = True,
    symmetry: bool = True,
    depth_first: bool = False,
    max_states: int | None = None,
    seconds: float | None = None,
    workers: int | None = None,
    progress: ProgressCallback | None = None,
    whole: CheckProgram | None = None,
) -> Verdict:
    """Explore every run of a setting.

    The counterexample to a violated guarantee is as short as possible. A limit that is hit makes the
    verdict `unfinished`, never `correct`. If the setting is one part of the program `whole` and
    represents all its renamings, NotSymmetric is raised when these are not all alike.
    """
    started = time.monotonic()
    workers = workers or os.cpu_count() or 1
    group = renamings(setting.program)
    if not symmetry:
        group = group[:1]

    def explore(reduce: bool, depth_first: bool, limits: Limits) -> StateSearch:
        used = group
        while True:
            try:
                search = StateSearch(
                    setting, used, reduce=reduce, depth_first=depth_first, workers=workers
                )
                search.explore(limits, progress)
                return search
            except NotSymmetric:
                used = group[:1]  # the cores do not treat names alike: explore without symmetry

    limits = Limits(max_states, seconds, int(_MEMORY_SHARE * free_memory()))
    search = explore(reduce, depth_first, limits)
    if whole is not None:
        verify_symmetry(search.local, replace(setting, program=whole))
    if search.problem_depth is not None and (reduce or depth_first):
        # There is a problem; a plain breadth-first search finds the shortest run to it.
        limits = replace(limits, seconds=seconds and max(1, seconds - time.monotonic() + started))
        plain = explore(False, False, limits)
        search.run_to_problem, search.depth = plain.run_to_problem, plain.depth
        if plain.reason:
            search.reason = f"it is violated, but in the search for a shortest run {plain.reason}"
    return _verdict(setting, search, time.monotonic() - started)


def _outcome(search: StateSearch) -> Literal["correct", "violated", "unfinished"]:
    if search.problem_depth is not None:
        return "violated"
    return "unfinished" if search.reason else "correct"


def _verdict(setting: Setting, search: StateSearch, seconds: float) -> Verdict:
    counterexample = None
    if search.run_to_problem is not None:
        _, problem = replay(setting, search.run_to_problem)
        assert problem is not None, f"packed and real worlds disagree: {search.run_to_problem}"
        counterexample = Counterexample(search.run_to_problem, problem)
    return Verdict(
        outcome=_outcome(search),
        states=search.visited.count,
        transitions=search.transitions,
        depth=search.depth,
        seconds=seconds,
        seen=coverage(setting, search.coverage),
        counterexample=counterexample,
        reason=search.reason,
        symmetries=len(search.local.group),
        reduced=search.reduce,
    )


def free_memory() -> int:
    """Bytes that this process can still allocate, approximately."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            fields = dict(line.split(":", 1) for line in lines)
        return int(fields["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
