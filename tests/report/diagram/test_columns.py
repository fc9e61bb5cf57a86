"""The JSON that the page reads says the same as the diagram."""

from __future__ import annotations

import json

from beforehand.report.diagram.build import build
from beforehand.report.diagram.columns import ARROWS, BARS, columns
from tests.report.diagram.test_build import HELD
from tests.report.diagram.traces import trace_of


def test_every_field_is_there() -> None:
    """Read back from JSON, row by row."""
    events = [event._replace(time_ns=event.time_ns + 2**60) for event in trace_of(HELD)]
    diagram = build(events, around=("bob", 1), flags={("carol", 6): "late"})
    found = json.loads(json.dumps(columns(diagram)))

    def rows(name: str) -> list[tuple[object, ...]]:
        return list(zip(*found[name].values(), strict=True))

    def number(value: int | None) -> int:
        return -1 if value is None else value

    assert found["run"] == "r" and found["note"] == "" and found["axis"] == "time"
    assert found["origin"] == str(2**60), "as text: JavaScript cannot count that far"
    assert found["processes"] == found["labels"] == ["alice", "bob", "carol"]
    assert found["selected"] == diagram.selected
    kinds, details = found["kinds"], found["details"]
    assert len(rows("marks")) == len(diagram.marks) == len(events)
    for row, mark in zip(rows("marks"), diagram.marks, strict=True):
        process, seq, kind, time, order, message, peer, detail, payload, meta = row
        assert (process, seq, kinds[kind], time) == (
            *(mark.process, mark.seq, mark.kind, mark.time_ns),
        )
        assert (order, message, peer) == (mark.order, number(mark.message), number(mark.peer))
        assert (details[detail], payload, meta) == (
            *(mark.detail, mark.payload_bytes, mark.meta_bytes),
        )
    assert rows("messages") == [
        (each.sender, each.mid, list(each.to or ()), number(each.send), each.payload_bytes)
        for each in diagram.messages
    ]
    assert rows("arrows") == [
        (ARROWS.index(each.kind), each.start, number(each.end), number(each.message))
        for each in diagram.arrows
    ]
    assert rows("bars") == [
        (BARS.index(each.kind), each.start, number(each.end), each.message) for each in diagram.bars
    ]
    assert found["flags"] == [{"mark": diagram.flags[0].mark, "sentence": "late"}]


def test_what_is_not_there() -> None:
    """Receivers that are not known are null, and the rest is -1."""
    found = columns(build(trace_of("b 0 deliver a#1\n a 0 send a#2 -")))
    assert found["messages"]["to"] == [None, None]
    assert -1 in found["messages"]["send"] and found["selected"] == -1


def test_numbers_of_messages_are_exact() -> None:
    """What JavaScript would round comes as text, and everything else as a number."""
    found = columns(build(trace_of(f"a 0 send a#{2**53 - 1} b\n a 1 send a#{2**62 + 1} b")))
    assert found["messages"]["mid"] == [2**53 - 1, str(2**62 + 1)]
