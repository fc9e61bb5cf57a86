"""A span as all formats of spans tell it, and what their readers share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from beforehand.pipeline.ingest.read.json_documents import written
from beforehand.pipeline.ingest.read.rows import BadRow, Row, RowError
from beforehand.pipeline.ingest.read.values import entry, integer

# What a span says of its side of a message; an empty role says nothing.
CLIENT, SERVER, PRODUCER, CONSUMER = "client", "server", "producer", "consumer"
ROLES: Final = frozenset({CLIENT, SERVER, PRODUCER, CONSUMER})

NO_DURATION: Final = "no duration"  # what is odd about a span that does not tell its end

# Where tracers put the sizes of messages: OpenTelemetry's names, old and new.
_REQUEST_SIZES: Final = (
    "messaging.message.body.size",
    "messaging.message.payload_size_bytes",
    "http.request.body.size",
    "http.request_content_length",
    "rpc.request.size",
)
_REPLY_SIZES: Final = (
    "http.response.body.size",
    "http.response_content_length",
    "rpc.response.size",
)


class TraceSpan(NamedTuple):
    """One span. The times are of the clock of its process."""

    id: str
    parent: str | None
    process: str
    start_ns: int
    end_ns: int
    role: str = ""
    remote: str | None = None  # the process at the other side, if the span names it
    one_way: bool = False  # it follows from its parent, who does not wait for it
    request_bytes: int | None = None
    reply_bytes: int | None = None
    flags: tuple[str, ...] = ()


def row_of(trace: str, span: TraceSpan, position: int, raw: str) -> Row:
    """The row of a span that has been read."""
    if span.end_ns < span.start_ns:
        raise RowError(f"ends before it starts, by {span.start_ns - span.end_ns} ns")
    return Row(position, raw, tuple(span), group=trace)


def rows_of(
    spans: Iterable[BadRow | tuple[Any, Any]],
    read: Callable[[dict[str, Any], Any], tuple[str, TraceSpan]],
) -> Iterator[Row | BadRow]:
    """The rows of spans in a JSON document, numbered from 1 on.

    Each span comes with what its file says about several of them, such as their process.
    """
    for position, each in enumerate(spans, 1):
        if isinstance(each, BadRow):
            yield each._replace(position=position)
            continue
        fields, context = each
        raw = written(fields)
        try:
            if not isinstance(fields, dict):
                raise RowError("not an object with the fields of a span")
            trace, span = read(fields, context)
            yield row_of(trace, span, position, raw)
        except RowError as problem:
            yield BadRow(position, raw, str(problem))


def sizes(tags: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """The bytes of the request and of the reply, where the tags tell them."""
    return _size(tags, _REQUEST_SIZES), _size(tags, _REPLY_SIZES)


def instance(service: object, tags: Mapping[str, Any]) -> object:
    """The process of a service: two instances of one service are two processes."""
    one = tags.get("service.instance.id")
    return (
        f"{service}/{one}" if isinstance(service, str) and isinstance(one, str) and one else service
    )


def role(value: object) -> str:
    """The role that a kind like `CLIENT` or `SPAN_KIND_CLIENT` means."""
    name = value.lower().removeprefix("span_kind_") if isinstance(value, str) else ""
    return name if name in ROLES else ""


def microseconds(fields: Mapping[str, Any], start: str, duration: str) -> tuple[int, int, bool]:
    """Start and end in nanoseconds, and whether there is a duration at all."""
    begin = integer(entry(fields, start), start)
    lasts = fields.get(duration)
    end = begin if lasts is None else begin + integer(lasts, duration)
    return integer(begin * 1000, start), integer(end * 1000, duration), lasts is not None


def _size(tags: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    for name in names:
        try:
            return integer(tags[name], name, 0)
        except (KeyError, RowError):
            continue  # a tag is an extra: an odd one does not spoil the span
    return None
