"""Diagrams of simulated runs of every protocol, on a good and on a bad network."""

from __future__ import annotations

from typing import Any

import pytest

from beforehand import protocols
from beforehand.report.diagram.build import build
from tests.report.diagram.traces import assert_sound
from tests.simulator.traced_run import traced, traffic_for

BAD: dict[str, Any] = {"loss": 0.2, "duplicate": 0.2, "jitter": "uniform:0ms,60ms"}


@pytest.mark.parametrize("network", [{}, BAD], ids=["good", "bad"])
@pytest.mark.parametrize("protocol", protocols.names())
def test_every_protocol(protocol: str, network: dict[str, Any]) -> None:
    """Every delivery has an arrow, and bars match the `hold` events of the trace."""
    fields = {"processes": 4, "messages": 5, "seed": 3, **network, **traffic_for(protocol)}
    result, events = traced(protocol=protocol, **fields)
    diagram = build(events)
    assert_sound(diagram)
    assert diagram.note == "" and diagram.axis == "time" and len(diagram.marks) == len(events)
    marks = diagram.marks
    arrived = {
        (marks[arrow.end].process, arrow.message)
        for arrow in diagram.arrows
        if arrow.end is not None and arrow.message is not None
    }
    delivered = {
        (mark.process, mark.message)
        for mark in marks
        if mark.kind == "deliver" and mark.peer != mark.process
    }
    assert delivered and delivered <= arrived
    bars = {(bar.kind, bar.message, marks[bar.start].process) for bar in diagram.bars}
    assert bars == {
        ("held" if mark.detail == "at sender" else "buffered", mark.message, mark.process)
        for mark in marks
        if mark.kind == "hold"
    }
    lost = sum(arrow.end is None for arrow in diagram.arrows)
    assert bool(lost) == bool(result.metrics.frames_lost) == bool(network)


def test_some_messages_wait() -> None:
    """So that the comparison of bars above isn't vacuous: at senders, and at receivers."""
    for protocol, kind in (("mattern", "held"), ("rst", "buffered")):
        _, events = traced(protocol=protocol, processes=5, messages=6, seed=3, **BAD)
        assert any(bar.kind == kind for bar in build(events).bars)


def test_skewed_clocks() -> None:
    """The arrows are mostly the same, but drawn by order."""
    _, events = traced(protocol="hybrid", processes=4, messages=5, seed=3, **BAD)
    skewed = [
        event._replace(time_ns=event.time_ns + 10**9 * int(event.process[1:])) for event in events
    ]
    diagram, synchronised = build(skewed), build(events)
    assert_sound(diagram)
    assert diagram.axis == "order" and "contradicts" not in diagram.note
    messages = [
        {
            (arrow.start, arrow.end)
            for arrow in drawn.arrows
            if arrow.kind == "message" and arrow.end
        }
        for drawn in (diagram, synchronised)
    ]
    assert len(messages[0] & messages[1]) > 0.7 * len(messages[1]), "most copies are unambiguous"
