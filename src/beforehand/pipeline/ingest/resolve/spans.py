"""Resolving the spans of one trace: duplicates, clashing ids, cyclic parents; then messages."""

from collections.abc import Iterable, Iterator

from beforehand.pipeline.ingest.read.spans import CLIENT, SERVER, TraceSpan
from beforehand.pipeline.ingest.resolve import outcomes
from beforehand.pipeline.ingest.resolve.calls import messages_of
from beforehand.pipeline.ingest.resolve.cycles import find_cycles
from beforehand.pipeline.ingest.resolve.outcomes import Outcome, ReadRow


def resolve_spans(rows: Iterable[ReadRow]) -> Iterator[Outcome]:
    """The messages of one trace, and the verdict on each of its spans."""
    known: dict[str, list[tuple[ReadRow, TraceSpan]]] = {}
    for row in rows:
        span = TraceSpan._make(row.fields)
        span = span._replace(flags=tuple(span.flags))
        same = known.setdefault(span.id, [])
        if any(other.digest == row.digest for other, _ in same):
            yield outcomes.Duplicate(row)
        elif not same or _two_sides(same, span):
            same.append((row, span))
        else:
            yield outcomes.Rejected(
                row, f"the id {span.id!a} belongs to another span of its trace ({same[0][0].where})"
            )
    parents = {
        name: [span.parent for _, span in same if span.parent is not None]
        for name, same in known.items()
    }
    for cycle in find_cycles(parents):
        for name in cycle:
            for row, span in known.pop(name):
                yield outcomes.Rejected(
                    row, f"its parents form a cycle of {len(cycle)} spans through {span.id!a}"
                )
    remaining = [pair for same in known.values() for pair in same]
    if not remaining:
        return
    messages, flags_of = messages_of(remaining[0][0].group, [span for _, span in remaining])
    for message in messages:
        fields = message._asdict()
        row, _ = remaining[fields.pop("span")]
        yield outcomes.IngestedMessage(**fields, row=row)
    for (row, _), flags in zip(remaining, flags_of, strict=True):
        yield outcomes.Accepted(row, tuple(sorted(flags)))


def _two_sides(same: list[tuple[ReadRow, TraceSpan]], span: TraceSpan) -> bool:
    """Whether this is the other side of a call whose two sides share one id."""
    return len(same) == 1 and {same[0][1].role, span.role} == {CLIENT, SERVER}
