"""`check_on_spark`: a check whose program is split into parts, each explored by a Spark task.

The driver explores on its own first, which completes small checks and finds most violations. Larger
programs are split (`checker/search/partition.py`), with one task per part; together the parts are the
whole. A violation in one task cancels the others, and the driver searches for the shortest run to it.
"""

import time
from dataclasses import replace
from functools import partial
from typing import Final

from pyspark.sql import SparkSession

from beforehand.checker.explore import ProgressCallback, check
from beforehand.checker.search.partition import split_program
from beforehand.checker.search.reductions.symmetry import renamings
from beforehand.checker.setting import Setting
from beforehand.checker.verdict import SearchProgress, Verdict
from beforehand.pipeline.check.tasks import TaskResult, TaskSpec, combine, run_tasks, seconds_to

DRIVER_STATES: Final = 200_000  # that the driver explores on its own first: a few seconds
PARTS_PER_SLOT: Final = 4  # parts differ in size: more of them balance the load


def check_on_spark(
    spark: SparkSession,
    setting: Setting,
    *,
    reduce: bool = True,
    symmetry: bool = True,
    max_states: int | None = None,
    seconds: float | None = None,
    tasks: int | None = None,
    progress: ProgressCallback | None = None,
    driver_states: int = DRIVER_STATES,
) -> Verdict:
    """Like `checker.check`, in at least `tasks` tasks if the program has enough choices.

    `states` and `transitions` are sums over the tasks: a state that several of them reach counts once
    in each. `max_states` limits each task, `seconds` the whole check. A program without choices
    cannot be split, and is explored by the driver.
    """
    started = time.monotonic()
    deadline = None if seconds is None else time.time() + seconds
    here = partial(check, setting, reduce=reduce, symmetry=symmetry, progress=progress)
    group = renamings(setting.program)
    if len(split_program(setting.program, 2, group[:1])) == 1:
        return here(max_states=max_states, seconds=seconds)
    if max_states is not None and max_states <= driver_states:
        return here(max_states=max_states, seconds=seconds)
    first = here(max_states=driver_states, seconds=seconds)
    if first.outcome != "unfinished" or first.states < driver_states:
        return first
    wanted = tasks or PARTS_PER_SLOT * spark.sparkContext.defaultParallelism
    # Parts that are renamings of each other are explored as one, unless the cores turn out to differ.
    for merged in (True, False) if first.symmetries > 1 else (False,):
        used = group if merged else group[:1]
        parts = split_program(setting.program, wanted, used)
        spec = TaskSpec(setting, reduce, symmetry, max_states, deadline, merged)
        report = partial(_report, progress, started, len(parts))
        results = run_tasks(spark, spec, parts, report)
        if not any(result.asymmetric for result in results):
            break
    verdicts = [result.verdict for result in results if result.verdict is not None]
    verdict = combine(verdicts, len(parts), len(used))
    if verdict.outcome == "violated":
        verdict = _shorter(verdict, here(max_states=max_states, seconds=seconds_to(deadline)))
    return replace(verdict, seconds=time.monotonic() - started)


def _shorter(distributed: Verdict, searched: Verdict) -> Verdict:
    """The shortest counterexample, if the driver has found it; otherwise that of a task."""
    if searched.counterexample is not None:
        return searched
    reason = f"a shorter run may exist: the search for it did not finish ({searched.reason})"
    return replace(distributed, reason=reason)


def _report(
    progress: ProgressCallback | None, started: float, parts: int, results: list[TaskResult]
) -> None:
    """Report the states of finished tasks; the parts of the others are `waiting`."""
    if progress is not None:
        so_far = combine([result.verdict for result in results if result.verdict], parts, 1)
        waiting = parts - len(results)
        seconds = time.monotonic() - started
        progress(SearchProgress(so_far.states, so_far.transitions, so_far.depth, waiting, seconds))
