"""Spans as comma-separated values with a header: the layout of Nezha, or columns that the user names."""

import csv
from collections.abc import Iterator, Mapping
from typing import Final

from beforehand.pipeline.ingest.read.lines import lines_of
from beforehand.pipeline.ingest.read.options import Options, SourceColumn
from beforehand.pipeline.ingest.read.rows import BadRow, FileError, Row, RowError
from beforehand.pipeline.ingest.read.spans import TraceSpan, row_of
from beforehand.pipeline.ingest.read.values import integer, nanoseconds, process, text

NEZHA: Final = {
    "trace": SourceColumn("TraceID"),
    "span": SourceColumn("SpanID"),
    "parent": SourceColumn("ParentID"),
    "process": SourceColumn("PodName"),
    "start": SourceColumn("StartTimeUnixNano"),
    "end": SourceColumn("EndTimeUnixNano"),
}
_NO_PARENT: Final = ("", "root")
_UNIT: Final = "ns"


def read_span_csv(data: bytes, options: Options) -> Iterator[Row | BadRow]:
    """The spans of a file, one per line."""
    columns = options.columns if options.maps_spans else NEZHA
    indices: dict[str, int] | None = None
    width = 0
    for number, line in lines_of(data):
        if isinstance(line, BadRow):
            yield line
        elif not line.strip():
            continue
        elif indices is None:
            header = _cells(line)
            indices, width = _indices(header, columns), len(header)
        else:
            yield _row(number, line, indices, width, columns)
    if indices is None:
        raise FileError("the header line is missing; write the column names first")


def fits(header: str, columns: Mapping[str, SourceColumn]) -> bool:
    """Whether a header line has all of the columns."""
    try:
        _indices(_cells(header), columns)
    except (FileError, RowError):
        return False
    return True


def _indices(header: list[str], columns: Mapping[str, SourceColumn]) -> dict[str, int]:
    names = [name.strip() for name in header]
    missing = [column.name for column in columns.values() if column.name not in names]
    if missing:
        raise FileError(
            f"there is no column {', '.join(missing)}; name those of the header with `columns`, "
            "like trace=TraceID,span=SpanID"
        )
    return {ours: names.index(column.name) for ours, column in columns.items()}


def _cells(line: str) -> list[str]:
    """The cells of one line. A row is one line, so a stray quotation mark spoils only its own."""
    try:
        return next(csv.reader([line], strict=True))
    except csv.Error as problem:
        raise RowError(f"not a line of comma-separated values ({problem})") from None


def _row(
    number: int, line: str, indices: dict[str, int], width: int, columns: Mapping[str, SourceColumn]
) -> Row | BadRow:
    try:
        cells = _cells(line)
        if len(cells) != width:
            raise RowError(f"has {len(cells)} cells, and the header has {width}; is it truncated?")
        values = {ours: cells[index].strip() for ours, index in indices.items()}
        start = nanoseconds(values["start"], "start", columns["start"].unit or _UNIT)
        if "end" in values:
            end = nanoseconds(values["end"], "end", columns["end"].unit or _UNIT)
        else:
            duration = nanoseconds(
                values["duration"], "duration", columns["duration"].unit or _UNIT
            )
            end = integer(start + duration, "start and duration together")
        parent = values["parent"]
        span = TraceSpan(
            text(values["span"], "span"),
            None if parent in _NO_PARENT else text(parent, "parent"),
            process(values["process"], "process"),
            start,
            end,
        )
        return row_of(text(values["trace"], "trace"), span, number, line)
    except RowError as problem:
        return BadRow(number, line, str(problem))
