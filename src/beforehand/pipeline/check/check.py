"""A check on Spark: the parts of a program, each explored by a task.

First this machine explores on its own: what is small is done by that, and most violations are found.
What is larger is divided (`checker/parts.py`), and each part goes out as a task. All of them together
are the whole. A violation that a task finds ends the others, and this machine looks for the shortest.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final

from pyspark.sql import SparkSession

from beforehand.checker.explore import check
from beforehand.checker.search.partition import split_program
from beforehand.checker.search.reductions.symmetry import renamings
from beforehand.checker.setting import Setting
from beforehand.checker.verdict import SearchProgress, Verdict
from beforehand.pipeline.check.tasks import TaskResult, TaskSpec, combine, run_tasks, seconds_to

AT_ONCE: Final = 200_000  # states that this machine explores on its own first: a few seconds
PARTS_PER_SLOT: Final = 4  # they differ in size, and who is done with a small one takes another

Tell = Callable[[SearchProgress], None]


def check_on_spark(
    spark: SparkSession,
    setting: Setting,
    *,
    reduce: bool = True,
    symmetry: bool = True,
    max_states: int | None = None,
    seconds: float | None = None,
    tasks: int | None = None,
    progress: Tell | None = None,
    at_once: int = AT_ONCE,
) -> Verdict:
    """Like `checker.explore.check`, by `tasks` tasks or more if the program allows.

    `states` and `transitions` are sums over the tasks: a state that several of them reach counts once
    in each. `max_states` bounds each task, `seconds` everything together. A program without choices
    cannot be divided, and is explored here.
    """
    began = time.monotonic()
    deadline = None if seconds is None else time.time() + seconds
    here = partial(check, setting, reduce=reduce, symmetry=symmetry, progress=progress)
    group = renamings(setting.program)
    if len(split_program(setting.program, 2, group[:1])) == 1:
        return here(max_states=max_states, seconds=seconds)
    if max_states is not None and max_states <= at_once:
        return here(max_states=max_states, seconds=seconds)
    first = here(max_states=at_once, seconds=seconds)
    if first.outcome != "unfinished" or first.states < at_once:
        return first
    wanted = tasks or PARTS_PER_SLOT * spark.sparkContext.defaultParallelism
    tell = partial(_tell, progress, began)
    # Parts that are renamings of each other go out as one, unless the cores are seen to differ.
    for merged in (True, False) if first.symmetries > 1 else (False,):
        chosen = group if merged else group[:1]
        pieces = split_program(setting.program, wanted, chosen)
        order = TaskSpec(setting, reduce, symmetry, max_states, deadline, merged)
        found = run_tasks(spark, order, pieces, partial(tell, len(pieces)))
        if not any(each.asymmetric for each in found):
            break
    verdicts = [each.verdict for each in found if each.verdict is not None]
    verdict = combine(verdicts, len(pieces), len(chosen))
    if verdict.outcome == "violated":
        verdict = _shorter(verdict, here(max_states=max_states, seconds=seconds_to(deadline)))
    return replace(verdict, seconds=time.monotonic() - began)


def _shorter(found: Verdict, searched: Verdict) -> Verdict:
    """The shortest counterexample, if this machine came to it; else the one that a task found."""
    if searched.counterexample is not None:
        return searched
    reason = f"a shorter run may exist: the search for it did not finish ({searched.reason})"
    return replace(found, reason=reason)


def _tell(progress: Tell | None, began: float, pieces: int, found: list[TaskResult]) -> None:
    """How far it is: the states of tasks that are done; parts that are not are `waiting`."""
    if progress is not None:
        so_far = combine([each.verdict for each in found if each.verdict], pieces, 1)
        waiting = pieces - len(found)
        seconds = time.monotonic() - began
        progress(SearchProgress(so_far.states, so_far.transitions, so_far.depth, waiting, seconds))
