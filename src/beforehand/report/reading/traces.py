"""Events of traces: those of some messages, and the beginning of a run.

Traces may be far larger than a report, so files are gone through in batches, and only what is wanted
is kept.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from beforehand.report.diagram.columns import KINDS
from beforehand.report.reading.context import Gap
from beforehand.report.reading.files import check_columns, clear, parquet
from beforehand.results.tables.traffic import EVENTS

ENDINGS: Final = (".parquet", ".jsonl", ".jsonl.gz")
MOST_JSON: Final = 64 * 2**20  # bytes of JSON lines that a report reads; Parquet may be of any size
# What may be left out in a line of JSON.
_DEFAULTS: Final = {"run": "", "detail": "", "time_ns": 0, "payload_bytes": 0, "meta_bytes": 0}
_BETWEEN: Final = "\x1f"  # parts of a key


class TraceRow(NamedTuple):
    """A row of the trace format (docs/trace-format.md)."""

    run: str
    process: str
    seq: int
    kind: str
    sender: str | None
    mid: int | None
    to: tuple[str, ...] | None
    time_ns: int
    payload_bytes: int
    meta_bytes: int
    detail: str


class MessageKey(NamedTuple):
    """A message of a run."""

    run: str
    sender: str
    mid: int


def files_of(sources: Iterable[str | Path]) -> list[Path]:
    """The files of traces in files, folders and patterns, as the auditor finds them."""
    found: dict[Path, None] = {}
    for source in map(Path, sources):
        if source.is_dir():
            found |= dict.fromkeys(sorted(source.rglob("*")))
        elif source.exists():
            found[source] = None
        elif not source.is_absolute() or source.parent.is_dir():
            found |= dict.fromkeys(sorted(source.parent.glob(source.name)))
    return [each for each in found if each.name.endswith(ENDINGS) and each.name[0] not in "._"]


def events_of(files: Sequence[Path], messages: Collection[MessageKey]) -> list[TraceRow]:
    """All events about some messages."""
    keys = pa.array([_BETWEEN.join(map(str, each)) for each in messages], pa.string())
    found: list[TraceRow] = []
    runs = sorted({each.run for each in messages})
    for batch in _batches(files, ds.field("run").isin(runs)):
        numbers = pc.cast(batch["mid"], pa.string())
        texts = (pc.cast(batch[name], pa.string()) for name in ("run", "sender"))
        key = pc.binary_join_element_wise(*texts, numbers, _BETWEEN)
        found += _events(batch.filter(pc.is_in(key, value_set=keys)))
    found += [each for each in _json_events(files) if (each.run, each.sender, each.mid) in messages]
    return found


class Beginning(NamedTuple):
    """Of a trace."""

    events: list[TraceRow]  # roughly the first by time
    total: int  # events, all of them
    processes: int  # that have a log


def beginning_of(files: Sequence[Path], most: int) -> Beginning:
    """The first events, and how many there are in all."""
    first: pa.Table | None = None
    total, processes = 0, set()
    for batch in _batches(files):
        total += batch.num_rows
        processes.update(pc.unique(batch["process"]).to_pylist())
        both = pa.Table.from_batches([batch])
        if first is not None:
            both = pa.concat_tables([first, both])
        first = both.take(pc.select_k_unstable(both, most, [("time_ns", "ascending")]))
    plain = list(_json_events(files))
    processes.update(event.process for event in plain)
    found = [*(_events(first) if first is not None else ()), *plain]
    found = sorted(found, key=lambda event: event.time_ns)[:most]
    return Beginning(found, total + len(plain), len(processes))


def _batches(files: Sequence[Path], only: ds.Expression | None = None) -> Iterator[pa.RecordBatch]:
    """Of the Parquet files; parts of them in which nothing can be wanted are not read at all."""
    some = [each for each in files if each.name.endswith(".parquet")]
    if not some:
        return
    dataset = parquet(some)
    check_columns(some[0].parent, dataset.schema, EVENTS)
    with clear(some[0].parent):
        yield from dataset.scanner(columns=list(TraceRow._fields), filter=only).to_batches()


def _events(rows: pa.RecordBatch | pa.Table) -> list[TraceRow]:
    return [_event(row) for row in rows.to_pylist()]


def _event(row: dict[str, Any]) -> TraceRow:
    to = row.get("to")
    fields: dict[str, Any] = {name: row.get(name) for name in TraceRow._fields}
    found = TraceRow(**(fields | {"to": to and tuple(to)}))
    texts = (found.run, found.process, found.kind, found.detail, found.sender or "", *(to or ()))
    numbers = (found.seq, found.time_ns, found.payload_bytes, found.meta_bytes, found.mid or 0)
    if found.kind not in KINDS:
        raise Gap(f"an event in a trace is of a kind that is not known: {found.kind!r}")
    if not all(isinstance(each, str) for each in texts):
        raise Gap(f"an event in a trace has no name where there must be one: {row}")
    if not all(isinstance(each, int) for each in numbers):
        raise Gap(f"an event in a trace has no number where there must be one: {row}")
    return found


def _json_events(files: Sequence[Path]) -> Iterator[TraceRow]:
    """Of the files with lines of JSON; small ones only."""
    some = [each for each in files if ".jsonl" in each.name]
    size = sum(each.stat().st_size for each in some)
    if size > MOST_JSON:
        raise Gap(f"{some[0].parent} holds {size:,} bytes of JSON, more than a report looks at")
    for file in some:
        with clear(file):
            data = file.read_bytes()
            text = gzip.decompress(data) if file.name.endswith(".gz") else data
            for line in text.splitlines():
                row = json.loads(line) if line.strip() else {}
                if "process" in row:  # otherwise the line with the version
                    yield _event({**_DEFAULTS, **row})
