"""Traces from a few lines of text, and textual forms of diagrams for assertions."""

from __future__ import annotations

from itertools import pairwise

from beforehand.report.diagram.model import Diagram, Mark
from beforehand.trace import Event


def trace_of(text: str, run: str = "r") -> list[Event]:
    """Parse a trace: each line is `process time kind [message] [to] [detail]`, with - for none.

    The message of a control frame is its sender, # and an optional number.
    """
    events: list[Event] = []
    counts: dict[str, int] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        process, time, kind, message, to, detail, *_ = [*line.split(None, 5), "-", "-", "-"]
        sender, _, mid = message.partition("#")
        counts[process] = seq = counts.get(process, 0) + 1
        events.append(
            Event(
                run,
                process,
                seq,
                kind,
                None if sender == "-" else sender,
                int(mid) if mid else None,
                None if to == "-" else tuple(to.split(",")),
                int(time),
                10 if mid else 0,
                4 if kind in ("release", "receive", "control") else 0,
                "" if detail == "-" else detail,
            )
        )
    return events


def mark_name(mark: Mark | None, diagram: Diagram) -> str:
    """Return a mark as text: `bob 2 deliver`, where the number is its `seq`."""
    return "-" if mark is None else f"{diagram.labels[mark.process]} {mark.seq} {mark.kind}"


def arrows_of(diagram: Diagram, *kinds: str) -> list[str]:
    """Return the arrows of some kinds, or all, as text."""
    arrows = []
    for arrow in diagram.arrows:
        if not kinds or arrow.kind in kinds:
            end = None if arrow.end is None else diagram.marks[arrow.end]
            start = diagram.marks[arrow.start]
            arrows.append(f"{arrow.kind}: {mark_name(start, diagram)} -> {mark_name(end, diagram)}")
    return sorted(arrows)


def bars_of(diagram: Diagram) -> list[str]:
    """Return the bars as text."""
    bars = []
    for bar in diagram.bars:
        end = None if bar.end is None else diagram.marks[bar.end]
        start = mark_name(diagram.marks[bar.start], diagram)
        message = diagram.messages[bar.message]
        name = f"{diagram.labels[message.sender]}#{message.mid}"
        bars.append(f"{bar.kind} {name}: {start} -> {mark_name(end, diagram)}")
    return sorted(bars)


def assert_sound(diagram: Diagram) -> None:
    """Check the invariants of a diagram: indices are valid, and order grows along lines and arrows."""
    marks, messages = diagram.marks, diagram.messages
    orders = {mark.order for mark in marks}
    assert orders == set(range(len(orders)))
    for before, after in pairwise(marks):
        assert (before.process, before.seq) < (after.process, after.seq)
        assert before.process < after.process or before.order < after.order
    for mark in marks:
        assert 0 <= mark.process < len(diagram.processes)
        assert mark.message is None or 0 <= mark.message < len(messages)
        assert mark.peer is None or 0 <= mark.peer < len(diagram.processes)
    for message in messages:
        assert message.send is None or marks[message.send].kind == "send"
    for arrow in diagram.arrows:
        if arrow.end is not None:
            start, end = marks[arrow.start], marks[arrow.end]
            assert start.order < end.order and start.process != end.process
            assert diagram.axis == "order" or start.time_ns <= end.time_ns
            assert arrow.kind == "control" or start.message == end.message == arrow.message
    for bar in diagram.bars:
        assert bar.end is None or marks[bar.start].order < marks[bar.end].order
