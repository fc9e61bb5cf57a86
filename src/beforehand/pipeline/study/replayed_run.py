"""The traffic that a study replays: one run of the ingest, or the beginning of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from beforehand.errors import PipelineError
from beforehand.pipeline.characterise.causal_order import LIMIT
from beforehand.pipeline.replay import program_of
from beforehand.pipeline.study.idle_gaps import shorten
from beforehand.pipeline.study.truncate import first_messages
from beforehand.results.format import duration
from beforehand.simulator import Program, Scenario

PAYLOAD: Final = Scenario.payload  # bytes, of messages whose source does not tell


@dataclass(frozen=True)
class ReplayedRun:
    """What is replayed."""

    run: str
    runs: int  # that the ingest has
    messages: int  # that the run has
    program: Program
    quiet_ns: int | None = None  # to which times of quiet were cut; None: they were not

    @property
    def replayed(self) -> int:
        """How many of them are replayed."""
        return len(self.program.sends)

    def told(self) -> str:
        """Which part of which run, in a sentence."""
        which = "the only run"
        if self.runs > 1:
            which = f"one of {self.runs:,} runs"
        what = f"all {self.messages:,} messages"
        if self.replayed < self.messages:
            what = (
                f"the first {self.replayed:,} of {self.messages:,} messages, each with all that "
                "it follows"
            )
        unknown = sum(send.payload_bytes is None for send in self.program.sends)
        sizes = f"; {unknown:,} of unknown size count as {PAYLOAD} bytes" if unknown else ""
        processes = len(self.program.processes)
        quiet = ""
        if self.quiet_ns is not None:
            quiet = f"; the traffic is sparse: times of quiet were cut to {duration(self.quiet_ns)}"
        return f"{self.run}, {which}: {what}, between {processes:,} processes{sizes}{quiet}"


def choose(summary: dict[str, Any], run: str | None, folder: str) -> str:
    """The run that was asked for, or the largest."""
    counts: dict[str, int] = {
        each["run"]: each["messages"] for each in summary["runs"] if each["messages"]
    }
    if not counts:
        raise PipelineError(f"{folder}: it holds no messages, so there is nothing to look at")
    if run is None:
        return max(sorted(counts), key=lambda name: counts[name])
    if run not in counts:
        some = ", ".join(sorted(counts)[:10]) + (" ..." if len(counts) > 10 else "")
        raise PipelineError(f"{folder}: it has no run {run!r} with messages; its runs: {some}")
    return run


def traffic(messages: DataFrame, summary: dict[str, Any], run: str, most: int) -> ReplayedRun:
    """The first messages of a run as a program."""
    (total,) = [each["messages"] for each in summary["runs"] if each["run"] == run]
    runs = sum(each["messages"] > 0 for each in summary["runs"])
    table = messages.where(f.col("run") == run)
    if total > most:
        table = _beginning(table, total, most)
    rows = [row.asDict() for row in table.collect()]
    processes = {name for row in rows for name in (row["sender"], *row["to"])}
    denser, limit = shorten(rows, len(processes))
    return ReplayedRun(run, runs, total, program_of(denser), limit)


def _beginning(table: DataFrame, total: int, most: int) -> DataFrame:
    if total > LIMIT:
        raise PipelineError(
            f"the run has {total:,} messages, and one task can sort {LIMIT:,}; ingest less of it"
        )

    def first(group: pa.Table) -> pa.Table:  # Spark looks at these types
        return first_messages(group, most)

    return table.groupBy("run").applyInArrow(first, table.schema)
