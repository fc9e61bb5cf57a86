"""Spans as comma-separated values with a header: the layout of Nezha, or columns that the user names."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from typing import Final

from beforehand.pipeline.ingest.read.checks import integer, nanoseconds, process, text
from beforehand.pipeline.ingest.read.lines import lines_of
from beforehand.pipeline.ingest.read.options import Column, Options
from beforehand.pipeline.ingest.read.rows import Bad, Problem, Row, Unusable
from beforehand.pipeline.ingest.read.spans import Span, row_of

NEZHA: Final = {
    "trace": Column("TraceID"),
    "span": Column("SpanID"),
    "parent": Column("ParentID"),
    "process": Column("PodName"),
    "start": Column("StartTimeUnixNano"),
    "end": Column("EndTimeUnixNano"),
}
_NO_PARENT: Final = ("", "root")
_UNIT: Final = "ns"


def read_span_csv(data: bytes, options: Options) -> Iterator[Row | Bad]:
    """The spans of a file, one per line."""
    columns = options.columns if options.maps_spans else NEZHA
    places: dict[str, int] | None = None
    width = 0
    for number, line in lines_of(data):
        if isinstance(line, Bad):
            yield line
        elif not line.strip():
            continue
        elif places is None:
            header = _cells(line)
            places, width = _places(header, columns), len(header)
        else:
            yield _row(number, line, places, width, columns)
    if places is None:
        raise Unusable("there is no header line; write the names of the columns first")


def fits(header: str, columns: Mapping[str, Column]) -> bool:
    """Whether a header line has all columns."""
    try:
        _places(_cells(header), columns)
    except (Unusable, Problem):
        return False
    return True


def _places(header: list[str], columns: Mapping[str, Column]) -> dict[str, int]:
    names = [name.strip() for name in header]
    missing = [column.name for column in columns.values() if column.name not in names]
    if missing:
        raise Unusable(
            f"there is no column {', '.join(missing)}; name those of the header with `columns`, "
            "like trace=TraceID,span=SpanID"
        )
    return {ours: names.index(column.name) for ours, column in columns.items()}


def _cells(line: str) -> list[str]:
    """The cells of one line; a row is one line, so that a stray quotation mark spoils only its own."""
    try:
        return next(csv.reader([line], strict=True))
    except csv.Error as problem:
        raise Problem(f"not a line of comma-separated values ({problem})") from None


def _row(
    number: int, line: str, places: dict[str, int], width: int, columns: Mapping[str, Column]
) -> Row | Bad:
    try:
        cells = _cells(line)
        if len(cells) != width:
            raise Problem(f"has {len(cells)} cells, and the header has {width}; is it cut off?")
        found = {ours: cells[place].strip() for ours, place in places.items()}
        start = nanoseconds(found["start"], "start", columns["start"].unit or _UNIT)
        if "end" in found:
            end = nanoseconds(found["end"], "end", columns["end"].unit or _UNIT)
        else:
            lasts = nanoseconds(found["duration"], "duration", columns["duration"].unit or _UNIT)
            end = integer(start + lasts, "start and duration together")
        parent = found["parent"]
        span = Span(
            text(found["span"], "span"),
            None if parent in _NO_PARENT else text(parent, "parent"),
            process(found["process"], "process"),
            start,
            end,
        )
        return row_of(text(found["trace"], "trace"), span, number, line)
    except Problem as problem:
        return Bad(number, line, str(problem))
