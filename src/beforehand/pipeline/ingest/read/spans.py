"""A span, whatever its format, and what the readers of spans share."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from beforehand.pipeline.ingest.read.json_documents import canonical
from beforehand.pipeline.ingest.read.rows import BadRow, Row, RowError
from beforehand.pipeline.ingest.read.values import entry, integer, process

# Which side of a message a span is; an empty role is unknown.
CLIENT, SERVER, PRODUCER, CONSUMER = "client", "server", "producer", "consumer"
ROLES: Final = frozenset({CLIENT, SERVER, PRODUCER, CONSUMER})

NO_DURATION: Final = "no duration"  # the flag of a span without an end

# The attributes with the sizes of messages: OpenTelemetry's names, old and new.
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
    """One span. Times are by the clock of its process."""

    id: str
    parent: str | None
    process: str
    start_ns: int
    end_ns: int
    role: str = ""
    remote: str | None = None  # the process on the other side, if the span names it
    one_way: bool = False  # it follows from its parent, which doesn't wait for it
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

    Each span comes with its context: what its file declares for several spans, such as their process.
    """
    for position, span_in_context in enumerate(spans, 1):
        if isinstance(span_in_context, BadRow):
            yield span_in_context._replace(position=position)
            continue
        fields, context = span_in_context
        raw = canonical(fields)
        try:
            if not isinstance(fields, dict):
                raise RowError("not an object with the fields of a span")
            trace, span = read(fields, context)
            yield row_of(trace, span, position, raw)
        except RowError as problem:
            yield BadRow(position, raw, str(problem))


def span_of(tags: Mapping[str, Any], has_end: bool, **fields: Any) -> TraceSpan:
    """A span with the sizes that its tags have, and flagged if it has no end."""
    request, reply = _size(tags, _REQUEST_SIZES), _size(tags, _REPLY_SIZES)
    flags = () if has_end else (NO_DURATION,)
    return TraceSpan(**fields, request_bytes=request, reply_bytes=reply, flags=flags)


def peer(name: object) -> str | None:
    """The process that a tag like `peer.service` names, if it is text."""
    return process(name, "peer.service") if isinstance(name, str) and name else None


def instance(service: object, tags: Mapping[str, Any]) -> object:
    """The process of a service: two instances of one service are two processes."""
    instance_id = tags.get("service.instance.id")
    if isinstance(service, str) and isinstance(instance_id, str) and instance_id:
        return f"{service}/{instance_id}"
    return service


def role(value: object) -> str:
    """The role of a kind like `CLIENT` or `SPAN_KIND_CLIENT`."""
    name = value.lower().removeprefix("span_kind_") if isinstance(value, str) else ""
    return name if name in ROLES else ""


def microseconds(fields: Mapping[str, Any], start: str, duration: str) -> tuple[int, int, bool]:
    """Start and end in nanoseconds, and whether there is a duration at all."""
    begin = integer(entry(fields, start), start)
    length = fields.get(duration)
    end = begin if length is None else begin + integer(length, duration)
    return integer(begin * 1000, start), integer(end * 1000, duration), length is not None


def _size(tags: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    for name in names:
        try:
            return integer(tags[name], name, 0)
        except (KeyError, RowError):
            continue  # tags are optional: an invalid one doesn't spoil the span
    return None
