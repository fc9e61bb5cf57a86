"""The audit of a trace folder as a whole: small runs in one task each, large ones in blocks."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from beforehand.pipeline.audit import local_files, trace_files
from beforehand.pipeline.audit.clock_blocks import BYTES
from beforehand.pipeline.audit.judge_large import judge_large
from beforehand.pipeline.audit.stages import chunks, judged
from beforehand.pipeline.audit.trace_files import TraceFiles
from beforehand.pipeline.audit.witness import MOST
from beforehand.pipeline.provenance import spark_provenance
from beforehand.pipeline.schemas import VERDICTS, VIOLATIONS
from beforehand.pipeline.storage import Storage, absolute, join
from beforehand.results.layout import AuditFolder

LARGE: Final = 10_000_000  # causal-sends and deliveries of a run that fit into one task: about 1 GB

_NO_LARGE_RUN: Final = 2**23  # bytes up to which remote files aren't searched for large runs
_BYTES_PER_TASK: Final = 2**25
_COUNTS: Final = ("runs", "events", "violated", "not_audited", "incomplete")


@dataclass(frozen=True)
class Audit:
    """The outcome of an audit; its tables are persisted until `close`."""

    verdicts: DataFrame
    violations: DataFrame
    unreadable: dict[str, str]  # file -> reason
    runs: int
    events: int
    violated: int
    not_audited: int  # runs that contradict themselves
    incomplete: int
    sources: tuple[str, ...] = ()  # as they were named
    _persisted: list[DataFrame] = field(default_factory=list, repr=False)

    @property
    def exit_code(self) -> int:
        """0 if every run is clean, 1 if any is violated, 2 if something could not be audited."""
        if self.violated:
            return 1
        return 2 if self.not_audited or self.unreadable or not self.runs else 0

    def write(self, folder: str, command: str = "") -> None:
        """Write both tables into a folder, then the note that completes them and records `command`."""
        storage = Storage(self.verdicts.sparkSession)
        storage.delete(join(folder, AuditFolder.NOTE))
        self.verdicts.write.mode("overwrite").parquet(join(folder, AuditFolder.VERDICTS))
        self.violations.write.mode("overwrite").parquet(join(folder, AuditFolder.VIOLATIONS))
        storage.write_note(
            folder,
            AuditFolder.NOTE,
            {
                **{name: getattr(self, name) for name in _COUNTS},
                "unreadable": self.unreadable,
                "sources": [absolute(source) for source in self.sources],
                **spark_provenance(self.verdicts.sparkSession, command),
            },
        )

    def close(self) -> None:
        """Release the tables."""
        for table in self._persisted:
            table.unpersist()


def audit(
    spark: SparkSession,
    sources: Sequence[str],
    *,
    large: int = LARGE,
    witnesses: int = MOST,
    memory: int = BYTES,
) -> Audit:
    """Audit every run in files, folders and patterns.

    `large` is how many causal-sends and deliveries of a run one task may hold, `witnesses` for how many
    violations of a run to search for chains, `memory` how many bytes the clocks of a block may take.
    """
    traces = trace_files.find(spark, sources)
    try:
        outcome = _audit(spark, traces, large, witnesses, memory)
    except PySparkException:
        # Some file is invalid. Finding out which one takes long, hence only now.
        bad = trace_files.problems(spark, traces)
        if not bad:
            raise
        outcome = _audit(spark, traces.without(bad), large, witnesses, memory)
    return replace(outcome, sources=tuple(sources))


def _audit(
    spark: SparkSession, traces: TraceFiles, large: int, witnesses: int, memory: int
) -> Audit:
    tasks = 2 * spark.sparkContext.defaultParallelism
    by_run = traces.by_run()
    if by_run is None:
        huge = _large_runs(spark, traces, large)
    else:
        huge = sorted(run for run, files in by_run.items() if traces.rows(files) > large)
    if by_run is not None and len(by_run) >= tasks:
        rest = {run: files for run, files in by_run.items() if run not in huge}
        findings = local_files.judged(spark, rest, witnesses).persist()
    else:  # runs spread over files, or so few that all cores should read them together
        rest_chunks = _chunks(spark, traces, local_files.all_but(huge), ~F.col("run").isin(huge))
        findings = judged(
            rest_chunks, max(tasks, traces.size // _BYTES_PER_TASK), witnesses
        ).persist()
    verdicts = findings.where(F.col("verdict").isNotNull()).select("verdict.*")
    violations = findings.where(F.col("violation").isNotNull()).select("violation.*")
    for run in huge:
        mine = _chunks(spark, traces, local_files.only(run), F.col("run") == run)
        large_run = judge_large(mine, run, witnesses, memory)
        verdicts = verdicts.union(spark.createDataFrame([large_run.verdict], VERDICTS))
        if large_run.violations:
            violations = violations.union(spark.createDataFrame(large_run.violations, VIOLATIONS))
    counts = verdicts.agg(
        F.count("*"),
        F.coalesce(F.sum("events"), F.lit(0)),
        F.count_if(F.col("verdict") == "violated"),
        F.count_if(F.col("verdict") == "unreadable"),
        F.count_if(~F.col("complete")),
    ).collect()[0]
    return Audit(
        verdicts,
        violations,
        traces.unreadable,
        **dict(zip(_COUNTS, counts, strict=True)),
        _persisted=[findings],
    )


def _chunks(
    spark: SparkSession, traces: TraceFiles, selected: local_files.RunFilter, condition: Column
) -> DataFrame:
    """The chunks of selected runs; the condition selects the same ones in a DataFrame."""
    near, far = traces.near_and_far()
    tables = []
    if near:
        tables.append(local_files.chunks(spark, near, selected))
    if far.size or not near:
        tables.append(chunks(trace_files.events(spark, far).where(condition)))
    return tables[0] if len(tables) == 1 else tables[0].union(tables[1])


def _large_runs(spark: SparkSession, traces: TraceFiles, large: int) -> list[str]:
    near, far = traces.near_and_far()
    if far.size < _NO_LARGE_RUN and traces.rows((*traces.parquet, *traces.json)) <= large:
        return []
    judged = trace_files.events(spark, far).where(F.col("kind").isin("send", "deliver"))
    counted = judged.select("run", F.lit(1).cast("long").alias("events"))
    if near:
        counted = counted.union(local_files.sizes(spark, near))
    total = counted.groupBy("run").agg(F.sum("events").alias("events"))
    return sorted(row.run for row in total.where(F.col("events") > large).collect())
