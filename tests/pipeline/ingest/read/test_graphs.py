"""Causal graphs: the messages have exactly the order of the graph."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from beforehand.pipeline.ingest.resolve.outcomes import MISSING_PARENT, WITH_ITSELF
from tests.pipeline.ingest.plain import Ingested, ancestors, ingest_one


def txn(agent: int | str, parents: list[int], text: str = "x", **fields: Any) -> dict[str, Any]:
    """A transaction that inserts text."""
    return {"agent": agent, "parents": parents, "patches": [[0, 0, text]], **fields}


def graph(*txns: Any, **fields: Any) -> Ingested:
    """Ingest a graph."""
    return ingest_one(json.dumps({"txns": txns, **fields}), name="doc.json")


def test_each_transaction_is_a_message_to_all_others_after_its_parents() -> None:
    """Agents that are declared but never write are receivers, too."""
    ingested = graph(txn(0, []), txn(1, [0], "né"), txn(0, [0]), txn(1, [1, 2]), numAgents=3)
    messages = [(m["id"], m["sender"], m["to"], m["after"]) for m in ingested.messages]
    assert messages == [
        ("0", "0", ("1", "2"), ()),
        ("1", "1", ("0", "2"), ("0",)),
        ("2", "0", ("1", "2"), ("0",)),
        ("3", "1", ("0", "2"), ("1", "2")),
    ]
    assert [message["payload_bytes"] for message in ingested.messages] == [1, 3, 1, 1]
    assert [run.run for run in ingested.summary.runs] == ["doc"]


def test_a_single_agent_sends_to_itself() -> None:
    """A message needs a receiver."""
    assert graph(txn("me", [])).messages[0]["to"] == ("me",)


@pytest.mark.parametrize("seed", range(20))
def test_random_graphs_keep_their_order(seed: int) -> None:
    """The ancestors are the same, whatever the order in the file."""
    rng = random.Random(seed)
    indices = list(range(30))
    rng.shuffle(indices)  # k-th in causal order -> index in the file
    txns: list[Any] = [None] * 30
    parents: dict[str, set[str]] = {}
    for k, index in enumerate(indices):
        own_parents = rng.sample(indices[:k], min(k, rng.randint(0, 3)))
        txns[index] = txn(rng.randint(0, 3), own_parents)
        parents[str(index)] = {str(parent) for parent in own_parents}
    assert ancestors(graph(*txns).after) == ancestors(parents), f"seed {seed}"


def test_an_agent_that_is_concurrent_with_itself_is_flagged() -> None:
    """The order stays that of the graph, although a real process knows its own messages."""
    ingested = graph(txn(0, []), txn(1, [0]), txn(0, [1]), txn(0, [1]), txn(0, [2, 3]))
    assert [message["flags"] for message in ingested.messages] == [(), (), (), (WITH_ITSELF,), ()]
    assert ingested.after["3"] == {"1"}


def test_a_missing_parent_is_ignored_and_flagged() -> None:
    """The message follows its other parents only."""
    ingested = graph(txn(0, []), txn(1, [0, 77]))
    assert ingested.messages[1]["after"] == ("0",) and ingested.messages[1]["flags"] == (
        MISSING_PARENT,
    )


def test_cyclic_transactions_are_rejected_and_their_descendants_kept() -> None:
    """A descendant is flagged as missing a parent."""
    ingested = graph(txn(0, [1]), txn(1, [0]), txn(0, [2]), txn(1, []), txn(0, [1, 3]))
    assert [position for position, _ in ingested.reasons] == [1, 2, 3]
    assert all("cycle" in reason for _, reason in ingested.reasons)
    assert ingested.after == {"3": set(), "4": {"3"}}
    assert ingested.summary.flags == {MISSING_PARENT: 1}


@pytest.mark.parametrize(
    ("transaction", "reason"),
    [
        (7, "not an object"),
        ({"agent": 0}, "parents is missing"),
        ({"parents": []}, "agent is missing"),
        ({"parents": [], "agent": ""}, "must not be empty"),
        ({"parents": [], "agent": True}, "must be a str"),
        ({"parents": "0", "agent": 0}, "not a list of indices"),
        ({"parents": [-1], "agent": 0}, "out of the range"),
        ({"parents": [0.5], "agent": 0}, "not an integer"),
        ({"parents": [], "agent": 0, "time": "noon"}, "not like 2023"),
        ({"parents": [], "agent": 0, "patches": [[1, 2]]}, "not like"),
    ],
)
def test_bad_transactions_are_rejected(transaction: Any, reason: str) -> None:
    """The other transaction is kept."""
    ingested = graph(txn(0, []), transaction)
    [(position, rejection)] = ingested.reasons
    assert position == 2 and reason in rejection and ingested.file.accepted == 1


def test_times_are_read_and_unknown_fields_ignored() -> None:
    """A transaction without a time gets the time 0."""
    ingested = graph(txn(0, [], time="1970-01-01T00:00:01.5+00:00", mood="good"), txn(0, [0]))
    assert [message["time_ns"] for message in ingested.messages] == [1_500_000_000, 0]


@pytest.mark.parametrize("fields", [{"numAgents": -1}, {"numAgents": 10**9}, {"numAgents": "two"}])
def test_an_impossible_number_of_agents_rejects_the_file(fields: dict[str, Any]) -> None:
    """The reject is for the whole file."""
    ingested = graph(txn(0, []), **fields)
    assert ingested.reasons[0][0] == 0 and "numAgents" in ingested.reasons[0][1]
