"""Figures about the causal order of a run's messages: chains and concurrency."""

from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beforehand.pipeline.characterise import kernels
from beforehand.pipeline.characterise.graph import Graph, arrange
from beforehand.pipeline.characterise.kernels import Numbers

LIMIT: Final = 10_000_000  # messages of a run: one task holds them all, in a few GB


def order_figures(messages: Any, seed: int) -> dict[str, Any]:
    """Columns of RUNS, and the counted `depths` and `calls`; or `problem`, if there is no order.

    The seed decides which messages are compared where there are too many to compare all.
    """
    starts, causes, problem = causes_of(messages)
    if problem is not None:
        return {"problem": problem}
    graph, order = arrange(starts, causes)
    if order.size < len(messages):
        cyclic = np.setdiff1d(np.arange(len(messages)), order)[0]
        return {"problem": f"message {messages['id'][int(cyclic)].as_py()!r} comes after itself"}
    return _order_figures(graph, messages.take(pa.array(order)), seed)


def _order_figures(graph: Graph, messages: Any, seed: int) -> dict[str, Any]:
    """The figures for messages in the order of the graph."""
    senders = messages["sender"].combine_chunks().dictionary_encode().indices.to_numpy()
    is_request = pc.equal(messages["kind"], "request").to_numpy()
    is_reply = pc.equal(messages["kind"], "reply").to_numpy()
    kinds = np.where(is_request, kernels.REQUEST, np.where(is_reply, kernels.REPLY, 0))
    served = kernels.served(graph.starts, graph.causes, senders.astype(np.int64), kinds)
    asked = (served >= 0) & is_request
    calls = np.bincount(served[asked], minlength=len(graph))[is_request]
    concurrency = graph.concurrency(seed)
    return {
        "edges": graph.causes.size,
        "before_cause": kernels.too_early(
            graph.starts, graph.causes, messages["time_ns"].to_numpy()
        ),
        "answered": np.unique(served[(served >= 0) & is_reply]).size,
        "pairs": concurrency.pairs,
        "concurrent_share": concurrency.share,
        "standard_error": concurrency.error,
        "depths": _counted(graph.depths),
        "calls": _counted(calls),
    }


def causes_of(messages: Any) -> tuple[Numbers, Numbers, str | None]:
    """The causes of each message as indices (see kernels.py), or what is wrong with them."""
    ids, after = messages["id"], messages["after"]
    starts = np.zeros(len(messages) + 1, np.int64)
    np.cumsum(pc.list_value_length(after).to_numpy(), out=starts[1:])
    named = pc.list_flatten(after)
    indices = pc.index_in(named, value_set=ids)
    if indices.null_count:
        unknown = named.filter(pc.is_null(indices))[0].as_py()
        return starts, starts, f"a message comes after {unknown!r}, which doesn't exist"
    if pc.count_distinct(ids).as_py() < len(ids):
        return starts, starts, "two messages have the same id"
    return starts, indices.to_numpy().astype(np.int64), None


def _counted(values: Numbers) -> list[dict[str, int]]:
    unique, counts = np.unique(values, return_counts=True)
    pairs = zip(unique.tolist(), counts.tolist(), strict=True)
    return [{"value": value, "count": count} for value, count in pairs]
