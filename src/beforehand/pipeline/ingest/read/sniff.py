"""The format of a file, detected from its content."""

import re
from typing import Final

from beforehand.pipeline.ingest.read.lines import display_text
from beforehand.pipeline.ingest.read.lists import looks_like_a_list
from beforehand.pipeline.ingest.read.options import FORMATS, Options, compiled
from beforehand.pipeline.ingest.read.rows import FileError
from beforehand.pipeline.ingest.read.shiviz import CLOCK
from beforehand.pipeline.ingest.read.span_csv import NEZHA, fits
from beforehand.pipeline.ingest.read.traces import PARQUET
from beforehand.trace.schema import VERSION_KEY

_HEAD: Final = 64 * 1024  # bytes to inspect; only keys of JSON may come later
_BOM: Final = b"\xef\xbb\xbf"


def sniff(data: bytes, options: Options) -> str:
    """The format of a file; raise FileError if it is none of the known ones."""
    head = data[:_HEAD].removeprefix(_BOM).lstrip()
    if data.startswith(PARQUET):
        return "trace"
    if json_format := _json(data, head):
        return json_format
    first = display_text(head.split(b"\n", 1)[0]).rstrip("\r")
    if fits(first, options.columns if options.maps_spans else NEZHA):
        return "span-csv"
    if _is_shiviz(display_text(head), options):
        return "shiviz"
    if (options.columns and not options.maps_spans) or looks_like_a_list(_whole_lines(data)):
        return "list"
    raise FileError(
        f"not recognised as any of {', '.join(FORMATS)}; name its `format`, or leave it out"
    )


def _json(data: bytes, head: bytes) -> str | None:
    """Detect a JSON format by the keys that only this one has."""
    if not head.startswith((b"{", b"[")):
        return None
    first = head.split(b"\n", 1)[0]
    if VERSION_KEY.encode() in first or (b'"process"' in first and b'"kind"' in first):
        return "trace"
    if _has(data, "resourceSpans") or _has(data, "resource_spans"):
        return "otlp"
    if _has(data, "spanID"):
        return "jaeger"
    if head.startswith(b"[") and _has(data, "traceId"):
        return "zipkin"
    return "graph" if _has(data, "txns") else None


def _has(data: bytes, key: str) -> bool:
    """Whether there is such a key. Within a value, the quotation marks would be escaped."""
    return re.search(rb'"%s"\s*:' % key.encode(), data) is not None


def _is_shiviz(head: str, options: Options) -> bool:
    if options.pattern is not None:
        match = compiled(options.pattern, "pattern").search(head)
        return match is not None and bool(match[0])
    return CLOCK.search(head) is not None


def _whole_lines(data: bytes) -> bytes:
    """The first lines, without one that may be incomplete."""
    return data if len(data) <= _HEAD else data[: data[:_HEAD].rfind(b"\n") + 1]
