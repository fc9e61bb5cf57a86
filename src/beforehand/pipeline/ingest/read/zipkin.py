"""Zipkin v2 JSON: a list of spans, times in microseconds.

The two sides of a call may share one id; `resolve/spans.py` handles that.
"""

from collections.abc import Iterator
from typing import Any

from beforehand.pipeline.ingest.read.json_documents import document
from beforehand.pipeline.ingest.read.rows import BadRow, FileError, Row, RowError
from beforehand.pipeline.ingest.read.spans import TraceSpan, microseconds, role, rows_of, span_of
from beforehand.pipeline.ingest.read.values import entry, process, text


def read_zipkin(data: bytes) -> Iterator[Row | BadRow]:
    """The spans of a file."""
    spans = document(data)
    if not isinstance(spans, list):
        raise FileError("not Zipkin v2: it should be a list of spans, like [{...}, {...}]")
    if spans and all(isinstance(trace, list) for trace in spans):
        spans = [span for trace in spans for span in trace]  # the API returns lists of traces
    return rows_of(((span, None) for span in spans), _span)


def _span(fields: dict[str, Any], _: None) -> tuple[str, TraceSpan]:
    start, end, has_duration = microseconds(fields, "timestamp", "duration")
    tags = fields.get("tags")
    parent = fields.get("parentId")
    own = _service(fields, "localEndpoint")
    if own is None:
        raise RowError("localEndpoint.serviceName is missing, so its process is unknown")
    remote = _service(fields, "remoteEndpoint")
    return text(entry(fields, "traceId"), "traceId"), span_of(
        tags if isinstance(tags, dict) else {},
        has_duration,
        id=text(entry(fields, "id"), "id"),
        parent=None if parent is None else text(parent, "parentId"),
        process=process(own, "localEndpoint.serviceName"),
        start_ns=start,
        end_ns=end,
        role=role(fields.get("kind")),
        remote=None if remote is None else process(remote, "remoteEndpoint.serviceName"),
    )


def _service(fields: dict[str, Any], name: str) -> object:
    endpoint = fields.get(name)
    if endpoint is not None and not isinstance(endpoint, dict):
        raise RowError(f"{name} is not an object")
    return (endpoint or {}).get("serviceName") or None
