"""Events of traces: those of some messages, and the beginning of a run.

Traces may be far larger than a report, so files are read in batches, and only what is needed is kept.
"""

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
from beforehand.results.tables.ingest import EVENTS

ENDINGS: Final = (".parquet", ".jsonl", ".jsonl.gz")
MOST_JSON: Final = 64 * 2**20  # bytes of JSON lines that a report reads; Parquet may be of any size
_SEPARATOR: Final = "\x1f"  # between the parts of a key


class TraceRow(NamedTuple):
    """A row of the trace format (docs/trace-format.md)."""

    run: str
    process: str
    seq: int
    kind: str
    sender: str | None
    mid: int | None
    to: tuple[str, ...] | None
    time_ns: int = 0
    payload_bytes: int = 0
    meta_bytes: int = 0
    detail: str = ""


class MessageKey(NamedTuple):
    """A message of a run."""

    run: str
    sender: str
    mid: int


def files_of(sources: Iterable[str | Path]) -> list[Path]:
    """The files of traces in files, folders and patterns, as the auditor finds them."""
    files: list[Path] = []
    for source in map(Path, sources):
        if source.is_dir():
            files += sorted(source.rglob("*"))
        elif source.exists():
            files.append(source)
        elif not source.is_absolute() or source.parent.is_dir():
            files += sorted(source.parent.glob(source.name))
    unique = dict.fromkeys(files)
    return [file for file in unique if file.name.endswith(ENDINGS) and file.name[0] not in "._"]


def events_of(files: Sequence[Path], messages: Collection[MessageKey]) -> list[TraceRow]:
    """All events about some messages."""
    keys = pa.array([_SEPARATOR.join(map(str, message)) for message in messages], pa.string())
    events: list[TraceRow] = []
    runs = sorted({message.run for message in messages})
    for batch in _batches(files, ds.field("run").isin(runs)):
        numbers = pc.cast(batch["mid"], pa.string())
        texts = (pc.cast(batch[name], pa.string()) for name in ("run", "sender"))
        key = pc.binary_join_element_wise(*texts, numbers, _SEPARATOR)
        events += _events(batch.filter(pc.is_in(key, value_set=keys)))
    from_json = _json_events(files)
    return events + [row for row in from_json if (row.run, row.sender, row.mid) in messages]


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
    events = [*(_events(first) if first is not None else ()), *plain]
    events = sorted(events, key=lambda event: event.time_ns)[:most]
    return Beginning(events, total + len(plain), len(processes))


def _batches(files: Sequence[Path], only: ds.Expression | None = None) -> Iterator[pa.RecordBatch]:
    """Of the Parquet files; row groups that the filter excludes are not read at all."""
    chosen = [file for file in files if file.name.endswith(".parquet")]
    if not chosen:
        return
    dataset = parquet(chosen)
    check_columns(chosen[0].parent, dataset.schema, EVENTS)
    with clear(chosen[0].parent):
        yield from dataset.scanner(columns=list(TraceRow._fields), filter=only).to_batches()


def _events(rows: pa.RecordBatch | pa.Table) -> list[TraceRow]:
    return [_event(row) for row in rows.to_pylist()]


def _event(row: dict[str, Any]) -> TraceRow:
    to = row.get("to")
    fields: dict[str, Any] = {name: row.get(name) for name in TraceRow._fields}
    event = TraceRow(**(fields | {"to": to and tuple(to)}))
    texts = (event.run, event.process, event.kind, event.detail, event.sender or "", *(to or ()))
    numbers = (event.seq, event.time_ns, event.payload_bytes, event.meta_bytes, event.mid or 0)
    if event.kind not in KINDS:
        raise Gap(f"an event in a trace has an unknown kind: {event.kind!r}")
    if not all(isinstance(text, str) for text in texts):
        raise Gap(f"an event in a trace lacks a name: {row}")
    if not all(isinstance(number, int) for number in numbers):
        raise Gap(f"an event in a trace lacks a number: {row}")
    return event


def _json_events(files: Sequence[Path]) -> Iterator[TraceRow]:
    """Of the files with lines of JSON; small ones only."""
    chosen = [file for file in files if ".jsonl" in file.name]
    size = sum(file.stat().st_size for file in chosen)
    if size > MOST_JSON:
        raise Gap(f"{chosen[0].parent} holds {size:,} bytes of JSON, more than a report reads")
    for file in chosen:
        with clear(file):
            data = file.read_bytes()
            text = gzip.decompress(data) if file.name.endswith(".gz") else data
            for line in text.splitlines():
                row = json.loads(line) if line.strip() else {}
                if "process" in row:  # otherwise the line with the version
                    yield _event({"run": "", **TraceRow._field_defaults, **row})
