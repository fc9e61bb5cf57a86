"""From the spans of one trace to messages: the calls between processes, and what each must follow.

The spans of one process that are connected by parent and child are one *task*. A task begins with
what its top span received, and then calls others. So, by the caller's clock where there is one:

- a request follows what its task received, and the replies to those calls of the task that ended
  before it began;
- a reply follows its request, and the replies to those calls of its task that had ended by then;
- a one-way message (messaging, or "follows from") has no reply; calls that begin after its span ended
  follow it.

Spans of one process in different tasks are not ordered, whatever their times: processes have many
threads. Within a task too, only "ended before it began" orders two calls. Every edge leads down the tree
of spans or from an earlier call to a later one, so there are no cycles even if clocks are wrong.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from beforehand.pipeline.ingest.read.spans import CLIENT, CONSUMER, PRODUCER, SERVER, TraceSpan
from beforehand.pipeline.ingest.resolve.outcomes import MESSAGE, NOT_REPORTED, REPLY, REQUEST
from beforehand.pipeline.ingest.resolve.span_tree import SpanNode, escaped, task, tree_of


class SpanMessage(NamedTuple):
    """A message that spans imply."""

    id: str
    sender: str
    to: tuple[str, ...]
    time_ns: int
    payload_bytes: int | None
    kind: str
    flags: tuple[str, ...]
    span: int  # index of the span that implies it
    after: tuple[str, ...] = ()


@dataclass(eq=False)
class _Step:
    """Something that a task sends, and the time it takes."""

    start: int
    end: int
    request: SpanMessage
    known: str  # the message that marks its end: the reply, or the one-way message itself
    callee: SpanNode | None = None  # whose task sends the reply; None if it didn't report
    reply: SpanMessage | None = None


def messages_of(trace: str, spans: Sequence[TraceSpan]) -> tuple[list[SpanMessage], list[set[str]]]:
    """The messages of a trace, and the flags of each span.

    Ids are unique except for the two sides of a call, and no span is its own ancestor.
    """
    trace = escaped(trace)
    nodes = tree_of(spans)
    received: dict[SpanNode, str] = {}  # by the top of a task: the message that started it
    tasks: dict[SpanNode, list[_Step]] = {}
    roots = [node for node in nodes if node.parent is None]
    outside = [step for root in roots if (step := _from_outside(trace, root, received))]
    waiting = list(roots)
    while waiting:
        top = waiting.pop()
        tasks[top], below = _steps(trace, top, received)
        waiting += below
    messages: list[SpanMessage] = []
    for step in outside:
        messages += _messages(step, (), tasks)
    for top, steps in tasks.items():
        for step, after in zip(steps, _afters(steps, received.get(top)), strict=True):
            messages += _messages(step, after, tasks)
    return messages, [node.flags for node in nodes]


def _messages(
    step: _Step, after: tuple[str, ...], tasks: dict[SpanNode, list[_Step]]
) -> Iterator[SpanMessage]:
    yield step.request._replace(after=after)
    if step.reply is not None:
        yield step.reply._replace(after=_before_reply(step, tasks))


# ---- what a task sends ----


def _steps(
    trace: str, top: SpanNode, received: dict[SpanNode, str]
) -> tuple[list[_Step], list[SpanNode]]:
    """What the task of a top span sends, sorted by start time, and the tasks that it starts."""
    steps: list[_Step] = []
    below: list[SpanNode] = []
    for node in task(top):
        away = [child for child in node.children if child.top]
        below += away
        one_way = [child for child in away if child.one_way]
        if node.span.role == PRODUCER and one_way:
            steps.append(_sent(trace, node, one_way, received))
        else:
            steps += [_sent(trace, child, [child], received) for child in one_way]
        steps += [_call(trace, node, child, received) for child in away if not child.one_way]
        remote = node.span.remote
        if not away and remote is not None and remote != node.span.process:
            if node.span.role == CLIENT:
                steps.append(_unreported_call(trace, node, remote))
            elif node.span.role == PRODUCER and not node.children:
                steps.append(_unreported_send(trace, node, remote))
    return sorted(steps, key=lambda step: (step.start, step.end, step.request.id)), below


def _call(trace: str, node: SpanNode, child: SpanNode, received: dict[SpanNode, str]) -> _Step:
    span = child.span
    own = node.span if node.call_side else span
    name = f"{trace}/{child.name}"
    received[child] = name
    request = _request(name, node.span.process, (span.process,), child)
    size = _first(span.request_bytes, node.span.request_bytes)
    request = request._replace(time_ns=own.start_ns, payload_bytes=size)
    reply = _reply(request, span)
    if reply.payload_bytes is None:
        reply = reply._replace(payload_bytes=node.span.reply_bytes)
    return _Step(own.start_ns, own.end_ns, request, reply.id, child, reply)


def _sent(
    trace: str, node: SpanNode, receivers: list[SpanNode], received: dict[SpanNode, str]
) -> _Step:
    """A message without a reply, named by the span of its producer, or else of its one consumer."""
    parent = receivers[0].parent
    assert parent is not None  # receivers are children
    name = _outgoing(trace, node) if node is parent else f"{trace}/{node.name}"
    flags = set().union(*(receiver.flags for receiver in receivers))
    for receiver in receivers:
        received[receiver] = name
    sizes = (parent.span.request_bytes, *(receiver.span.request_bytes for receiver in receivers))
    own = node.span
    to = tuple(sorted({receiver.span.process for receiver in receivers}))
    message = _request(name, parent.span.process, to, node, MESSAGE)
    message = message._replace(payload_bytes=_first(*sizes), flags=tuple(sorted(flags)))
    # A consumer may run for long: its message was sent when it began.
    end = own.end_ns if node is parent else own.start_ns
    return _Step(own.start_ns, end, message, name)


def _unreported_call(trace: str, node: SpanNode, remote: str) -> _Step:
    """A call to a named process that didn't report: it took as long as the caller measured."""
    span = node.span
    node.flags.add(NOT_REPORTED)
    request = _request(_outgoing(trace, node), span.process, (remote,), node)
    reply = _reply(request, span, (NOT_REPORTED,))
    return _Step(span.start_ns, span.end_ns, request, reply.id, None, reply)


def _unreported_send(trace: str, node: SpanNode, remote: str) -> _Step:
    step = _unreported_call(trace, node, remote)
    return _Step(step.start, step.end, step.request._replace(kind=MESSAGE), step.request.id)


def _from_outside(trace: str, top: SpanNode, received: dict[SpanNode, str]) -> _Step | None:
    """What a root received from a named process that didn't report, if there is one."""
    span = top.span
    if span.remote is None or span.remote == span.process or span.role not in (SERVER, CONSUMER):
        return None
    top.flags.add(NOT_REPORTED)
    received[top] = name = f"{trace}/{top.name}"
    kind = REQUEST if span.role == SERVER else MESSAGE
    request = _request(name, span.remote, (span.process,), top, kind)
    reply = _reply(request, span, (NOT_REPORTED,)) if span.role == SERVER else None
    return _Step(span.start_ns, span.end_ns, request, name, top, reply)


def _request(
    name: str, sender: str, to: tuple[str, ...], node: SpanNode, kind: str = REQUEST
) -> SpanMessage:
    """A message that a span implies, sent when the span begins."""
    start, size = node.span.start_ns, node.span.request_bytes
    return SpanMessage(name, sender, to, start, size, kind, tuple(sorted(node.flags)), node.index)


def _reply(request: SpanMessage, span: TraceSpan, flags: tuple[str, ...] = ()) -> SpanMessage:
    """The reply to a request, sent when a span ends."""
    [receiver], name = request.to, f"{request.id}/reply"
    end, size = span.end_ns, span.reply_bytes
    return SpanMessage(name, receiver, (request.sender,), end, size, REPLY, flags, request.span)


def _outgoing(trace: str, node: SpanNode) -> str:
    """The id of a message named by its sender's span, which may itself have received another."""
    name = f"{trace}/{node.name}"
    return f"{name}/out" if node.top and node.parent is not None else name


# ---- what it follows ----


def _afters(steps: list[_Step], first: str | None) -> list[tuple[str, ...]]:
    """For each step, sorted by start: what had ended before it, without what that implies."""
    by_end = sorted(steps, key=lambda step: step.end)
    afters = []
    ended: list[_Step] = []  # those that no other ended step follows
    latest, done = None, 0
    for step in steps:
        while done < len(by_end) and by_end[done].end < step.start:
            ended.append(by_end[done])
            begun = by_end[done].start
            latest = begun if latest is None else max(latest, begun)
            done += 1
        ended = [one for one in ended if latest is None or one.end >= latest]
        afters.append(_known(ended, first))
    return afters


def _before_reply(step: _Step, tasks: dict[SpanNode, list[_Step]]) -> tuple[str, ...]:
    """What the reply to a call follows: the last of its callee's own calls, or just the request."""
    if step.callee is None:
        return (step.request.id,)
    by_then = step.callee.span.end_ns
    ended = [call for call in tasks[step.callee] if call.end <= by_then]
    latest = max((call.start for call in ended), default=0)
    return _known([call for call in ended if call.end >= latest], step.request.id)


def _known(ended: list[_Step], first: str | None) -> tuple[str, ...]:
    if ended:
        return tuple(sorted({step.known for step in ended}))
    return () if first is None else (first,)


def _first(*sizes: int | None) -> int | None:
    return next((size for size in sizes if size is not None), None)
