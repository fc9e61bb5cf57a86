"""Each workload sends as documented: what, to whom, and when."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise
from typing import Any

import pytest

from beforehand.simulator import Result
from beforehand.trace import Event
from tests.simulator.traced_run import of_kind, traced

MS = 10**6


def sends(workload: str, processes: int = 20, messages: int = 50, **fields: Any) -> list[Event]:
    """The causal-sends of a complete run on a plain network."""
    _, events = run_on_raw(workload, processes, messages, **fields)
    return of_kind(events, "send")


def run_on_raw(
    workload: str, processes: int, messages: int, **fields: Any
) -> tuple[Result, list[Event]]:
    """A complete run, which sends as many messages as were expected."""
    result, events = traced(
        protocol="raw",
        workload=workload,
        processes=processes,
        messages=messages,
        **{"delay": "5ms", **fields},
    )
    assert result.outcome == "complete" and result.metrics.unsent == 0
    return result, events


def received(events: list[Event]) -> Counter[str]:
    """How many messages were sent to each process."""
    return Counter(name for event in events for name in event.to or ())


def test_uniform_reaches_everybody_evenly() -> None:
    """Each process sends as many as asked, to all others about alike, never to itself."""
    sent = sends("uniform", messages=200)
    assert Counter(event.process for event in sent) == {f"p{n:02}": 200 for n in range(20)}
    assert all(event.to != (event.process,) and len(event.to or ()) == 1 for event in sent)
    counts = received(sent)
    assert len(counts) == 20 and max(counts.values()) < 1.5 * min(counts.values())


@pytest.mark.parametrize("workload", ["uniform:3", "ring:3"])
def test_peers_do_not_change(workload: str) -> None:
    """Each process writes to exactly three others, and on a ring these are the nearest."""
    peers: dict[str, set[str]] = defaultdict(set)
    for event in sends(workload):
        peers[event.process].update(event.to or ())
    assert {len(chosen) for chosen in peers.values()} == {3}
    if workload == "ring:3":
        assert peers["p00"] == {"p01", "p19", "p02"} and peers["p10"] == {"p11", "p09", "p12"}
    else:
        assert len(received(sends(workload))) > 10


def test_hot_processes_get_their_share() -> None:
    """10 % of the processes get 80 % of the messages, and with no hot ones all is uniform."""
    counts = received(sends("hotspot:0.1,0.8", messages=200))
    hot = counts["p00"] + counts["p01"]
    assert 0.75 < hot / counts.total() < 0.85
    cool = received(sends("hotspot:0,0.8"))
    assert max(cool.values()) < 2 * min(cool.values())


def test_a_pipeline_passes_every_item_through_every_stage() -> None:
    """From each third of the processes to the next; nothing is sent before something came."""
    sent = sends("pipeline:3", processes=9, messages=10)
    assert len(sent) == 3 * 10 * 2
    layer = {f"p{number}": number // 3 for number in range(9)}
    for event in sent:
        assert layer[(event.to or ("",))[0]] == layer[event.process] + 1


def test_a_fan_out_asks_and_is_answered() -> None:
    """Two of the next layer each time, and each asked one answers after those it asked itself."""
    result, events = run_on_raw("fanout:3,2", processes=9, messages=10)
    requests = 3 * 10 * (2 + 4)
    assert result.metrics.sent == 2 * requests
    pairs = Counter(
        (int(e.process[1]) // 3, int((e.to or ("",))[0][1]) // 3) for e in of_kind(events, "send")
    )
    assert pairs == {(0, 1): 60, (1, 0): 60, (1, 2): 120, (2, 1): 120}
    # A middle service has always had two answers for each answer that it gives.
    answers: Counter[str] = Counter()
    for event in events:
        if event.kind == "deliver" and (event.sender or "")[1] >= "6":
            answers[event.process] += 1
        answering = event.kind == "send" and (event.to or ("p9",))[0] < "p3"
        if answering and event.process in ("p3", "p4", "p5"):
            answers[event.process] -= 2
            assert answers[event.process] >= 0


def test_clients_wait_for_their_reply() -> None:
    """Request, reply, pause, request: never two requests of a client at once."""
    _, events = run_on_raw("request-reply:0.2", processes=10, messages=20)
    servers = {"p0", "p1"}
    for client in (f"p{number}" for number in range(2, 10)):
        steps = [e for e in events if e.process == client and e.kind in ("send", "deliver")]
        assert [step.kind for step in steps] == ["send", "deliver"] * 20
        assert all((e.to or ("",))[0] in servers for e in steps if e.kind == "send")
        gaps = [b.time_ns - a.time_ns for a, b in zip(steps[1::2], steps[2::2], strict=False)]
        assert set(gaps) == {10 * MS}, "it thinks between a reply and the next request"


def test_groups_overlap_and_everybody_is_in_one() -> None:
    """Each message goes to all others of a group of the sender's."""
    sent = sends("groups:4", processes=20, messages=10)
    groups = {frozenset((event.process, *(event.to or ()))) for event in sent}
    assert {len(group) for group in groups} == {4} and len(groups) == 10
    assert set().union(*groups) == {f"p{number:02}" for number in range(20)}
    overlapping = [a & b for a in groups for b in groups if a != b and a & b]
    assert overlapping


def test_broadcasts_come_at_a_rate() -> None:
    """10 per second, one each 100 ms, from one time to another, by random processes."""
    sent = sends("broadcast:10,2s,5s", processes=5)
    assert [event.time_ns for event in sent] == [(2000 + 100 * n) * MS for n in range(30)]
    assert all(len(event.to or ()) == 5 for event in sent), "everybody, the sender included"
    assert len({event.process for event in sent}) == 5
    assert len(sends("broadcast:100", processes=3, messages=4)) == 12


def test_a_shop_debits_for_every_purchase() -> None:
    """A credit and an order by the customer, a debit by the shop once it has the order."""
    sent = sends("shop", processes=3, messages=5)
    assert Counter((event.process, event.to) for event in sent) == {
        ("customer", ("bank",)): 5,
        ("customer", ("shop",)): 5,
        ("shop", ("bank",)): 5,
    }
    assert {event.process for event in sends("shop", processes=5, messages=1)} == {
        "customer0", "customer1", "customer2", "shop",
    }  # fmt: skip


def test_the_shop_needs_causal_order() -> None:
    """With hybrid no debit comes before its credit; fifo lets some through."""
    for protocol, wrong in (("hybrid", 0), ("fifo", 1)):
        result, _ = traced(
            audit=True, protocol=protocol, workload="shop", processes=12, messages=40, seed=2
        )
        assert (len(result.violations) > 0) == wrong, protocol


def test_intervals_and_payloads_are_drawn() -> None:
    """Constant by default; otherwise each pause and each size is drawn from its distribution."""
    constant = [e.time_ns for e in sends("uniform", 2, 20) if e.process == "p0"]
    assert constant == [n * 10 * MS for n in range(20)]
    sent = sends("uniform", 2, 200, interval="uniform:1ms,9ms", payload="uniform:10,20")
    times = [event.time_ns for event in sent if event.process == "p1"]
    gaps = [b - a for a, b in pairwise(times)]
    assert min(gaps) >= MS and max(gaps) <= 9 * MS and len(set(gaps)) > 150
    assert {event.payload_bytes for event in sent} == set(range(10, 21))


def test_multicasts_can_be_split() -> None:
    """mattern has no multicast; split, each receiver gets a message of its own."""
    result, events = traced(
        audit=True, protocol="mattern", workload="groups:4", processes=8, messages=5, split=True
    )
    assert result.clean and result.metrics.sent == 8 * 5 * 3
    assert all(len(event.to or ()) == 1 for event in of_kind(events, "send"))


def test_only_some_messages_start_jobs() -> None:
    """About the share that was asked for, with lengths around their mean."""
    result, _ = run_on_raw("uniform", 10, 200, job="normal:25ms,5ms", job_share=0.1)
    assert 0.08 < result.metrics.jobs / result.metrics.sent < 0.12
    assert result.metrics.mean_job_start_ns > 0
    none, _ = run_on_raw("uniform", 10, 20, job="25ms")
    assert none.metrics.jobs == 0


def test_a_busy_process_sends_nothing() -> None:
    """Between the delivery that starts a job and its end there is no causal-send."""
    _, events = run_on_raw("uniform", 4, 40, job="30ms", job_share=1.0, interval="5ms")
    busy_until: Counter[str] = Counter()
    checked = 0
    for event in events:
        if event.kind == "deliver":
            start = max(event.time_ns, busy_until[event.process])
            busy_until[event.process] = start + 30 * MS
        elif event.kind == "send":
            assert event.time_ns >= busy_until[event.process]
            checked += busy_until[event.process] > 0
    assert checked > 100


def test_zero_messages_is_a_complete_run() -> None:
    """Zero messages is a run that is over at once."""
    result, events = run_on_raw("uniform", 3, 0)
    assert result.metrics.sent == result.metrics.execution_ns == 0
    assert [event.kind for event in events] == ["start"] * 3 + ["stop"] * 3
