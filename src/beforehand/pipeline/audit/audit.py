"""The audit of a trace folder as a whole: small runs in one task each, large ones in blocks."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from beforehand.errors import PipelineError, ResourceError, TraceError
from beforehand.pipeline.audit import stages, trace_files
from beforehand.pipeline.audit.clock_blocks import BYTES
from beforehand.pipeline.audit.trace_files import TraceFiles
from beforehand.pipeline.audit.witness import MOST
from beforehand.pipeline.engine import PipelineEngine, Table
from beforehand.pipeline.engine.balance import PER_SLOT
from beforehand.pipeline.engine.batches import unnested
from beforehand.pipeline.provenance import engine_provenance
from beforehand.pipeline.schemas import VERDICTS, VIOLATIONS
from beforehand.pipeline.storage import Storage, absolute, join, replacing
from beforehand.results.layout import AuditFolder

LARGE: Final = 10_000_000  # causal-sends and deliveries of a run that fit into one task: about 1 GB

_COUNTS: Final = ("runs", "events", "violated", "not_audited", "incomplete")


@dataclass(frozen=True)
class Audit:
    """The outcome of an audit."""

    engine: PipelineEngine
    verdicts: pa.Table
    violations: Table
    unreadable: dict[str, str]  # file -> reason
    sources: tuple[str, ...]  # as they were named
    runs: int
    events: int
    violated: int
    not_audited: int  # runs that contradict themselves
    incomplete: int

    @property
    def exit_code(self) -> int:
        """0 if every run is clean, 1 if any is violated, 2 if something could not be audited."""
        if self.violated:
            return 1
        return 2 if self.not_audited or self.unreadable or not self.runs else 0

    def write(self, out: str, command: str = "", sources: Sequence[str] = ()) -> None:
        """Write both tables, then the note that completes them and records `command` and `sources`."""
        check_output(self.engine.storage, out)
        with replacing(self.engine.storage, out) as folder:
            self.engine.table(self.verdicts).write(join(folder, AuditFolder.VERDICTS))
            self.violations.write(join(folder, AuditFolder.VIOLATIONS))
            self.engine.storage.write_note(
                folder,
                AuditFolder.NOTE,
                {
                    **{name: getattr(self, name) for name in _COUNTS},
                    "unreadable": self.unreadable,
                    "sources": [absolute(source) for source in sources or self.sources],
                    **engine_provenance(self.engine, command),
                },
            )


def check_output(storage: Storage, out: str) -> None:
    """Raise an error unless the folder is new, or holds an audit, which may be replaced."""
    storage.check_output(out)
    inside = {file.name for file in storage.inside(out) if not file.name.startswith(".")}
    if other := inside - set(AuditFolder.PARTS):
        raise PipelineError(f"{out} holds other files ({min(other)}); choose another folder")


@contextmanager
def audit(
    engine: PipelineEngine,
    sources: Sequence[str],
    *,
    large: int = LARGE,
    witnesses: int = MOST,
    memory: int = BYTES,
) -> Iterator[Audit]:
    """Audit every run in files, folders and patterns; its tables can be read within the block.

    `large` is how many causal-sends and deliveries of a run one task may hold, where the engine can
    split it; `witnesses` for how many violations of a run to search for chains; `memory` how many bytes
    the clocks of a block may take.
    """
    traces = trace_files.find(engine.storage, sources)
    judge = partial(_judged, engine, large=large, witnesses=witnesses, memory=memory)
    with ExitStack() as stack:
        try:
            verdicts, violations = judge(traces, stack)
        except (TraceError, ResourceError):
            # Some file is invalid. Finding out which one takes long, hence only now.
            bad = trace_files.problems(engine, traces)
            if not bad:
                raise
            traces = traces.without(bad)
            verdicts, violations = judge(traces, stack)
        yield Audit(
            engine, verdicts, violations, traces.unreadable, tuple(sources), **_counts(verdicts)
        )


def _judged(
    engine: PipelineEngine,
    traces: TraceFiles,
    stack: ExitStack,
    large: int,
    witnesses: int,
    memory: int,
) -> tuple[pa.Table, Table]:
    """The tables of verdicts and of violations; the latter is there until the stack is closed."""
    by_run = traces.by_run()
    huge = _large_runs(engine, traces, by_run, large) if engine.is_distributed else []
    if by_run is not None and len(by_run) >= PER_SLOT * engine.slots:
        rest = {run: files for run, files in by_run.items() if run not in huge}
        judged = stages.judged_by_run(engine, rest, witnesses)
    else:  # runs spread over files, or so few that all cores should read them together
        judged = stages.judged(stages.chunks(engine, traces, stages.all_but(huge)), witnesses)
    findings = stack.enter_context(judged.kept())
    verdicts = findings.map(partial(unnested, column="verdict"), VERDICTS).collect()
    violations = findings.map(partial(unnested, column="violation"), VIOLATIONS)
    if not huge:
        return verdicts, violations
    from beforehand.pipeline.audit.judge_large import judge_large

    large_runs = [
        judge_large(stages.chunks(engine, traces, stages.only(run)), run, witnesses, memory)
        for run in huge
    ]
    rows = [run.verdict for run in large_runs]
    more = [violation for run in large_runs for violation in run.violations]
    listed = pa.concat_tables([violations.collect(), _table(more, VIOLATIONS)])
    return pa.concat_tables([verdicts, _table(rows, VERDICTS)]), engine.table(listed)


def _large_runs(
    engine: PipelineEngine, traces: TraceFiles, by_run: dict[str, list[Any]] | None, large: int
) -> list[str]:
    """The runs that are too large for one task."""
    if by_run is not None:
        return sorted(run for run, files in by_run.items() if traces.rows(files) > large)
    if traces.rows((*traces.parquet, *traces.json)) <= large:
        return []
    totals: Counter[str] = Counter()
    for row in stages.sizes(engine, traces).collect().to_pylist():
        totals[row["run"]] += row["events"]
    return sorted(run for run, events in totals.items() if events > large)


def _counts(verdicts: pa.Table) -> dict[str, Any]:
    return {
        "runs": len(verdicts),
        "events": pc.sum(verdicts["events"]).as_py() or 0,
        "violated": _count(pc.equal(verdicts["verdict"], "violated")),
        "not_audited": _count(pc.equal(verdicts["verdict"], "unreadable")),
        "incomplete": _count(pc.invert(verdicts["complete"])),
    }


def _count(condition: Any) -> int:
    return int(pc.sum(condition).as_py() or 0)


def _table(rows: list[dict[str, Any]], schema: pa.Schema) -> pa.Table:
    return pa.Table.from_pylist(rows, schema=schema)
