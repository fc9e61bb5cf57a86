"""The resolver of each format."""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from beforehand.pipeline.ingest.resolve.graphs import resolve_graph
from beforehand.pipeline.ingest.resolve.lists import resolve_list
from beforehand.pipeline.ingest.resolve.outcomes import Outcome, ReadRow
from beforehand.pipeline.ingest.resolve.spans import resolve_spans
from beforehand.pipeline.ingest.resolve.traces import resolve_trace
from beforehand.pipeline.ingest.resolve.vector_clocks import resolve_clocks

# By format: how the rows of one group become messages and verdicts.
RESOLVERS: Final[dict[str, Callable[[Iterable[ReadRow]], Iterator[Outcome]]]] = {
    "trace": resolve_trace,
    "otlp": resolve_spans,
    "jaeger": resolve_spans,
    "zipkin": resolve_spans,
    "span-csv": resolve_spans,
    "shiviz": resolve_clocks,
    "list": resolve_list,
    "graph": resolve_graph,
}
