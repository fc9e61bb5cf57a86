"""Which format a file has, by its content."""

from __future__ import annotations

import re
from typing import Final

from beforehand.pipeline.ingest.read.lines import replaced
from beforehand.pipeline.ingest.read.lists import looks_like_a_list
from beforehand.pipeline.ingest.read.options import FORMATS, Options, compiled
from beforehand.pipeline.ingest.read.rows import FileError
from beforehand.pipeline.ingest.read.shiviz import CLOCK
from beforehand.pipeline.ingest.read.span_csv import NEZHA, fits
from beforehand.pipeline.ingest.read.traces import PARQUET
from beforehand.trace.schema import VERSION_KEY

_HEAD: Final = 64 * 1024  # bytes to look at; only keys of JSON may come later
_BOM: Final = b"\xef\xbb\xbf"


def sniff(data: bytes, options: Options) -> str:
    """The format of a file; raise FileError if it has none that is known."""
    head = data[:_HEAD].removeprefix(_BOM).lstrip()
    if data.startswith(PARQUET):
        return "trace"
    if found := _json(data, head):
        return found
    first = replaced(head.split(b"\n", 1)[0]).rstrip("\r")
    if fits(first, options.columns if options.maps_spans else NEZHA):
        return "span-csv"
    if _is_shiviz(replaced(head), options):
        return "shiviz"
    if (options.columns and not options.maps_spans) or looks_like_a_list(_whole_lines(data)):
        return "list"
    raise FileError(
        f"not recognised as any of {', '.join(FORMATS)}; name its `format`, or leave it out"
    )


def _json(data: bytes, head: bytes) -> str | None:
    """By the keys that only one of the formats has."""
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
    """Whether there is such a key. In a value, the quotation marks would have backslashes."""
    return re.search(rb'"%s"\s*:' % key.encode(), data) is not None


def _is_shiviz(head: str, options: Options) -> bool:
    if options.pattern is not None:
        found = compiled(options.pattern, "pattern").search(head)
        return found is not None and bool(found[0])
    return CLOCK.search(head) is not None


def _whole_lines(data: bytes) -> bytes:
    """The first lines, without one that the head may have cut."""
    return data if len(data) <= _HEAD else data[: data[:_HEAD].rfind(b"\n") + 1]
