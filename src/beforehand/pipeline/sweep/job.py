"""One wave as one Spark job: a DataFrame with a row per run, and `mapInArrow` that does them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.storagelevel import StorageLevel

from beforehand.pipeline.arrow import arrow_schema
from beforehand.pipeline.schemas import EVENTS
from beforehand.pipeline.sweep.columns import degree
from beforehand.pipeline.sweep.costs import deal
from beforehand.pipeline.sweep.grid import Point
from beforehand.pipeline.sweep.schemas import BOTH, PLANNED, RESULTS
from beforehand.pipeline.sweep.tasks import Simulate, Task
from beforehand.simulator import Program


class WaveJob:
    """What the waves of a sweep share: the programs, which go to each worker once, and how to run."""

    def __init__(
        self, spark: SparkSession, programs: Iterable[Program], audit: bool, simulate: Simulate
    ) -> None:
        self._spark = spark
        self._audit = audit
        self._simulate = simulate
        known = {program.digest(): program for program in {id(p): p for p in programs}.values()}
        self._programs = spark.sparkContext.broadcast(known) if known else None
        self._counters = RunCounters(spark)

    def counters(self) -> RunCounters:
        """Fresh ones, for the job that comes next."""
        self._counters = RunCounters(self._spark)
        return self._counters

    def run(
        self,
        points: Sequence[Point],
        tasks: int,
        wave: str,
        results: str,
        traces: str | None,
        traced: Sequence[str],
    ) -> None:
        """Simulate in so many tasks, and write both tables; the events of the runs in `traced`."""
        todo = self._todo(points, tasks, set(traced))
        task = Task(
            self._simulate,
            _getter(self._programs),
            self._counters.finished(),
            wave,
            self._audit,
            arrow_schema(RESULTS),
            None if traces is None else arrow_schema(EVENTS),
        )

        def work(batches: Iterator[Any]) -> Iterator[Any]:
            return task(batches)

        if traces is None:
            todo.mapInArrow(work, RESULTS).write.parquet(results)
            return
        # Kept until both tables are written, or every run would be simulated twice.
        both = todo.mapInArrow(work, BOTH).persist(StorageLevel.DISK_ONLY)
        try:
            both.where("event is not null").select("event.*").write.parquet(traces)
            both.where("result is not null").select("result.*").write.parquet(results)
        finally:
            both.unpersist()

    def _todo(self, points: Sequence[Point], tasks: int, traced: set[str]) -> DataFrame:
        rows = [
            {
                "task": task,
                **point_row(point),
                "program": point.scenario.program and point.scenario.program.digest(),
                "traced": point.run in traced,
            }
            for task, point in zip(deal(points, tasks), points, strict=True)
        ]
        values = [tuple(row[name] for name in PLANNED.names) for row in rows]
        return self._spark.createDataFrame(values, PLANNED).repartitionById(tasks, "task")


class RunCounters:
    """How many runs of a job are over; Spark brings the news whenever a task ends."""

    def __init__(self, spark: SparkSession) -> None:
        self._done = spark.sparkContext.accumulator(0)
        self._failed = spark.sparkContext.accumulator(0)

    def read(self) -> tuple[int, int]:
        """Runs that are over, and those of them that failed."""
        return self._done.value, self._failed.value

    def finished(self) -> Callable[[bool], None]:
        """For the tasks: tells that a run is over, and whether it failed."""
        done, failures = self._done, self._failed

        def tell(failed: bool) -> None:
            done.add(1)
            failures.add(int(failed))

        return tell


def _getter(programs: Any) -> Callable[[], Mapping[str, Program]]:
    """The programs where the tasks are; None: there are none."""
    return dict if programs is None else lambda: programs.value


def point_row(point: Point) -> dict[str, Any]:
    """The columns POINT."""
    scenario = point.scenario
    values = scenario.to_dict()
    return {
        "run": point.run,
        "protocol": scenario.protocol,
        "workload": point.workload,
        "network": point.network,
        "setting": point.setting,
        "processes": len(scenario.names),
        "messages": None if scenario.program is not None else scenario.messages,
        "seed": scenario.seed,
        "degree": degree(scenario),
        "scenario": json.dumps(values, sort_keys=True),
    }
