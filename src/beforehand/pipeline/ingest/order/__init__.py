"""From rows to messages: what belongs together is settled together. Plain Python, which runs in
Spark's tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from beforehand.pipeline.ingest.order.clocks import settle_clocks
from beforehand.pipeline.ingest.order.graphs import settle_graph
from beforehand.pipeline.ingest.order.lists import settle_list
from beforehand.pipeline.ingest.order.outcome import Kept, Outcome
from beforehand.pipeline.ingest.order.spans import settle_spans
from beforehand.pipeline.ingest.order.traces import settle_trace

# By format: how the rows of one group become messages and verdicts.
SETTLERS: Final[dict[str, Callable[[Iterable[Kept]], Iterator[Outcome]]]] = {
    "trace": settle_trace,
    "otlp": settle_spans,
    "jaeger": settle_spans,
    "zipkin": settle_spans,
    "span-csv": settle_spans,
    "shiviz": settle_clocks,
    "list": settle_list,
    "graph": settle_graph,
}
