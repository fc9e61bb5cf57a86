"""Checks on Spark: many tasks reach the same verdicts as a check on one machine."""

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

FEW_STATES = 1  # explored by the driver; all others are left to the tasks


@pytest.mark.parametrize("symmetry", [True, False])
def test_a_correct_protocol(spark: SparkSession, symmetry: bool) -> None:
    """The verdict is the same with and without reductions, and the tasks cover the same situations."""
    case = setting("hybrid", sends=[2, 1, 1])
    local = check(case, reduce=symmetry, symmetry=symmetry)
    reports: list[SearchProgress] = []
    verdict = check_on_spark(
        spark,
        case,
        reduce=symmetry,
        symmetry=symmetry,
        tasks=4,
        driver_states=FEW_STATES,
        progress=reports.append,
    )
    assert verdict.outcome == "correct" and verdict.reduced is symmetry
    assert symmetry or verdict.depth == local.depth
    assert verdict.seen == local.seen and not verdict.unseen
    assert verdict.symmetries == local.symmetries == (2 if symmetry else 1)
    assert local.states < verdict.states < 2 * local.states
    assert verdict.reason == "explored in 4 parts; states that several of them reach count in each"
    assert all(report.states <= verdict.states and report.waiting <= 4 for report in reports)


def test_a_violation(spark: SparkSession) -> None:
    """Once a task has found a violation, the shortest one is searched for, as on one machine."""
    case = setting("cykas-unsafe", sends=[2, 2, 1])
    verdict = check_on_spark(spark, case, tasks=4, driver_states=FEW_STATES)
    assert verdict.outcome == "violated" and verdict.counterexample is not None
    assert replace(verdict, seconds=0.0) == replace(check(case), seconds=0.0)


def test_a_violation_whose_shortest_run_is_not_found(spark: SparkSession) -> None:
    """The run that a task found is returned, with the reason why it may not be the shortest."""
    case = setting("cykas-unsafe", sends=[2, 2, 1])
    local = check(case, symmetry=False)
    # Enough states for one part, too few for the whole search.
    verdict = check_on_spark(
        spark, case, symmetry=False, max_states=local.states // 2, tasks=8, driver_states=1
    )
    counterexample = verdict.counterexample
    assert verdict.outcome == "violated" and counterexample is not None
    assert replay(case, counterexample.run)[1] == counterexample.problem
    assert "a shorter run may exist" in verdict.reason


def test_cores_that_treat_names_differently(spark: SparkSession) -> None:
    """Tasks notice that a part does not stand for its renamings; then all parts are explored."""

    def make(process: str) -> Core:
        # Unlike at a and b, the second message of c need not wait for the first.
        return protocols.create("mattern", process, fifo_links=process == "c")

    case = replace(setting("mattern", sends=[2, 2, 2]), make=make, fifo=True)
    local = check(case)
    assert (local.outcome, local.symmetries) == ("correct", 1)
    assert check(case, max_states=FEW_STATES).symmetries == 6  # the asymmetry shows only later
    verdict = check_on_spark(spark, case, tasks=2, driver_states=FEW_STATES)
    assert (verdict.outcome, verdict.symmetries) == ("correct", 1)
    assert verdict.states >= local.states and "in 2 parts" in verdict.reason


def test_a_limit_hit_by_one_task_leaves_the_check_unfinished(spark: SparkSession) -> None:
    """It is then unknown whether the whole is correct."""
    case = setting("hybrid", sends=[2, 1, 1])
    verdict = check_on_spark(spark, case, tasks=4, max_states=50, driver_states=FEW_STATES)
    assert verdict.outcome == "unfinished"
    assert "50 states" in verdict.reason and "parts" in verdict.reason


@pytest.mark.parametrize("program", ["a>c a>b b>c", None])
def test_small_or_indivisible_checks_run_on_the_driver(
    spark: SparkSession, program: str | None
) -> None:
    """A single program without choices, or few states, need no tasks."""
    case = setting("fifo", sends=[2, 1, 0], program=program)
    driver_states = FEW_STATES if program else 100_000
    verdict = check_on_spark(spark, case, driver_states=driver_states)
    assert replace(verdict, seconds=0.0) == replace(check(case), seconds=0.0)
    assert verdict.outcome == "violated"


def test_the_error_of_a_failed_task_is_reported(spark: SparkSession) -> None:
    """The driver raises an error that contains the worker's exception."""
    case = setting("hybrid", sends=[2, 1, 1])
    make, driver = case.make, os.getpid()

    def make_on_driver_only(process: str) -> Core:
        if os.getpid() != driver:
            raise OSError("there is no room on this worker")
        return make(process)

    with pytest.raises(PipelineError, match="could not be explored: OSError: there is no room"):
        check_on_spark(spark, replace(case, make=make_on_driver_only), driver_states=FEW_STATES)


@pytest.mark.slow
def test_a_check_whose_worker_dies_is_refused(spark: SparkSession) -> None:
    """The results of a dead worker are lost, so the check fails with a remedy."""
    case = setting("hybrid", sends=[2, 1, 1])
    make, driver = case.make, os.getpid()

    def make_or_die(process: str) -> Core:
        if os.getpid() != driver:
            os._exit(1)
        return make(process)

    with pytest.raises(PipelineError, match="was lost; see the log of its worker"):
        check_on_spark(spark, replace(case, make=make_or_die), driver_states=FEW_STATES)
