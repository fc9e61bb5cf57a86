"""Jaeger JSON, as exported by its API and user interface: traces with spans and processes.

A reference may embed the whole parent span, with its parent inside, and so on. These copies are
ignored: every span is in the list of its trace.
"""

from collections.abc import Iterator
from typing import Any

from beforehand.pipeline.ingest.read.json_documents import canonical, document
from beforehand.pipeline.ingest.read.rows import BadRow, FileError, Row, RowError
from beforehand.pipeline.ingest.read.spans import (
    TraceSpan,
    instance,
    microseconds,
    peer,
    role,
    rows_of,
    span_of,
)
from beforehand.pipeline.ingest.read.values import entry, process, text

_COPIES = ("span", "process")


def read_jaeger(data: bytes) -> Iterator[Row | BadRow]:
    """The spans of a file, trace by trace."""
    content = document(data)
    traces = content.get("data") if isinstance(content, dict) else content
    if isinstance(content, dict) and "spans" in content:
        traces = [content]  # one trace, as the user interface saves it
    if not isinstance(traces, list):
        raise FileError('not Jaeger: it should be like {"data": [{"spans": [], "processes": {}}]}')
    return rows_of(_spans(traces), _span)


def _spans(traces: list[Any]) -> Iterator[BadRow | tuple[Any, dict[str, Any]]]:
    """Every span, with the table of processes of its trace."""
    for trace in traces:
        spans = trace.get("spans") if isinstance(trace, dict) else None
        if not isinstance(spans, list):
            yield BadRow(0, canonical(trace), "not a trace: it has no list of spans")
            continue
        table = trace.get("processes")
        for span in spans:
            yield _without_copies(span), table if isinstance(table, dict) else {}


def _without_copies(span: Any) -> Any:
    references = span.get("references") if isinstance(span, dict) else None
    if not isinstance(references, list):
        return span
    short = [
        {name: value for name, value in reference.items() if name not in _COPIES}
        if isinstance(reference, dict)
        else reference
        for reference in references
    ]
    return {**span, "references": short}


def _span(fields: dict[str, Any], processes: dict[str, Any]) -> tuple[str, TraceSpan]:
    trace = text(entry(fields, "traceID"), "traceID")
    start, end, has_duration = microseconds(fields, "startTime", "duration")
    tags = _tags(fields.get("tags"))
    parent, one_way = _parent(fields, trace)
    return trace, span_of(
        tags,
        has_duration,
        id=text(entry(fields, "spanID"), "spanID"),
        parent=parent,
        process=_process(fields, processes),
        start_ns=start,
        end_ns=end,
        role=role(tags.get("span.kind")),
        remote=peer(tags.get("peer.service")),
        one_way=one_way,
    )


def _process(fields: dict[str, Any], table: dict[str, Any]) -> str:
    own = fields.get("process")
    named = fields.get("processID")
    declared = table.get(named, own) if isinstance(named, str) else own
    if not isinstance(declared, dict):
        raise RowError(f"processID is {named!a}, which isn't among the processes of its trace")
    service = entry(declared, "serviceName")
    return process(instance(service, _tags(declared.get("tags"))), "serviceName")


def _parent(fields: dict[str, Any], trace: str) -> tuple[str | None, bool]:
    """The span that this one is a child of, or else follows from; links to other traces don't count."""
    references = fields.get("references") or []
    if not isinstance(references, list):
        raise RowError("references is not a list")
    follows: str | None = None
    for reference in references:
        if not isinstance(reference, dict):
            raise RowError("references contains something that isn't an object")
        if reference.get("traceID", trace) != trace:
            continue
        name = text(entry(reference, "spanID"), "spanID of a reference")
        if reference.get("refType", "CHILD_OF") == "CHILD_OF":
            return name, False
        follows = follows or name
    if follows is None and fields.get("parentSpanID"):
        return text(fields["parentSpanID"], "parentSpanID"), False
    return follows, follows is not None


def _tags(pairs: object) -> dict[str, Any]:
    if not isinstance(pairs, list):
        return {}
    return {
        pair["key"]: pair.get("value")
        for pair in pairs
        if isinstance(pair, dict) and isinstance(pair.get("key"), str)
    }
