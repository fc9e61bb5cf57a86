"""The JSON that the page reads is equivalent to the diagram."""

from __future__ import annotations

import json

from beforehand.report.diagram.build import build
from beforehand.report.diagram.columns import ARROWS, BARS, columns
from tests.report.diagram.test_build import HELD
from tests.report.diagram.traces import trace_of


def test_every_field_is_there() -> None:
    """Compared with the diagram, row by row."""
    events = [event._replace(time_ns=event.time_ns + 2**60) for event in trace_of(HELD)]
    diagram = build(events, around=("bob", 1), flags={("carol", 6): "late"})
    data = json.loads(json.dumps(columns(diagram)))

    def rows(name: str) -> list[tuple[object, ...]]:
        return list(zip(*data[name].values(), strict=True))

    def number(value: int | None) -> int:
        return -1 if value is None else value

    assert data["run"] == "r" and data["note"] == "" and data["axis"] == "time"
    assert data["origin"] == str(2**60 + 10), "as text: beyond the exact integers of JavaScript"
    assert data["processes"] == data["labels"] == ["alice", "bob", "carol"]
    assert data["selected"] == diagram.selected
    kinds, details = data["kinds"], data["details"]
    assert len(rows("marks")) == len(diagram.marks) == len(events)
    for row, mark in zip(rows("marks"), diagram.marks, strict=True):
        process, seq, kind, time, order, message, peer, detail, payload, meta = row
        assert (process, seq, kinds[kind], time) == (
            mark.process,
            mark.seq,
            mark.kind,
            mark.time_ns,
        )
        assert (order, message, peer) == (mark.order, number(mark.message), number(mark.peer))
        assert (details[detail], payload, meta) == (
            mark.detail,
            mark.payload_bytes,
            mark.meta_bytes,
        )
    assert rows("messages") == [
        (
            message.sender,
            message.mid,
            list(message.to or ()),
            number(message.send),
            message.payload_bytes,
        )
        for message in diagram.messages
    ]
    assert rows("arrows") == [
        (ARROWS.index(arrow.kind), arrow.start, number(arrow.end), number(arrow.message))
        for arrow in diagram.arrows
    ]
    assert rows("bars") == [
        (BARS.index(bar.kind), bar.start, number(bar.end), bar.message) for bar in diagram.bars
    ]
    assert data["flags"] == [{"mark": diagram.flags[0].mark, "sentence": "late", "chain": []}]


def test_absent_values() -> None:
    """Unknown receivers are null, other absent values -1."""
    data = columns(build(trace_of("b 0 deliver a#1\n a 0 send a#2 -")))
    assert data["messages"]["to"] == [None, None]
    assert -1 in data["messages"]["send"] and data["selected"] == -1


def test_message_numbers_are_exact() -> None:
    """Integers that JavaScript would round are strings; all others are numbers."""
    data = columns(build(trace_of(f"a 0 send a#{2**53 - 1} b\n a 1 send a#{2**62 + 1} b")))
    assert data["messages"]["mid"] == [2**53 - 1, str(2**62 + 1)]
