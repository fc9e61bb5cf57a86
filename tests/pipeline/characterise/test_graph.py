"""Chains and concurrency of messages, compared with brute force."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from beforehand.pipeline.characterise import graph as graphs
from beforehand.pipeline.characterise.causal_order import order_figures
from beforehand.pipeline.characterise.graph import arrange
from tests.pipeline.characterise.messages import message, random_messages, shop

SEEDS = range(20)
COLUMNS = pa.schema(
    [
        *((name, pa.string()) for name in ("run", "id", "sender", "kind")),
        ("time_ns", pa.int64()),
        ("after", pa.list_(pa.string())),
    ]
)


def order(rows: list[dict[str, Any]], seed: int = 1) -> dict[str, Any]:
    """The figures of a run."""
    return order_figures(pa.Table.from_pylist(rows, COLUMNS), seed)


def ancestors(rows: list[dict[str, Any]]) -> dict[str, set[str]]:
    """All messages that happen before each message, found by following `after`."""
    after = {row["id"]: row["after"] for row in rows}
    before: dict[str, set[str]] = {}
    for name in after:
        pending, seen = list(after[name]), set[str]()
        while pending:
            cause = pending.pop()
            if cause not in seen:
                seen.add(cause)
                pending += after[cause]
        before[name] = seen
    return before


def longest_chains(rows: list[dict[str, Any]]) -> dict[str, int]:
    """The length of the longest chain that ends in each message."""
    before = ancestors(rows)
    lengths: dict[str, int] = {}
    for name in sorted(before, key=lambda name: len(before[name])):
        lengths[name] = 1 + max((lengths[cause] for cause in before[name]), default=0)
    return lengths


@pytest.mark.parametrize("seed", SEEDS)
def test_concurrency_and_depth_match_brute_force(seed: int) -> None:
    """Brute force compares all pairs and follows every chain."""
    rows = list(random_messages(seed, 60))
    before = ancestors(rows)
    pairs = list(combinations(before, 2))
    concurrent = sum(a not in before[b] and b not in before[a] for a, b in pairs)
    assert 0 < concurrent < len(pairs)
    summary = order(rows)
    assert summary["pairs"] == len(pairs) and summary["standard_error"] == 0
    assert summary["concurrent_share"] == pytest.approx(concurrent / len(pairs))
    assert summary["edges"] == sum(len(row["after"]) for row in rows)
    depths = list(longest_chains(rows).values())
    assert summary["depths"] == [
        {"value": depth, "count": depths.count(depth)} for depth in sorted(set(depths))
    ]


def test_several_passes_give_the_same_result_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """If memory holds only a few rows of bits, messages are processed in portions."""
    rows = list(random_messages(3, 500))
    whole = order(rows)
    monkeypatch.setattr(graphs, "ROOM", 1)
    assert order(rows) == whole


@pytest.mark.parametrize("seed", SEEDS)
def test_the_standard_error_of_a_sample_is_realistic(seed: int) -> None:
    """The true share is within four standard errors, which are neither zero nor large."""
    graph, _ = graph_of(list(random_messages(seed, 800)))
    exact = graph.concurrency(seed)
    sampled = graph.concurrency(seed, exact=100, sampled=100)
    assert sampled.pairs == 100 * 799
    assert 0 < sampled.error < 0.05
    assert abs(sampled.share - exact.share) < 4 * sampled.error, f"seed {seed}"


def test_a_sample_of_everything_is_exact() -> None:
    """Sampling every message, against all others in both directions, gives the exact share."""
    graph, _ = graph_of(list(random_messages(1, 130)))
    sampled = graph.concurrency(1, exact=0, sampled=130)
    assert sampled.error == 0
    assert sampled.share == pytest.approx(graph.concurrency(1).share)


def test_a_sample_of_a_chain_is_exact() -> None:
    """Predecessors and successors are counted for the same sampled message."""
    graph, _ = graph_of(
        [message(f"m{n}", "p", "q", [f"m{n - 1}"] if n else []) for n in range(200)]
    )
    sampled = graph.concurrency(1, exact=10, sampled=50)
    assert (sampled.share, sampled.error) == (0.0, 0.0)


def graph_of(rows: list[dict[str, Any]]) -> tuple[graphs.Graph, Any]:
    """The graph of some rows."""
    index = {row["id"]: number for number, row in enumerate(rows)}
    starts = np.cumsum([0, *(len(row["after"]) for row in rows)])
    causes = [index[name] for row in rows for name in row["after"]]
    return arrange(starts, np.array(causes, np.int64))


def test_requests_are_counted_per_received_request() -> None:
    """The shop sends two requests for its customer, the second after the reply to the first."""
    row = order(shop())
    assert row["calls"] == [{"value": 0, "count": 2}, {"value": 2, "count": 1}]
    assert row["answered"] == 3
    assert row["before_cause"] == 1
    assert "problem" not in row


def test_concurrent_requests_are_distinguished() -> None:
    """A process that serves two requests at once has its requests attributed to the right one."""
    rows = [
        message("a", "x", "s", kind="request"),
        message("b", "y", "s", kind="request"),
        message("a1", "s", "t", ["a"], kind="request"),
        message("b1", "s", "t", ["b"], kind="request"),
        message("b2", "s", "t", ["b1"], kind="request"),
    ]
    assert order(rows)["calls"] == [
        {"value": 0, "count": 3},
        {"value": 1, "count": 1},
        {"value": 2, "count": 1},
    ]


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ([message("a", "p", "q", ["b"])], "a message comes after 'b', which doesn't exist"),
        ([message("a", "p", "q"), message("a", "p", "q")], "two messages have the same id"),
        (
            [message("z", "p", "q"), message("a", "p", "q", ["b"]), message("b", "p", "q", ["a"])],
            "message 'a' comes after itself",
        ),
    ],
)
def test_messages_without_an_order_are_reported(rows: list[dict[str, Any]], problem: str) -> None:
    """A table that no ingest would write yields a problem and no figures."""
    assert order(rows) == {"problem": problem}


def test_a_single_message() -> None:
    """There are no pairs, so none are concurrent."""
    row = order([message("a", "p", "q")])
    assert (row["pairs"], row["concurrent_share"]) == (0, 0.0)
    assert row["depths"] == [{"value": 1, "count": 1}]
    assert row["calls"] == []
