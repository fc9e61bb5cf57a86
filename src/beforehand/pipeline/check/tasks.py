"""The parts of a program as the tasks of one Spark job, and what they find as one verdict."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from py4j.protocol import Py4JError
from pyspark.accumulators import AccumulatorParam
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from beforehand.checker.explore import check
from beforehand.checker.program import CheckProgram
from beforehand.checker.search.reductions.images import NotSymmetric
from beforehand.checker.setting import Setting
from beforehand.checker.verdict import Verdict
from beforehand.errors import PipelineError
from beforehand.pipeline.sweep.tasks import told

_EVERY: Final = 0.2  # seconds between two looks at what has been found


@dataclass(frozen=True)
class TaskResult:
    """What a task tells of its part."""

    verdict: Verdict | None = None
    asymmetric: bool = False  # the cores do not treat names alike
    failure: str = ""

    @property
    def is_final(self) -> bool:
        """Whether the other tasks need not go on."""
        violated = self.verdict is not None and self.verdict.outcome == "violated"
        return violated or self.asymmetric or bool(self.failure)


@dataclass(frozen=True)
class TaskSpec:
    """What every task is told."""

    setting: Setting
    reduce: bool
    symmetry: bool
    max_states: int | None
    deadline: float | None  # by the clock on the wall, which is much the same everywhere
    merged: bool  # a part stands for its renamings too, so it must be seen that these are alike

    def explore(self, part: CheckProgram) -> TaskResult:
        """Do a task."""
        try:
            return TaskResult(
                check(
                    replace(self.setting, program=part),
                    reduce=self.reduce,
                    symmetry=self.symmetry,
                    max_states=self.max_states,
                    seconds=seconds_to(self.deadline),
                    workers=1,
                    whole=self.setting.program if self.merged else None,
                )
            )
        except NotSymmetric:
            return TaskResult(asymmetric=True)
        except Exception as problem:
            return TaskResult(failure=told(problem))


def seconds_to(deadline: float | None) -> float | None:
    """How many seconds are left."""
    return None if deadline is None else max(0.0, deadline - time.time())


class _Findings(AccumulatorParam[dict[int, TaskResult]]):
    """Brings what a task found to the driver when it is done; by part, so that nothing counts twice."""

    def zero(self, value: dict[int, TaskResult]) -> dict[int, TaskResult]:
        return {}

    def addInPlace(
        self, value1: dict[int, TaskResult], value2: dict[int, TaskResult]
    ) -> dict[int, TaskResult]:
        return {**value1, **value2}


def run_tasks(
    spark: SparkSession,
    order: TaskSpec,
    pieces: Sequence[CheckProgram],
    tell: Callable[[list[TaskResult]], None],
) -> list[TaskResult]:
    """Have all parts explored, until there is nothing more to find out; `tell` hears what there is."""
    context, tag = spark.sparkContext, f"beforehand-check-{uuid.uuid4().hex}"
    findings = context.accumulator({}, _Findings())
    over = threading.Event()

    def task(numbered: tuple[int, CheckProgram]) -> None:
        number, part = numbered
        findings.add({number: order.explore(part)})

    def watch() -> None:
        while not over.wait(_EVERY):
            found = list(findings.value.values())
            if any(each.is_final for each in found):
                context.cancelJobsWithTag(tag)
                return
            tell(found)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    context.addJobTag(tag)
    try:
        context.parallelize(list(enumerate(pieces)), len(pieces)).foreach(task)
    except (Py4JError, PySparkException) as problem:
        if not any(each.is_final for each in findings.value.values()):
            raise PipelineError(
                "a task that explored a part of the program was lost; see the log of its worker, and "
                f"whether its memory is enough ({str(problem).strip().splitlines()[0]})"
            ) from problem
    finally:
        context.removeJobTag(tag)
        over.set()
        watcher.join()
    found = [findings.value[number] for number in sorted(findings.value)]
    for each in found:
        if each.failure:
            raise PipelineError(f"a part of the program could not be explored: {each.failure}")
    return found


def combine(verdicts: Sequence[Verdict], pieces: int, symmetries: int) -> Verdict:
    """What all tasks found, as one; of several counterexamples the shortest."""
    found = [each.counterexample for each in verdicts if each.counterexample is not None]
    violated = any(each.outcome == "violated" for each in verdicts)
    unfinished = [each for each in verdicts if each.outcome == "unfinished"]
    summed = f"explored in {pieces} parts; states that several of them reach count in each"
    names = dict.fromkeys(name for each in verdicts for name in each.seen)
    return Verdict(
        "violated" if violated else "unfinished" if unfinished else "correct",
        states=sum(each.states for each in verdicts),
        transitions=sum(each.transitions for each in verdicts),
        depth=max((each.depth for each in verdicts), default=0),
        seconds=0.0,  # that a task took is not what the caller waited
        seen={name: any(each.seen.get(name) for each in verdicts) for name in names},
        counterexample=min(found, key=lambda each: len(each.run), default=None),
        reason=f"{unfinished[0].reason} ({summed})" if unfinished else summed,
        symmetries=symmetries,
        reduced=all(each.reduced for each in verdicts),
    )
