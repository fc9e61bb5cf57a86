"""Chains and concurrency of messages, beside a way of counting that cannot be wrong."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from beforehand.pipeline.characterise import graph as graphs
from beforehand.pipeline.characterise.causal_order import ORDER_ROW, order_of
from beforehand.pipeline.characterise.graph import arrange
from tests.pipeline.characterise.messages import at_random, message, shop

SEEDS = range(20)
COLUMNS = pa.schema(
    [
        *((name, pa.string()) for name in ("run", "id", "sender", "kind")),
        ("time_ns", pa.int64()),
        ("after", pa.list_(pa.string())),
    ]
)


def order(rows: list[dict[str, Any]], seed: int = 1) -> dict[str, Any]:
    """What the task says of a run."""
    table = order_of(pa.Table.from_pylist(rows, COLUMNS), seed)
    assert table.schema == ORDER_ROW.arrow()
    (row,) = table.to_pylist()
    found: dict[str, Any] = row
    return found


def ancestors(rows: list[dict[str, Any]]) -> dict[str, set[str]]:
    """Of each message all that happen before it, by following the lists."""
    after = {row["id"]: row["after"] for row in rows}
    found: dict[str, set[str]] = {}
    for name in after:
        todo, seen = list(after[name]), set[str]()
        while todo:
            cause = todo.pop()
            if cause not in seen:
                seen.add(cause)
                todo += after[cause]
        found[name] = seen
    return found


def longest(rows: list[dict[str, Any]]) -> dict[str, int]:
    """Of each message the length of its longest chain, one ancestor at a time."""
    before = ancestors(rows)
    found: dict[str, int] = {}
    for name in sorted(before, key=lambda name: len(before[name])):
        found[name] = 1 + max((found[cause] for cause in before[name]), default=0)
    return found


@pytest.mark.parametrize("seed", SEEDS)
def test_concurrency_and_depth_are_those_of_brute_force(seed: int) -> None:
    """All pairs are compared, and each chain is followed."""
    rows = list(at_random(seed, 60))
    before = ancestors(rows)
    pairs = list(combinations(before, 2))
    concurrent = sum(a not in before[b] and b not in before[a] for a, b in pairs)
    assert 0 < concurrent < len(pairs)
    found = order(rows)
    assert found["pairs"] == len(pairs) and found["standard_error"] == 0
    assert found["concurrent_share"] == pytest.approx(concurrent / len(pairs))
    assert found["edges"] == sum(len(row["after"]) for row in rows)
    depths = list(longest(rows).values())
    assert found["depths"] == [
        {"value": depth, "count": depths.count(depth)} for depth in sorted(set(depths))
    ]


def test_several_passes_give_what_one_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is room for few rows of bits only, the messages are taken in portions."""
    rows = list(at_random(3, 500))
    whole = order(rows)
    monkeypatch.setattr(graphs, "ROOM", 1)
    assert order(rows) == whole


@pytest.mark.parametrize("seed", SEEDS)
def test_a_sample_says_how_far_it_may_be_off(seed: int) -> None:
    """The true share is within four standard errors, which are neither zero nor large."""
    graph, _ = arranged(list(at_random(seed, 800)))
    exact = graph.concurrency(seed)
    sampled = graph.concurrency(seed, exact=100, sampled=100)
    assert sampled.pairs == 100 * 799
    assert 0 < sampled.error < 0.05
    assert abs(sampled.share - exact.share) < 4 * sampled.error, f"seed {seed}"


def test_a_sample_of_everything_is_exact() -> None:
    """Compared with all others from both sides, all messages give the exact share."""
    graph, _ = arranged(list(at_random(1, 130)))
    sampled = graph.concurrency(1, exact=0, sampled=130)
    assert sampled.error == 0
    assert sampled.share == pytest.approx(graph.concurrency(1).share)


def test_a_chain_leaves_nothing_to_err_on() -> None:
    """What comes before and what comes after a message are added for the same message."""
    graph, _ = arranged(
        [message(f"m{n}", "p", "q", [f"m{n - 1}"] if n else []) for n in range(200)]
    )
    sampled = graph.concurrency(1, exact=10, sampled=50)
    assert (sampled.share, sampled.error) == (0.0, 0.0)


def arranged(rows: list[dict[str, Any]]) -> tuple[graphs.Graph, Any]:
    """The graph of some rows."""
    place = {row["id"]: number for number, row in enumerate(rows)}
    starts = np.cumsum([0, *(len(row["after"]) for row in rows)])
    causes = [place[name] for row in rows for name in row["after"]]
    return arrange(starts, np.array(causes, np.int64))


def test_requests_on_behalf_of_a_request() -> None:
    """The shop asks twice for its customer, the second time after the reply to the first."""
    found = order(shop())
    assert found["calls"] == [{"value": 0, "count": 2}, {"value": 2, "count": 1}]
    assert found["answered"] == 3
    assert found["before_cause"] == 1
    assert found["problem"] is None


def test_two_requests_at_a_time_are_told_apart() -> None:
    """A process that serves two requests at once asks for each of them once."""
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
def test_messages_without_an_order_are_a_finding(rows: list[dict[str, Any]], problem: str) -> None:
    """A table that no ingest would write gives a sentence and no figures."""
    found = order(rows)
    assert found["problem"] == problem
    assert found["pairs"] is None and found["depths"] is None


def test_one_message_alone() -> None:
    """There are no pairs, so none are concurrent."""
    found = order([message("a", "p", "q")])
    assert (found["pairs"], found["concurrent_share"]) == (0, 0.0)
    assert found["depths"] == [{"value": 1, "count": 1}]
    assert found["calls"] == []
