"""One wave as one Spark job: a DataFrame with a row per run, and `mapInArrow` to simulate them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.storagelevel import StorageLevel

from beforehand.pipeline.schemas import EVENTS, arrow_schema
from beforehand.pipeline.sweep.columns import degree
from beforehand.pipeline.sweep.costs import assign
from beforehand.pipeline.sweep.grid import Point
from beforehand.pipeline.sweep.schemas import BOTH, PLANNED, RESULTS
from beforehand.pipeline.sweep.tasks import Simulate, Task
from beforehand.simulator import Program


class WaveJob:
    """What the waves of a sweep share: programs, broadcast to the workers once, and how to simulate."""

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
        """New counters, for the next job."""
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
        """Simulate in this many tasks, and write the results, and the events of the runs in `traced`."""
        todo = self._todo(points, tasks, set(traced))
        task = Task(
            simulate=self._simulate,
            programs=_getter(self._programs),
            finished=self._counters.count,
            wave=wave,
            audit=self._audit,
            results=arrow_schema(RESULTS),
            events=None if traces is None else arrow_schema(EVENTS),
        )

        def work(batches: Iterator[Any]) -> Iterator[Any]:
            return task(batches)

        if traces is None:
            todo.mapInArrow(work, RESULTS).write.parquet(results)
            return
        # Persisted until both tables are written, or every run would be simulated twice.
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
            for task, point in zip(assign(points, tasks), points, strict=True)
        ]
        values = [tuple(row[name] for name in PLANNED.names) for row in rows]
        return self._spark.createDataFrame(values, PLANNED).repartitionById(tasks, "task")


class RunCounters:
    """Counts the finished runs of a job; Spark updates it whenever a task ends."""

    def __init__(self, spark: SparkSession) -> None:
        self._done = spark.sparkContext.accumulator(0)
        self._failed = spark.sparkContext.accumulator(0)

    def read(self) -> tuple[int, int]:
        """Finished runs, and those of them that failed."""
        return self._done.value, self._failed.value

    def count(self, failed: bool) -> None:
        """What tasks call after each run."""
        self._done.add(1)
        self._failed.add(int(failed))


def _getter(programs: Any) -> Callable[[], Mapping[str, Program]]:
    """How tasks get at the broadcast programs, if there are any."""
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
