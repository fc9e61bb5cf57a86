"""The parts of a program as tasks of one Spark job, and their results as one verdict."""

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
from beforehand.pipeline.polling import polling
from beforehand.pipeline.sweep.tasks import described

_POLL_INTERVAL: Final = 0.2  # seconds


@dataclass(frozen=True)
class TaskResult:
    """The result of exploring one part."""

    verdict: Verdict | None = None
    asymmetric: bool = False  # the cores do not treat names alike
    failure: str = ""

    @property
    def is_final(self) -> bool:
        """Whether the other tasks can be cancelled."""
        violated = self.verdict is not None and self.verdict.outcome == "violated"
        return violated or self.asymmetric or bool(self.failure)


@dataclass(frozen=True)
class TaskSpec:
    """What all tasks have in common."""

    setting: Setting
    reduce: bool
    symmetry: bool
    max_states: int | None
    deadline: float | None  # in wall-clock time, which is about the same on all machines
    merged: bool  # a part represents its renamings too, so symmetry must be verified

    def explore(self, part: CheckProgram) -> TaskResult:
        """Explore one part."""
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
            return TaskResult(failure=described(problem))


def seconds_to(deadline: float | None) -> float | None:
    """The seconds that remain."""
    return None if deadline is None else max(0.0, deadline - time.time())


class _Results(AccumulatorParam[dict[int, TaskResult]]):
    """Sends results to the driver as tasks finish; keyed by part, so that retries do not count twice."""

    def zero(self, value: dict[int, TaskResult]) -> dict[int, TaskResult]:
        return {}

    def addInPlace(
        self, value1: dict[int, TaskResult], value2: dict[int, TaskResult]
    ) -> dict[int, TaskResult]:
        return {**value1, **value2}


def run_tasks(
    spark: SparkSession,
    spec: TaskSpec,
    parts: Sequence[CheckProgram],
    report: Callable[[list[TaskResult]], None],
) -> list[TaskResult]:
    """Explore all parts, until one result makes the others unnecessary; `report` gets results so far."""
    context, tag = spark.sparkContext, f"beforehand-check-{uuid.uuid4().hex}"
    accumulator = context.accumulator({}, _Results())

    def task(numbered: tuple[int, CheckProgram]) -> None:
        number, part = numbered
        accumulator.add({number: spec.explore(part)})

    def poll() -> bool:
        results = list(accumulator.value.values())
        if any(result.is_final for result in results):
            context.cancelJobsWithTag(tag)
            return False
        report(results)
        return True

    context.addJobTag(tag)
    try:
        with polling(poll, _POLL_INTERVAL):
            context.parallelize(list(enumerate(parts)), len(parts)).foreach(task)
    except (Py4JError, PySparkException) as problem:
        if not any(result.is_final for result in accumulator.value.values()):
            raise PipelineError(
                "a task that explored a part of the program was lost; see the log of its worker, and "
                f"whether its memory is enough ({str(problem).strip().splitlines()[0]})"
            ) from problem
    finally:
        context.removeJobTag(tag)
    results = [result for _, result in sorted(accumulator.value.items())]
    for result in results:
        if result.failure:
            raise PipelineError(f"a part of the program could not be explored: {result.failure}")
    return results


def combine(verdicts: Sequence[Verdict], parts: int, symmetries: int) -> Verdict:
    """The verdict of the whole from those of its parts, with the shortest counterexample."""
    counterexamples = [v.counterexample for v in verdicts if v.counterexample is not None]
    violated = any(v.outcome == "violated" for v in verdicts)
    unfinished = [v for v in verdicts if v.outcome == "unfinished"]
    summed = f"explored in {parts} parts; states that several of them reach count in each"
    names = dict.fromkeys(name for v in verdicts for name in v.seen)
    return Verdict(
        "violated" if violated else "unfinished" if unfinished else "correct",
        states=sum(v.states for v in verdicts),
        transitions=sum(v.transitions for v in verdicts),
        depth=max((v.depth for v in verdicts), default=0),
        seconds=0.0,  # the caller knows how long it waited
        seen={name: any(v.seen.get(name) for v in verdicts) for name in names},
        counterexample=min(counterexamples, key=lambda example: len(example.run), default=None),
        reason=f"{unfinished[0].reason} ({summed})" if unfinished else summed,
        symmetries=symmetries,
        reduced=all(v.reduced for v in verdicts),
    )
