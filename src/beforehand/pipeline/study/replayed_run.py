"""What a study replays: one run of the ingest, or its first messages."""

from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import pyarrow as pa

from beforehand.errors import PipelineError
from beforehand.pipeline.characterise.causal_order import LIMIT
from beforehand.pipeline.engine import Table
from beforehand.pipeline.engine.batches import selected
from beforehand.pipeline.engine.engine import Batches
from beforehand.pipeline.replay import program_of
from beforehand.pipeline.schemas import MESSAGES
from beforehand.pipeline.study.idle_gaps import shorten
from beforehand.pipeline.study.truncate import first_messages
from beforehand.results.format import duration
from beforehand.simulator import Program, Scenario

PAYLOAD: Final = Scenario.payload  # bytes, of messages of unknown size


@dataclass(frozen=True)
class ReplayedRun:
    """A run as a program."""

    run: str
    runs: int  # in the ingest
    messages: int  # in the run
    program: Program
    quiet_ns: int | None = None  # what idle gaps were shortened to; None: they weren't

    @property
    def replayed(self) -> int:
        """How many messages are replayed."""
        return len(self.program.sends)

    def describe(self) -> str:
        """What part of which run is replayed, in a sentence."""
        which = "the only run"
        if self.runs > 1:
            which = f"one of {self.runs:,} runs"
        what = f"all {self.messages:,} messages"
        if self.replayed < self.messages:
            what = (
                f"the first {self.replayed:,} of {self.messages:,} messages, each with all of its "
                "causes"
            )
        unknown = sum(send.payload_bytes is None for send in self.program.sends)
        sizes = f"; {unknown:,} of unknown size count as {PAYLOAD} bytes" if unknown else ""
        processes = len(self.program.processes)
        quiet = ""
        if self.quiet_ns is not None:
            quiet = (
                f"; the workload is sparse: idle gaps were shortened to {duration(self.quiet_ns)}"
            )
        return f"{self.run}, {which}: {what}, between {processes:,} processes{sizes}{quiet}"


def choose(summary: dict[str, Any], run: str | None, folder: str) -> str:
    """The requested run, or the largest."""
    counts: dict[str, int] = {
        row["run"]: row["messages"] for row in summary["runs"] if row["messages"]
    }
    if not counts:
        raise PipelineError(
            f"{folder}: no messages, so there is nothing to analyse; ingest some first"
        )
    if run is None:
        return max(sorted(counts), key=lambda name: counts[name])
    if run not in counts:
        some = ", ".join(sorted(counts)[:10]) + (" ..." if len(counts) > 10 else "")
        raise PipelineError(f"{folder}: no run {run!r} with messages; choose one of {some}")
    return run


def replay_of(messages: Table, summary: dict[str, Any], run: str, most: int) -> ReplayedRun:
    """The first messages of a run, as a program."""
    (total,) = [row["messages"] for row in summary["runs"] if row["run"] == run]
    runs = sum(row["messages"] > 0 for row in summary["runs"])
    table = messages.map(partial(selected, column="run", value=run), MESSAGES)
    if total > LIMIT:
        raise PipelineError(
            f"the run has {total:,} messages, more than the {LIMIT:,} that one task can sort; "
            "ingest less of it"
        )
    if total > most:
        table = table.grouped(("run",), partial(_first, most=most), MESSAGES, order=("id",))
    rows = table.collect().to_pylist()
    processes = {name for row in rows for name in (row["sender"], *row["to"])}
    denser, limit = shorten(rows, len(processes))
    return ReplayedRun(run, runs, total, program_of(denser), limit)


def _first(batches: Batches, most: int) -> Batches:
    """In a task: the first messages of the run."""
    rows = list(batches)
    if rows:
        yield from first_messages(pa.Table.from_batches(rows), most).to_batches()
