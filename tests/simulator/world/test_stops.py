"""A process that stops for good: the others finish, if they give up on it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from beforehand import protocols
from beforehand.errors import ScenarioError
from beforehand.simulator import Scenario, run
from beforehand.trace import Event
from tests.simulator.traced_run import of_kind, traced, traffic_for

CAUSAL = [
    name
    for name in protocols.names()
    if protocols.describe(name).causal and protocols.describe(name).overlay == "none"
]
WORKLOADS = ["uniform", "request-reply:0.3", "fanout:3,2", "pipeline:3"]


@pytest.mark.parametrize("loss", [0.0, 0.2])
@pytest.mark.parametrize("protocol", CAUSAL)
def test_the_survivors_finish(protocol: str, loss: float) -> None:
    """All that the survivors wanted to send each other is sent and delivered, in causal order."""
    result, events = traced(
        audit=True,
        protocol=protocol,
        processes=8,
        messages=30,
        loss=loss,
        stops=("p2@100ms", "p5@120ms"),
        drop_after="50ms",
        seed=3,
        **traffic_for(protocol),
    )
    assert not result.violations and result.outcome == "complete"
    assert result.metrics.undelivered == 0
    assert len(of_kind(events, "evict")) == 6 + 6, "each survivor, for each of the two"
    gone = {"p2", "p5"}
    if traffic_for(protocol):
        assert_all_broadcasts_arrived(events, gone)
        return
    sent = Counter(event.process for event in of_kind(events, "send"))
    skipped = result.metrics.skipped
    survivors = sum(count for process, count in sent.items() if process not in gone)
    assert survivors + skipped == 6 * 30, "a survivor did not finish"
    assert 0 < sent["p2"] < 30 and skipped > 0
    delivered = {(e.sender, e.mid, e.process) for e in of_kind(events, "deliver")}
    for event in of_kind(events, "send"):
        for receiver in event.to or ():
            if event.process not in gone and receiver not in gone:
                assert (event.sender, event.mid, receiver) in delivered


def assert_all_broadcasts_arrived(events: list[Event], gone: set[str]) -> None:
    """What a survivor broadcast was delivered by each survivor, before and after the stops."""
    delivered = {(e.sender, e.mid, e.process) for e in of_kind(events, "deliver")}
    times = []
    for event in of_kind(events, "send"):
        assert event.to is None
        if event.process not in gone:
            times.append(event.time_ns)
            for number in range(8):
                if f"p{number}" not in gone:
                    assert (event.sender, event.mid, f"p{number}") in delivered
    assert times[0] < 100_000_000 < 200_000_000 < times[-1]


def test_a_leaf_of_a_tree_may_stop() -> None:
    """Nobody depends on it: the others finish; in the midst of a tree it is refused."""
    fields: dict[str, Any] = {"protocol": "tree", "processes": 7, "drop_after": "50ms"}
    result = run(Scenario(stops=("p6@100ms",), messages=30, **fields), audit=True)
    assert result.outcome == "complete" and not result.violations
    assert result.metrics.undelivered == 0 and result.metrics.skipped > 0
    with pytest.raises(ScenarioError, match="p1 is an inner node of the tree"):
        Scenario(stops=("p1@100ms",), **fields)


def test_a_stopped_process_takes_no_step() -> None:
    """After its stop its trace is silent, and what it had sent may still arrive elsewhere."""
    _, events = traced(protocol="raw", processes=4, messages=50, interval="2ms", stops=("p1@50ms",))
    own = [event for event in events if event.process == "p1"]
    assert own[-1].kind == "stop" and own[-1].time_ns == 50_000_000
    assert own[-1].detail == "crashed" and len(own) > 10
    later = [e for e in of_kind(events, "deliver") if e.sender == "p1" and e.time_ns > 50_000_000]
    assert later, "nothing was under way when it stopped"


def test_without_a_drop_hybrid_waits_forever_and_the_run_reports_it() -> None:
    """Nobody gets a permit any more once the oldest message can never be acknowledged."""
    result = run(
        Scenario(protocol="hybrid", processes=6, messages=40, interval="4ms", stops=("p0@50ms",))
    )
    assert result.outcome == "stalled" and result.metrics.undelivered > 0
    dropped = run(
        Scenario(
            protocol="hybrid",
            processes=6,
            messages=40,
            interval="4ms",
            stops=("p0@50ms",),
            drop_after="100ms",
        )
    )
    assert dropped.outcome == "complete" and dropped.metrics.undelivered == 0


@pytest.mark.parametrize("workload", WORKLOADS[1:])
@pytest.mark.parametrize("protocol", ["hybrid", "hybrid-sps", "mattern", "cykas", "rst", "ks"])
def test_services_continue_without_stopped_processes(protocol: str, workload: str) -> None:
    """Clients whose server is gone ask another one; callers do not wait for the dead."""
    result = run(
        Scenario(
            protocol=protocol,
            processes=12,
            messages=15,
            workload=workload,
            loss=0.1,
            stops=("p02@50ms", "p05@80ms"),
            drop_after="100ms",
        ),
        audit=True,
    )
    assert result.outcome == "complete" and not result.violations
    assert result.metrics.undelivered == 0 and result.metrics.delivered > 50


def test_messages_to_stopped_processes_do_not_count_as_lost() -> None:
    """A message to a process that has stopped but is not dropped yet does not count as missing."""
    result = run(Scenario(protocol="raw", processes=3, messages=50, stops=("p1@10ms",)), audit=True)
    assert result.outcome == "complete" and result.metrics.undelivered == 0
    assert result.metrics.delivered < result.metrics.copies
