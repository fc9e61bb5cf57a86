"""OpenTelemetry's OTLP as JSON: one document, or one per line as the Collector writes to files."""

import base64
import binascii
import json
import re
from collections.abc import Iterator
from typing import Any, Final

from beforehand.pipeline.ingest.read import spans
from beforehand.pipeline.ingest.read.json_documents import canonical, document
from beforehand.pipeline.ingest.read.lines import lines_of
from beforehand.pipeline.ingest.read.rows import BadRow, FileError, Row, RowError
from beforehand.pipeline.ingest.read.spans import TraceSpan, instance, peer, role, rows_of, span_of
from beforehand.pipeline.ingest.read.values import entry, integer, process, text

_HEX: Final = re.compile(r"[0-9a-fA-F]+")
_TRACE_BYTES, _SPAN_BYTES = 16, 8
_KINDS: Final = {2: spans.SERVER, 3: spans.CLIENT, 4: spans.PRODUCER, 5: spans.CONSUMER}
_WANTED: Final = 'it should be like {"resourceSpans": [...]}'


def read_otlp(data: bytes) -> Iterator[Row | BadRow]:
    """The spans of a file; a line that isn't JSON is numbered like a span."""
    return rows_of(_spans(data), _span)


def _documents(data: bytes) -> Iterator[Any]:
    """The documents of a file: one per line, or one in all."""
    lines = [(n, line) for n, line in lines_of(data) if not isinstance(line, str) or line.strip()]
    first = lines[0][1] if lines else ""
    if len(lines) < 2 or isinstance(first, BadRow) or not _is_object(first):
        content = document(data)
        if not isinstance(content, dict) or _resources(content) is None:
            raise FileError(f"not OTLP: {_WANTED}")
        yield content
        return
    for number, line in lines:
        if isinstance(line, BadRow):
            yield line
            continue
        try:
            content = json.loads(line)
        except (ValueError, RecursionError) as problem:
            yield BadRow(number, line, f"line {number} is not JSON ({problem}); is it truncated?")
            continue
        if isinstance(content, dict) and _resources(content) is not None:
            yield content
        else:
            yield BadRow(number, line, f"line {number} is not OTLP: {_WANTED}")


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _resources(content: dict[str, Any]) -> list[Any] | None:
    inner = content.get("resourceSpans", content.get("resource_spans"))
    return inner if isinstance(inner, list) else None


def _spans(data: bytes) -> Iterator[BadRow | tuple[Any, dict[str, Any]]]:
    """Every span, with the attributes of its resource."""
    for content in _documents(data):
        if isinstance(content, BadRow):
            yield content
        else:
            yield from _spans_of(content)


def _spans_of(content: dict[str, Any]) -> Iterator[BadRow | tuple[Any, dict[str, Any]]]:
    for resource in _resources(content) or ():
        if not isinstance(resource, dict):
            yield BadRow(
                0, canonical(resource), "resourceSpans contains something that isn't an object"
            )
            continue
        about = resource.get("resource")
        tags = _tags(about.get("attributes")) if isinstance(about, dict) else {}
        # The last name is from before version 0.19.
        for name in ("scopeSpans", "scope_spans", "instrumentationLibrarySpans"):
            scopes = resource.get(name)
            for scope in scopes if isinstance(scopes, list) else ():
                inside = scope.get("spans") if isinstance(scope, dict) else None
                if not isinstance(inside, list):
                    yield BadRow(
                        0, canonical(scope), f"{name} contains something without a list of spans"
                    )
                    continue
                for span in inside:
                    yield span, tags


def _span(fields: dict[str, Any], resource: dict[str, Any]) -> tuple[str, TraceSpan]:
    tags = _tags(fields.get("attributes"))
    parent = fields.get("parentSpanId")
    if not resource.get("service.name"):
        raise RowError("its resource has no service.name, so its process is unknown")
    end = fields.get("endTimeUnixNano")
    start = integer(entry(fields, "startTimeUnixNano"), "startTimeUnixNano")
    ended = end not in (None, 0, "0")  # protobuf writes 0 if there is none
    kind = fields.get("kind")
    return _id(fields, "traceId", _TRACE_BYTES), span_of(
        tags,
        ended,
        id=_id(fields, "spanId", _SPAN_BYTES),
        parent=None if parent in (None, "") else _id(fields, "parentSpanId", _SPAN_BYTES),
        process=process(instance(resource["service.name"], resource), "service.name"),
        start_ns=start,
        end_ns=integer(end, "endTimeUnixNano") if ended else start,
        role=_KINDS.get(kind, "") if type(kind) is int else role(kind),
        remote=peer(tags.get("peer.service", tags.get("service.peer.name"))),
    )


def _id(fields: dict[str, Any], name: str, size: int) -> str:
    """An id in hexadecimal, as OTLP requires; protobuf's own JSON has base64 instead."""
    value = text(entry(fields, name), name)
    if len(value) == 2 * size and _HEX.fullmatch(value):
        return value.lower()
    try:
        plain = base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        plain = b""
    if len(plain) != size:
        raise RowError(f"{name} is {value[:60]!a}, not {size} bytes in hexadecimal or base64")
    return plain.hex()


def _tags(attributes: object) -> dict[str, Any]:
    """Attributes by name; only values that are text or numbers count."""
    if not isinstance(attributes, list):
        return {}
    return {
        pair["key"]: next(iter(pair["value"].values()), None)
        for pair in attributes
        if isinstance(pair, dict)
        and isinstance(pair.get("key"), str)
        and isinstance(pair.get("value"), dict)
    }
