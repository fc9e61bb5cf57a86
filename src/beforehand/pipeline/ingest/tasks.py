"""What runs in tasks: the content of files becomes batches of rows, and rows become outcomes.

Batches are bounded by their number of rows; `raw` is shortened.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from itertools import chain, groupby
from pathlib import Path
from typing import Any, Final

from beforehand.pipeline.engine import Source
from beforehand.pipeline.engine.batches import record_batches
from beforehand.pipeline.ingest import summary
from beforehand.pipeline.ingest.read.options import AUTO, Options
from beforehand.pipeline.ingest.read.read import UNKNOWN, read_file
from beforehand.pipeline.ingest.read.rows import BadRow, Row
from beforehand.pipeline.ingest.resolve import outcomes
from beforehand.pipeline.ingest.resolve.resolvers import RESOLVERS
from beforehand.pipeline.ingest.run_names import key_of
from beforehand.pipeline.ingest.summary import Tally
from beforehand.trace.schema import Event

MOST_RAW: Final = 2000  # characters of a row that a reject shows
_ROWS_PER_BATCH: Final = 4096

_Counted = tuple[str, str, str, str]  # what a count is of: the first fields of Tally

_ENCODER: Final = json.JSONEncoder(separators=(",", ":"))


def read_source(source: Source, options: Options, schema: Any) -> Iterator[Any]:
    """The rows of a file, or the reason why it is rejected as a whole."""
    problem, content = source.problem, b""
    if not problem:
        try:
            content = Path(source.local).read_bytes()
        except OSError as failure:
            problem = f"cannot be read ({failure.strerror}); check its permissions"
    if problem:
        format_name = UNKNOWN if options.format == AUTO else options.format
        rows = iter(rejected_file(source.path, format_name, BadRow(0, "", problem)))
    else:
        rows = rows_of_file(source.path, content, options)
    return record_batches(rows, schema, _ROWS_PER_BATCH)


def rows_of_file(path: str, content: bytes, options: Options) -> Iterator[dict[str, Any]]:
    """One record per row of a file, and at the end one with their number."""
    reading = read_file(content, options)
    count = 0
    for row in _guarded(reading.rows):
        count += 1
        if isinstance(row, BadRow):
            yield rejected(path, reading.format, row)
            continue
        body = _ENCODER.encode(row.fields)
        yield {
            "run": str(key_of(reading.format, path, row.label)),
            "group": row.group,
            "part": row.part,
            "order": row.order,
            "file": path,
            "format": reading.format,
            "position": row.position,
            "digest": _digest(row.raw, body),
            "raw": _shown(row.raw),
            "body": body,
        }
    yield _end(path, reading.format, count, reading.note)


def rejected_file(path: str, format_name: str, bad: BadRow) -> list[dict[str, Any]]:
    """The records of a file that wasn't read at all."""
    return [rejected(path, format_name, bad), _end(path, format_name, 1)]


def rejected(path: str, format_name: str, bad: BadRow) -> dict[str, Any]:
    """The record of a row that cannot be used."""
    return {
        **_unordered(path, format_name),
        "position": bad.position,
        "raw": _shown(bad.raw),
        "reason": _shown(bad.reason),
    }


def resolve_batches(batches: Iterable[Any], schema: Any) -> Iterator[Any]:
    """The outcomes of rows, which come sorted by group, and at the end their counts."""
    records = (record for batch in batches for record in batch.to_pylist())
    return record_batches(resolved(records), schema, _ROWS_PER_BATCH)


def resolved(records: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The outcomes for the records of groups; verdicts are counted per file."""
    counts: Counter[_Counted] = Counter()
    for (run, _), group in groupby(records, key=lambda record: (record["run"], record["group"])):
        if not run:
            for record in group:
                yield from _unresolved(record, counts)
            continue
        first = next(group)
        rows = (_read_row(record) for record in chain([first], group))
        for outcome in RESOLVERS[first["format"]](rows):
            yield from _output(run, outcome, counts)
    for counted, number in counts.items():
        yield {"tally": Tally(*counted, number)._asdict()}


def _guarded(rows: Iterator[Row | BadRow]) -> Iterator[Row | BadRow]:
    """A reader that fails on one file must not stop the others."""
    try:
        yield from rows
    except Exception as problem:
        yield BadRow(
            0, "", f"the reader failed ({type(problem).__name__}: {problem}); please report it"
        )


def _unordered(path: str, format_name: str) -> dict[str, Any]:
    """The fields of a record without a run."""
    empty = {**dict.fromkeys(("run", "part", "digest", "raw"), ""), "order": 0, "position": 0}
    return {**empty, "group": path, "file": path, "format": format_name}


def _end(path: str, format_name: str, count: int, note: str = "") -> dict[str, Any]:
    """The record with the number of rows of a file."""
    return {**_unordered(path, format_name), "raw": note, "rows": count}


def _unresolved(record: dict[str, Any], counts: Counter[_Counted]) -> Iterator[dict[str, Any]]:
    file, format_name = record["file"], record["format"]
    if record["rows"] is not None:
        tally = Tally("", file, format_name, summary.ROWS, record["rows"], record["raw"])
        yield {"tally": tally._asdict()}
        return
    counts["", file, format_name, summary.REJECTED] += 1
    names = ("file", "format", "position", "raw", "reason")
    yield {"reject": {name: record[name] for name in names}}


def _read_row(record: dict[str, Any]) -> outcomes.ReadRow:
    names = ("file", "format", "position", "digest", "raw", "group")
    fields = tuple(json.loads(record["body"]))
    return outcomes.ReadRow(**{name: record[name] for name in names}, fields=fields)


def _output(
    run: str, outcome: outcomes.Outcome, counts: Counter[_Counted]
) -> Iterator[dict[str, Any]]:
    if isinstance(outcome, outcomes.IngestedMessage):
        fields = outcome._asdict()
        row = fields.pop("row")
        counts[run, "", "", summary.MESSAGES] += 1
        yield {"message": {**fields, "run": run, "file": row.file, "position": row.position}}
        return
    if isinstance(outcome, Event):
        counts[run, "", "", summary.EVENTS] += 1
        yield {"event": {**outcome._asdict(), "run": run}}
        return
    row = outcome.row
    if isinstance(outcome, outcomes.Accepted):
        flagged = [summary.FLAGGED, *(summary.FLAG + flag for flag in outcome.flags)]
        for what in (summary.ACCEPTED, *(flagged if outcome.flags else ())):
            counts["", row.file, row.format, what] += 1
    elif isinstance(outcome, outcomes.Duplicate):
        counts["", row.file, row.format, summary.DUPLICATES] += 1
    else:
        yield from _unresolved({**row._asdict(), "reason": outcome.reason, "rows": None}, counts)


def _digest(raw: str, body: str) -> str:
    whole = blake2b(raw.encode("utf-8", "surrogatepass"), digest_size=16)
    whole.update(b"\0" + body.encode())
    return whole.hexdigest()


def _shown(text: str) -> str:
    """Text shortened to what is shown, encodable as UTF-8."""
    cut = text if len(text) <= MOST_RAW else text[: MOST_RAW - 3] + "..."
    return cut.encode("utf-8", "replace").decode()
