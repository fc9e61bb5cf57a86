"""Reading one file: unpack it, detect its format, and let the reader of that format yield its rows."""

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from beforehand.pipeline.ingest.read.graphs import read_graph
from beforehand.pipeline.ingest.read.gzipped import unpack
from beforehand.pipeline.ingest.read.jaeger import read_jaeger
from beforehand.pipeline.ingest.read.lines import display_text
from beforehand.pipeline.ingest.read.lists import read_list
from beforehand.pipeline.ingest.read.options import AUTO, Options
from beforehand.pipeline.ingest.read.otlp import read_otlp
from beforehand.pipeline.ingest.read.rows import BadRow, FileError, Row, RowError
from beforehand.pipeline.ingest.read.shiviz import layout_of, read_shiviz
from beforehand.pipeline.ingest.read.sniff import sniff
from beforehand.pipeline.ingest.read.span_csv import read_span_csv
from beforehand.pipeline.ingest.read.traces import read_trace
from beforehand.pipeline.ingest.read.zipkin import read_zipkin

EMPTY: Final = "the file is empty"
UNKNOWN: Final = "unknown"  # the format of a file that isn't recognised
_SHOWN: Final = 2000  # bytes that a reject shows of an unusable file

READERS: Final[dict[str, Callable[[bytes, Options], Iterator[Row | BadRow]]]] = {
    "trace": lambda data, _: read_trace(data),
    "otlp": lambda data, _: read_otlp(data),
    "jaeger": lambda data, _: read_jaeger(data),
    "zipkin": lambda data, _: read_zipkin(data),
    "span-csv": read_span_csv,
    "shiviz": read_shiviz,
    "list": read_list,
    "graph": lambda data, _: read_graph(data),
}


class Reading(NamedTuple):
    """The format of a file, and its rows as they are read."""

    format: str
    rows: Iterator[Row | BadRow]
    note: str = ""  # what was detected about the file, for display


def read_file(content: bytes, options: Options) -> Reading:
    """Read a file. Whatever its content, it has rows: an unusable file is one bad row at position 0."""
    data, cut = unpack(content)
    if not data.strip():
        reason = cut or EMPTY
        return Reading(_given(options), iter([BadRow(0, display_text(data[:_SHOWN]), reason)]))
    tail = b""
    if cut is not None:
        # The last line may be truncated and look complete: 10820 instead of 1082040961.
        end = data.rfind(b"\n") + 1
        data, tail = data[:end], data[end:]
    try:
        name = sniff(data or tail, options) if options.format == AUTO else options.format
    except FileError as problem:
        reason = f"{cut}; {problem}" if cut else str(problem)
        return Reading(UNKNOWN, iter([BadRow(0, display_text((data or tail)[:_SHOWN]), reason)]))
    note = f"layout: {layout_of(data)}" if name == "shiviz" and options.pattern is None else ""
    return Reading(name, _rows(name, data, options, cut, tail), note)


def _rows(
    name: str, data: bytes, options: Options, cut: str | None, tail: bytes
) -> Iterator[Row | BadRow]:
    try:
        yield from READERS[name](data, options)
    except (FileError, RowError) as problem:
        reason = f"{cut} (the rest: {problem})" if cut else str(problem)
        yield BadRow(0, display_text(data[:_SHOWN]), reason)
        return
    if cut:
        yield BadRow(0, display_text(tail[:_SHOWN]), cut)


def _given(options: Options) -> str:
    return UNKNOWN if options.format == AUTO else options.format
