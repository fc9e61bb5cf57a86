"""The spans of one trace as a tree, and the tasks in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from beforehand.pipeline.ingest.read.spans import CLIENT, CONSUMER, PRODUCER, SERVER, TraceSpan
from beforehand.pipeline.ingest.resolve.outcomes import CLOCK_SKEW, MISSING_PARENT


@dataclass(eq=False)
class SpanNode:
    """A span in its tree; of two spans with one id, the server's is below the client's."""

    index: int
    span: TraceSpan
    name: str  # unique in its trace
    parent: SpanNode | None = None
    children: list[SpanNode] = field(default_factory=list)
    flags: set[str] = field(default_factory=set)

    @property
    def top(self) -> bool:
        """Whether a task begins here."""
        return self.parent is None or self.parent.span.process != self.span.process

    @property
    def one_way(self) -> bool:
        """Whether no process waits for this span."""
        producer = self.parent is not None and self.parent.span.role == PRODUCER
        return self.span.one_way or self.span.role == CONSUMER or producer

    @property
    def call_side(self) -> bool:
        """Whether this is the caller's side of a single call, so its times are those of the call."""
        if self.span.role:
            return self.span.role == CLIENT
        return len(self.children) == 1 and not self.top


def escaped(name: str) -> str:
    """An id of the source as a component of ours, which are separated by slashes."""
    return name.replace("%", "%25").replace("/", "%2F")


def tree_of(spans: Sequence[TraceSpan]) -> list[SpanNode]:
    """Connect the spans; those whose parent is missing become roots."""
    by_id: dict[str, list[int]] = {}
    for index, span in enumerate(spans):
        by_id.setdefault(span.id, []).append(index)
    nodes = []
    for index, span in enumerate(spans):
        client_half = len(by_id[span.id]) > 1 and span.role == CLIENT
        name = f"{escaped(span.id)}/client" if client_half else escaped(span.id)
        nodes.append(SpanNode(index, span, name, flags=set(span.flags)))
    for node in nodes:
        parent = _parent(node, nodes, by_id)
        if parent is None:
            continue
        node.parent = parent
        parent.children.append(node)
        if node.span.start_ns < parent.span.start_ns:
            node.flags.add(CLOCK_SKEW)
    return nodes


def _parent(node: SpanNode, nodes: list[SpanNode], by_id: dict[str, list[int]]) -> SpanNode | None:
    halves = [nodes[index] for index in by_id[node.span.id] if index != node.index]
    if halves and node.span.role == SERVER:
        return halves[0]  # the client's side of the same call
    if node.span.parent is None:
        return None
    parents = [nodes[index] for index in by_id.get(node.span.parent, ())]
    if not parents:
        node.flags.add(MISSING_PARENT)
        return None
    # Below a call with two sides, the server does the work, unless the process says otherwise.
    servers = [parent for parent in parents if parent.span.role == SERVER]
    same = [parent for parent in parents if parent.span.process == node.span.process]
    return (same or servers or parents)[0]


def task(top: SpanNode) -> Iterator[SpanNode]:
    """The spans of a task."""
    stack = [top]
    while stack:
        node = stack.pop()
        yield node
        stack += [child for child in node.children if not child.top]
