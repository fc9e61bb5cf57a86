"""Causal graphs: the messages have exactly the order of the graph."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from beforehand.pipeline.ingest.resolve.outcomes import MISSING_PARENT, WITH_ITSELF
from tests.pipeline.ingest.plain import Ingested, ancestors, ingest_one


def txn(agent: int | str, parents: list[int], text: str = "x", **more: Any) -> dict[str, Any]:
    """A transaction that inserts text."""
    return {"agent": agent, "parents": parents, "patches": [[0, 0, text]], **more}


def graph(*txns: Any, **more: Any) -> Ingested:
    """Ingest a graph."""
    return ingest_one(json.dumps({"txns": txns, **more}), name="doc.json")


def test_each_transaction_is_a_message_to_all_others_after_its_parents() -> None:
    """Also to agents that are declared and never write."""
    found = graph(txn(0, []), txn(1, [0], "né"), txn(0, [0]), txn(1, [1, 2]), numAgents=3)
    told = [(e["id"], e["sender"], e["to"], e["after"]) for e in found.messages]
    assert told == [
        ("0", "0", ("1", "2"), ()),
        ("1", "1", ("0", "2"), ("0",)),
        ("2", "0", ("1", "2"), ("0",)),
        ("3", "1", ("0", "2"), ("1", "2")),
    ]
    assert [each["payload_bytes"] for each in found.messages] == [1, 3, 1, 1]
    assert [each.run for each in found.summary.runs] == ["doc"]


def test_a_graph_of_one_agent_is_for_itself() -> None:
    """A message needs a receiver."""
    assert graph(txn("me", [])).messages[0]["to"] == ("me",)


@pytest.mark.parametrize("seed", range(20))
def test_random_graphs_keep_their_order(seed: int) -> None:
    """All ancestors are the same, whatever the order in the file."""
    rng = random.Random(seed)
    places = list(range(30))
    rng.shuffle(places)  # of the k-th in causal order
    txns: list[Any] = [None] * 30
    parents: dict[str, set[str]] = {}
    for k, place in enumerate(places):
        mine = rng.sample(places[:k], min(k, rng.randint(0, 3)))
        txns[place] = txn(rng.randint(0, 3), mine)
        parents[str(place)] = {str(each) for each in mine}
    assert ancestors(graph(*txns).after) == ancestors(parents), f"seed {seed}"


def test_an_agent_that_is_concurrent_with_itself_is_flagged() -> None:
    """The order stays that of the graph: a process that sends does not forget, but the graph says so."""
    found = graph(txn(0, []), txn(1, [0]), txn(0, [1]), txn(0, [1]), txn(0, [2, 3]))
    assert [each["flags"] for each in found.messages] == [(), (), (), (WITH_ITSELF,), ()]
    assert found.after["3"] == {"1"}


def test_a_missing_parent_is_flagged() -> None:
    """And left out of the order."""
    found = graph(txn(0, []), txn(1, [0, 77]))
    assert found.messages[1]["after"] == ("0",) and found.messages[1]["flags"] == (MISSING_PARENT,)


def test_parents_in_a_circle_are_rejected_and_what_follows_them_is_kept() -> None:
    """It has lost a parent then."""
    found = graph(txn(0, [1]), txn(1, [0]), txn(0, [2]), txn(1, []), txn(0, [1, 3]))
    assert [position for position, _ in found.reasons] == [1, 2, 3]
    assert all("cycle" in reason for _, reason in found.reasons)
    assert found.after == {"3": set(), "4": {"3"}}
    assert found.summary.flags == {MISSING_PARENT: 1}


@pytest.mark.parametrize(
    ("bad", "reason"),
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
def test_bad_transactions_are_rejected(bad: Any, reason: str) -> None:
    """Each on its own."""
    found = graph(txn(0, []), bad)
    [(position, told)] = found.reasons
    assert position == 2 and reason in told and found.file.accepted == 1


def test_times_are_read_and_unknown_fields_are_passed_over() -> None:
    """A time without a zone is taken for UTC."""
    found = graph(txn(0, [], time="1970-01-01T00:00:01.5+00:00", mood="good"), txn(0, [0]))
    assert [each["time_ns"] for each in found.messages] == [1_500_000_000, 0]


@pytest.mark.parametrize("more", [{"numAgents": -1}, {"numAgents": 10**9}, {"numAgents": "two"}])
def test_an_impossible_number_of_agents_makes_the_file_useless(more: dict[str, Any]) -> None:
    """One reject, for the whole file."""
    found = graph(txn(0, []), **more)
    assert found.reasons[0][0] == 0 and "numAgents" in found.reasons[0][1]
