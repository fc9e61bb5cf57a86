"""The trace of a run contains everything that the metrics count."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from beforehand import protocols, trace
from beforehand.simulator import Program, Send
from tests.simulator.traced_run import of_kind, traced, traffic_for

FIELDS: dict[str, Any] = {
    "processes": 6,
    "messages": 25,
    "interval": "3ms",
    "payload": "uniform:1,300",
}


@pytest.mark.parametrize("loss", [0.0, 0.2])
@pytest.mark.parametrize("protocol", protocols.names())
def test_trace_and_metrics_agree(protocol: str, loss: float) -> None:
    """Bytes, frames, sends and deliveries, counted from the rows."""
    fields = FIELDS | traffic_for(protocol)
    result, events = traced(protocol=protocol, loss=loss, duplicate=loss, fifo=not loss, **fields)
    metrics = result.metrics
    count = Counter(event.kind for event in events)
    assert count["send"] == metrics.sent == 150
    assert count["deliver"] == metrics.delivered + metrics.duplicates
    assert count["start"] == count["stop"] == 6
    out = [
        event
        for event in of_kind(events, "release", "control")
        if event.kind == "release" or event.process == event.sender
    ]
    assert sum(event.meta_bytes for event in out) == metrics.metadata_bytes
    assert sum(event.meta_bytes + event.payload_bytes for event in out) == metrics.wire_bytes
    control = [event for event in out if event.kind == "control"]
    assert len(control) == metrics.control_frames
    arrived = [e for e in of_kind(events, "control") if e.process != e.sender]
    if loss:
        assert len(arrived) != len(control) or protocol == "raw"
    else:
        assert len(arrived) == len(control)
        assert count["release"] == count["receive"] >= 150


@pytest.mark.parametrize("protocol", ["hybrid", "rst", "raw"])
def test_rows_are_in_order(protocol: str) -> None:
    """Every row is valid; a process counts its own; time never runs back; causes come first."""
    result, events = traced(protocol=protocol, loss=0.2, duplicate=0.2, **FIELDS)
    seen: Counter[str] = Counter()
    times: Counter[str] = Counter()
    happened: set[tuple[str, str | None, int | None, str]] = set()
    for event in events:
        trace.check(event)
        seen[event.process] += 1
        assert event.seq == seen[event.process]
        assert event.time_ns >= times[event.process]
        times[event.process] = event.time_ns
        message = (event.sender, event.mid)
        if event.kind == "send":
            happened.add(("send", *message, ""))
        elif event.kind == "release":
            assert ("send", *message, "") in happened
            key = ("release", *message, (event.to or ("",))[0])
            assert (event.detail == "again") == (key in happened)
            happened.add(key)
        elif event.kind == "receive":
            assert ("release", *message, event.process) in happened
            key = ("receive", *message, event.process)
            assert (event.detail == "again") == (key in happened)
            happened.add(key)
        elif event.kind == "deliver":
            assert ("receive", *message, event.process) in happened
    assert any(e.detail == "again" for e in of_kind(events, "receive"))
    assert (protocol == "raw") != any(e.detail == "again" for e in of_kind(events, "release"))
    assert result.metrics.frames_lost > 0


def test_holds_are_recorded_where_they_happen() -> None:
    """hybrid holds at the sender, rst at the receiver; each hold ends in a release or a delivery."""
    for protocol, side in (("hybrid", "at sender"), ("rst", "at receiver")):
        _, events = traced(protocol=protocol, delay="lognormal:5ms,1.5", **FIELDS)
        holds = [event for event in of_kind(events, "hold") if event.detail == side]
        assert len(holds) > 10, protocol
        ends = of_kind(events, "release" if side == "at sender" else "deliver")
        for hold in holds:
            after = [e for e in ends if (e.sender, e.mid) == (hold.sender, hold.mid)]
            assert after and after[0].time_ns > hold.time_ns


def test_a_message_to_oneself_is_delivered_at_once() -> None:
    """It has no release and no arrival, and nothing holds it."""
    program = Program([Send("x", "a", ("a", "b"))])
    result, events = traced(audit=True, workload="replay", program=program)
    own = [event.kind for event in events if event.process == "a"]
    assert own[:4] == ["start", "send", "release", "deliver"]
    assert result.clean and result.metrics.delivered == 2
    assert result.metrics.latency.p50 == 0


def test_congestion_beyond_the_bound_is_reported_not_guessed() -> None:
    """A process that knows of 2,100 senders with open messages: no figure for non-causal latency."""
    senders = [f"s{number}" for number in range(2_100)]
    slow = [Send(f"{name} slow", name, ("sink",)) for name in senders]
    fast = [
        Send(f"{name} fast", name, ("hub",), after=(f"{name} slow",), at_ns=10**6)
        for name in senders
    ]
    for count, followed in ((2_100, False), (500, True)):
        result, _ = traced(
            protocol="raw",
            workload="replay",
            program=Program(slow[:count] + fast[:count]),
            delay="schedule:0ms=10s,1ms=1ms",  # what is sent at once takes ten seconds
        )
        assert result.outcome == "complete" and result.metrics.delivered == 2 * count
        assert (result.metrics.noncausal is not None) == followed
