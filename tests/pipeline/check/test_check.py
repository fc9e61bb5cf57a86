"""Checks on Spark: the verdicts of a check on one machine, by many tasks."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest
from pyspark.sql import SparkSession

from beforehand import protocols
from beforehand.checker.explore import check
from beforehand.checker.setting import setting
from beforehand.checker.verdict import SearchProgress
from beforehand.checker.world import replay
from beforehand.errors import PipelineError
from beforehand.pipeline.check import check_on_spark
from beforehand.protocols.core import Core

pytestmark = pytest.mark.spark

NEXT_TO_NOTHING = 1  # states that the driver explores: the rest is left to the tasks


@pytest.mark.parametrize("symmetry", [True, False])
def test_a_correct_protocol(spark: SparkSession, symmetry: bool) -> None:
    """The same verdict with all reductions and with none, and some task saw what is to be seen."""
    chosen = setting("hybrid", sends=[2, 1, 1])
    alone = check(chosen, reduce=symmetry, symmetry=symmetry)
    told: list[SearchProgress] = []
    found = check_on_spark(
        spark,
        chosen,
        reduce=symmetry,
        symmetry=symmetry,
        tasks=4,
        driver_states=NEXT_TO_NOTHING,
        progress=told.append,
    )
    assert found.outcome == "correct" and found.reduced is symmetry
    assert symmetry or found.depth == alone.depth
    assert found.seen == alone.seen and not found.unseen
    assert found.symmetries == alone.symmetries == (2 if symmetry else 1)
    assert alone.states < found.states < 2 * alone.states
    assert found.reason == "explored in 4 parts; states that several of them reach count in each"
    assert all(each.states <= found.states and each.waiting <= 4 for each in told)


def test_a_violation(spark: SparkSession) -> None:
    """Once a task has found one, the shortest is looked for, as on one machine."""
    chosen = setting("cykas-unsafe", sends=[2, 2, 1])
    found = check_on_spark(spark, chosen, tasks=4, driver_states=NEXT_TO_NOTHING)
    assert found.outcome == "violated" and found.counterexample is not None
    assert replace(found, seconds=0.0) == replace(check(chosen), seconds=0.0)


def test_a_violation_whose_shortest_run_is_not_found(spark: SparkSession) -> None:
    """The run of a task is told, with a word on why it may not be the shortest."""
    chosen = setting("cykas-unsafe", sends=[2, 2, 1])
    whole = check(chosen, symmetry=False)
    # Enough for a part, too little for everything.
    verdict = check_on_spark(
        spark, chosen, symmetry=False, max_states=whole.states // 2, tasks=8, driver_states=1
    )
    found = verdict.counterexample
    assert verdict.outcome == "violated" and found is not None
    assert replay(chosen, found.run)[1] == found.problem
    assert "a shorter run may exist" in verdict.reason


def test_cores_that_do_not_treat_names_alike(spark: SparkSession) -> None:
    """The tasks notice that a part does not stand for its renamings, and then all parts go out."""

    def make(process: str) -> Core:
        # The second message of c need not wait for the first, unlike those of a and b.
        return protocols.create("mattern", process, fifo_links=process == "c")

    chosen = replace(setting("mattern", sends=[2, 2, 2]), make=make, fifo=True)
    alone = check(chosen)
    assert (alone.outcome, alone.symmetries) == ("correct", 1)
    assert check(chosen, max_states=NEXT_TO_NOTHING).symmetries == 6  # it takes a while to see
    found = check_on_spark(spark, chosen, tasks=2, driver_states=NEXT_TO_NOTHING)
    assert (found.outcome, found.symmetries) == ("correct", 1)
    assert found.states >= alone.states and "in 2 parts" in found.reason


def test_a_limit_that_one_task_hits(spark: SparkSession) -> None:
    """Then it is not known whether the whole is correct."""
    chosen = setting("hybrid", sends=[2, 1, 1])
    found = check_on_spark(spark, chosen, tasks=4, max_states=50, driver_states=NEXT_TO_NOTHING)
    assert found.outcome == "unfinished"
    assert "50 states" in found.reason and "parts" in found.reason


@pytest.mark.parametrize("program", ["a>c a>b b>c", None])
def test_what_is_small_or_indivisible_is_done_here(
    spark: SparkSession, program: str | None
) -> None:
    """One program without choices, or few states: no task is sent out."""
    chosen = setting("fifo", sends=[2, 1, 0], program=program)
    at_once = NEXT_TO_NOTHING if program else 100_000
    found = check_on_spark(spark, chosen, driver_states=at_once)
    assert replace(found, seconds=0.0) == replace(check(chosen), seconds=0.0)
    assert found.outcome == "violated"


def test_a_task_that_fails(spark: SparkSession) -> None:
    """What went wrong on the worker is said here."""
    chosen = setting("hybrid", sends=[2, 1, 1])
    make, driver = chosen.make, os.getpid()

    def make_here_only(process: str) -> Core:
        if os.getpid() != driver:
            raise OSError("there is no room on this worker")
        return make(process)

    with pytest.raises(PipelineError, match="could not be explored: OSError: there is no room"):
        check_on_spark(spark, replace(chosen, make=make_here_only), driver_states=NEXT_TO_NOTHING)


@pytest.mark.slow
def test_a_worker_that_dies(spark: SparkSession) -> None:
    """Nothing is left of what it found, so the check is refused, with a remedy."""
    chosen = setting("hybrid", sends=[2, 1, 1])
    make, driver = chosen.make, os.getpid()

    def make_or_die(process: str) -> Core:
        if os.getpid() != driver:
            os._exit(1)
        return make(process)

    with pytest.raises(PipelineError, match="was lost; see the log of its worker"):
        check_on_spark(spark, replace(chosen, make=make_or_die), driver_states=NEXT_TO_NOTHING)
