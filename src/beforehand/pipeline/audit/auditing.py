"""The audit of a trace folder: many runs by run, a huge one by blocks of clock components."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from beforehand.pipeline.audit import reading
from beforehand.pipeline.audit.large import judge_large
from beforehand.pipeline.audit.order import BYTES
from beforehand.pipeline.audit.reading import Traces
from beforehand.pipeline.audit.stages import judged, pieces
from beforehand.pipeline.audit.witness import MOST
from beforehand.pipeline.schemas import VERDICTS, VIOLATIONS
from beforehand.pipeline.storage import Storage, join

LARGE: Final = 4_000_000  # causal-sends and deliveries of one run that one task can hold well
NOTE: Final = "_audit.json"

_NO_LARGE_RUN: Final = 2**24  # bytes of a trace folder in which nobody has to look for large runs
_BYTES_PER_TASK: Final = 2**25


@dataclass(frozen=True)
class Audit:
    """The verdicts, as tables that are computed and kept until `close`."""

    verdicts: DataFrame
    violations: DataFrame
    unreadable: dict[str, str]  # files, and why
    runs: int
    violated: int
    not_audited: int  # runs that contradict themselves
    incomplete: int
    _kept: list[DataFrame] = field(default_factory=list, repr=False)

    @property
    def exit_code(self) -> int:
        """0 if all is well, 1 if a promise was broken, 2 if something could not be audited."""
        if self.violated:
            return 1
        return 2 if self.not_audited or self.unreadable or not self.runs else 0

    def write(self, folder: str) -> None:
        """Write both tables into a folder, and that they are complete."""
        storage = Storage(self.verdicts.sparkSession)
        storage.delete(join(folder, NOTE))
        self.verdicts.write.mode("overwrite").parquet(join(folder, "verdicts"))
        self.violations.write.mode("overwrite").parquet(join(folder, "violations"))
        storage.write_note(
            folder,
            NOTE,
            {
                "runs": self.runs,
                "violated": self.violated,
                "not_audited": self.not_audited,
                "incomplete": self.incomplete,
                "unreadable": self.unreadable,
            },
        )

    def close(self) -> None:
        """Let go of the tables."""
        for table in self._kept:
            table.unpersist()


def audit(
    spark: SparkSession,
    sources: Sequence[str],
    *,
    large: int = LARGE,
    witnesses: int = MOST,
    memory: int = BYTES,
) -> Audit:
    """Judge every run in files, folders and patterns.

    `large` is how many causal-sends and deliveries of a run one task may hold, `witnesses` for how many
    violations of a run to look for chains, `memory` how many bytes the clocks of a block may take.
    """
    traces = reading.find(spark, sources)
    try:
        return _audit(spark, traces, large, witnesses, memory)
    except PySparkException:
        # Something in a file is not as it should be. Looking for it takes long, hence only now.
        found = reading.problems(spark, traces)
        if not found:
            raise
        return _audit(spark, traces.without(found), large, witnesses, memory)


def _audit(spark: SparkSession, traces: Traces, large: int, witnesses: int, memory: int) -> Audit:
    events = reading.events(spark, traces)
    huge = _large_runs(events, traces, large)
    rest = events.where(~F.col("run").isin(huge)) if huge else events
    tasks = max(2 * spark.sparkContext.defaultParallelism, traces.size // _BYTES_PER_TASK)
    found = judged(pieces(rest), tasks, witnesses).persist()
    verdicts = found.where(F.col("verdict").isNotNull()).select("verdict.*")
    violations = found.where(F.col("violation").isNotNull()).select("violation.*")
    for run in huge:
        one = judge_large(pieces(events.where(F.col("run") == run)), run, witnesses, memory)
        verdicts = verdicts.union(spark.createDataFrame([one.verdict], VERDICTS))
        if one.violations:
            violations = violations.union(spark.createDataFrame(one.violations, VIOLATIONS))
    counts = verdicts.agg(
        F.count("*"),
        F.count_if(F.col("verdict") == "violated"),
        F.count_if(F.col("verdict") == "unreadable"),
        F.count_if(~F.col("complete")),
    ).collect()[0]
    runs, violated, not_audited, incomplete = counts
    return Audit(
        verdicts,
        violations,
        traces.unreadable,
        runs,
        violated,
        not_audited,
        incomplete,
        [found],
    )


def _large_runs(events: DataFrame, traces: Traces, large: int) -> list[str]:
    if traces.size < _NO_LARGE_RUN and large >= LARGE:
        return []
    counted = events.where(F.col("kind").isin("send", "deliver")).groupBy("run").count()
    return sorted(row.run for row in counted.where(F.col("count") > large).collect())
