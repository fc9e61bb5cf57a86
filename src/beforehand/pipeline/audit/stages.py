"""The auditor's stages: trace files to chunks, chunks to findings, many runs at a time."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

import pyarrow as pa

from beforehand.pipeline.audit.file_parts import (
    NEEDED,
    RunFilter,
    chunks_of,
    events_of_lines,
    events_of_part,
    judged_events,
    parts,
)
from beforehand.pipeline.audit.findings import RunFindings
from beforehand.pipeline.audit.judge import judge
from beforehand.pipeline.audit.log_chunks import ARRAYS, LogChunk
from beforehand.pipeline.audit.trace_files import TraceFiles
from beforehand.pipeline.engine import PipelineEngine, Source, Table
from beforehand.pipeline.engine.engine import Batches, Work
from beforehand.pipeline.schemas import VERDICTS, VIOLATIONS, one_of
from beforehand.pipeline.storage import File
from beforehand.results.schema import Schema, integer, text, texts

CHUNKS: Final = pa.schema(
    [
        *Schema(text("run"), texts("names")).arrow(),
        *(pa.field(name, pa.binary(), nullable=False) for name in ARRAYS),
    ]
)
SIZES: Final = Schema(text("run"), integer("events")).arrow()

# One task yields both verdicts and violations, so they share a table.
FINDINGS: Final = one_of(verdict=VERDICTS, violation=VIOLATIONS)

PARQUET_RATE: Final = 10e6  # bytes per second of one core, read and judged
JSON_RATE: Final = 3e6


# ---- tables ----


def chunks(engine: PipelineEngine, traces: TraceFiles, selected: RunFilter) -> Table:
    """The chunks of all runs whose names are selected."""
    return _from_events(engine, traces, partial(_packed, selected=selected), CHUNKS)


def sizes(engine: PipelineEngine, traces: TraceFiles) -> Table:
    """The causal-sends and deliveries of each run, counted per part of a file."""
    return _from_events(engine, traces, _counted, SIZES)


def judged(chunks: Table, witnesses: int) -> Table:
    """The findings about each run; all chunks of a run go to one task."""
    return chunks.grouped(("run",), partial(_judge_chunks, witnesses=witnesses), FINDINGS)


def judged_by_run(
    engine: PipelineEngine, runs: Mapping[str, Sequence[File]], witnesses: int
) -> Table:
    """The findings about runs, given all their files; each run is judged by the task that reads it."""
    loads = [
        (sum(file.size for file in files) / PARQUET_RATE, (run, tuple(files)))
        for run, files in runs.items()
    ]
    return engine.tasks(loads, partial(_judge_files, witnesses=witnesses), FINDINGS)


def _from_events(
    engine: PipelineEngine, traces: TraceFiles, work: Work, schema: pa.Schema
) -> Table:
    """Apply a function to the events of all files, wherever they are."""
    near, far = traces.near_and_far()
    tables: list[Table] = []
    if near:
        items = parts(near, PARQUET_RATE)
        tables.append(engine.tasks(items, partial(_on_part, work=work), schema))
    if traces.json:
        read = partial(_on_lines, work=work)
        tables.append(engine.files(traces.json, read, schema, JSON_RATE))
    if far:
        tables.append(engine.read([file.path for file in far], NEEDED).map(work, schema))
    whole, *others = tables or [engine.table(schema.empty_table())]
    for other in others:
        whole = whole.union(other)
    return whole


# ---- filters ----


def only(run: str) -> RunFilter:
    """Selects one run."""
    return partial(_is_in, frozenset((run,)), True)


def all_but(runs: Collection[str]) -> RunFilter:
    """Selects all other runs."""
    return partial(_is_in, frozenset(runs), False)


def _is_in(runs: Collection[str], wanted: bool, run: str) -> bool:
    return (run in runs) is wanted


# ---- in tasks ----


def _on_part(part: Any, work: Work) -> Batches:
    return work(events_of_part(part))


def _on_lines(source: Source, work: Work) -> Batches:
    return work(events_of_lines(source))


def _packed(batches: Batches, selected: RunFilter) -> Batches:
    for run, chunk in chunks_of(batches, selected):
        yield pa.RecordBatch.from_pylist([{"run": run, **chunk.pack()}], schema=CHUNKS)


def _counted(batches: Batches) -> Batches:
    for run, events in judged_events(batches):
        yield pa.RecordBatch.from_pylist([{"run": run, "events": events}], schema=SIZES)


def _judge_chunks(batches: Iterable[Any], *, witnesses: int) -> Batches:
    # Sorting by run would copy everything; the input of a task fits into memory anyway.
    runs: dict[str, list[LogChunk]] = {}
    for batch in batches:
        for row in unpacked(batch):
            runs.setdefault(row["run"], []).append(LogChunk.unpack(row))
    while runs:
        run, mine = runs.popitem()
        yield findings_batch(run, judge(mine, witnesses=witnesses))


def _judge_files(files_of_run: tuple[str, Sequence[File]], *, witnesses: int) -> Batches:
    run, files = files_of_run
    mine = [
        chunk
        for _, part in parts(files, PARQUET_RATE)
        for _, chunk in chunks_of(events_of_part(part), only(run))
    ]
    yield findings_batch(run, judge(mine, witnesses=witnesses))


def unpacked(batch: Any) -> Iterator[dict[str, Any]]:
    """The rows of a batch, without copying bytes."""
    for row in range(batch.num_rows):
        yield {
            name: column[row].as_buffer()
            if pa.types.is_binary(column.type)
            else column[row].as_py()
            for name, column in zip(batch.schema.names, batch.columns, strict=True)
        }


def findings_batch(run: str, outcome: RunFindings) -> Any:
    """The findings about a run as rows of FINDINGS."""
    rows: list[dict[str, Any]] = [{"verdict": outcome.row(run)}]
    rows += [{"violation": finding.row(run)} for finding in outcome.violations]
    return pa.RecordBatch.from_pylist(rows, schema=FINDINGS)
