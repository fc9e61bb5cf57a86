"""Traces with too many events: which part is shown, and the memory and work it takes."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

import beforehand.report.diagram.build as build_module
from beforehand.errors import ReportError
from beforehand.report.diagram.build import build
from beforehand.report.diagram.logs import collect
from tests.report.diagram.traces import arrows_of, assert_sound, bars_of, trace_of
from tests.simulator.traced_run import traced
from tests.support.work import counted_lines

_, EVENTS = traced(protocol="hybrid", processes=6, messages=30, loss=0.1, duplicate=0.1, seed=5)


def shown(most: int, around: tuple[str, int] | None = None) -> set[tuple[str, int]]:
    """Build a part of the run above and return the events that are shown."""
    diagram = build(EVENTS, most=most, around=around)
    assert_sound(diagram)
    return {(diagram.processes[mark.process], mark.seq) for mark in diagram.marks}


@pytest.mark.parametrize("most", [1, 7, 200, 600])
def test_the_first_events_include_all_their_causes(most: int) -> None:
    """Everything before a shown event is shown too: on its process, and along its arrow."""
    part = shown(most)
    assert len(part) == most < len(EVENTS)
    whole = build(EVENTS)
    name = {
        number: (whole.processes[mark.process], mark.seq) for number, mark in enumerate(whole.marks)
    }
    assert all((process, seq - 1) in part for process, seq in part if seq > 1)
    arrows = [
        (name[arrow.start], name[arrow.end]) for arrow in whole.arrows if arrow.end is not None
    ]
    assert all(start in part for start, end in arrows if end in part)
    assert most < 200 or sum(end in part for _, end in arrows) > 20


def test_the_note_describes_the_part() -> None:
    """Along with the total number of events."""
    count = f"{len(EVENTS):,}"
    assert build(EVENTS, most=200).note == f"The first 200 of {count} events."
    assert build(EVENTS, most=200, around=("p1", 9)).note == (
        f"200 of {count} events, around p1#9."
    )
    assert build(EVENTS).note == build(EVENTS, around=("p1", 9)).note == ""


@pytest.mark.parametrize("mid", [1, 15, 30])
def test_around_a_message(mid: int) -> None:
    """All of its events are shown and it is selected, even at both ends of the run."""
    events_of_message = {
        (event.process, event.seq)
        for event in EVENTS
        if (event.sender, event.mid) == ("p3", mid) and event.kind not in ("control", "evict")
    }
    part = shown(300, ("p3", mid))
    assert events_of_message <= part and len(part) == 300
    diagram = build(EVENTS, most=300, around=("p3", mid))
    assert diagram.selected is not None
    message = diagram.messages[diagram.selected]
    assert (diagram.processes[message.sender], message.mid) == ("p3", mid)


def test_around_a_message_that_waits_for_a_long_time() -> None:
    """If the whole interval doesn't fit, its own events and those next to them are shown."""
    between = "\n".join(f"c {time} send c#{time} d" for time in range(1, 60))
    events = trace_of(f"""
        a 0 start
        a 0 send a#1 b
        a 0 hold a#1 b at sender
        {between}
        a 90 release a#1 b
        b 99 receive a#1
        b 99 deliver a#1
        b 100 send b#1 c
    """)
    diagram = build(events, around=("a", 1), most=7)
    assert_sound(diagram)
    assert {mark.kind for mark in diagram.marks} >= {"hold", "release", "receive", "deliver"}
    assert arrows_of(diagram) == ["message: a 4 release -> b 1 receive"]
    assert bars_of(diagram) == ["held a#1: a 2 send -> a 4 release"]
    assert len(diagram.marks) == 7 and diagram.note == "7 of 66 events, around a#1."


def test_frames_that_arrive_later_are_not_lost() -> None:
    """An arrow without an end has no arrival in the complete trace."""
    whole = [arrow for arrow in arrows_of(build(EVENTS)) if arrow.endswith("-> -")]
    assert whole, "nothing was lost, so this test shows nothing"
    for around in (None, ("p3", 15)):
        part = build(EVENTS, most=300, around=around)
        assert {arrow for arrow in arrows_of(part) if arrow.endswith("-> -")} <= set(whole)


def test_frames_may_arrive_in_the_part_that_is_not_shown() -> None:
    """Such frames aren't lost; and no receive is shown without its send."""
    waiting = "\n".join(f"b {time} send b#{time} c" for time in range(1, 60))
    events = trace_of(f"""
        a 0 send a#1 b
        a 0 release a#1 b
        a 0 send a#2 c
        a 0 release a#2 c
        c 5 receive a#2
        {waiting}
        b 90 receive a#1
    """)
    assert arrows_of(build(events, most=10)) == ["message: a 4 release -> c 1 receive"]
    sends = "\n".join(f"a 0 send a#{mid} z" for mid in range(1, 60))
    part = build(trace_of(f"{sends}\nz 0 receive a#59\nz 0 send z#1 a"), most=10)
    assert {mark.process for mark in part.marks} == {0}, "a#59 is sent much later"


def test_the_message_is_in_the_middle() -> None:
    """Unless it is near an end of the run."""
    events = trace_of("\n".join(f"a {time} send a#{time} b" for time in range(1, 100)))
    for mid, first in ((50, 45), (2, 1), (98, 89)):
        diagram = build(events, around=("a", mid), most=11)
        assert [mark.seq for mark in diagram.marks] == list(range(first, first + 11))


def test_unknown_messages_are_rejected() -> None:
    """The error lists the existing ones."""
    with pytest.raises(ReportError, match=r"no process p33 in run .*; there is p3\b"):
        build(EVENTS, around=("p33", 1))
    with pytest.raises(ReportError, match=r"no message p3#31 in run .*; its messages are 1 to 30$"):
        build(EVENTS, around=("p3", 31))
    with pytest.raises(ReportError, match=r"no message a#1 in run r; it sent none$"):
        build(trace_of("a 0 start"), around=("a", 1))


def test_memory_for_the_beginning_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Per process, no more events are kept than are shown, and the result is the same."""
    events = EVENTS.copy()
    Random(3).shuffle(events)
    kept = collect(events, None, 20)
    longest = max(len(log.events) for log in kept.by_process.values())
    assert longest == 20 < min(log.count for log in kept.by_process.values())
    assert kept.count == len(EVENTS)
    assert all(log.is_cut for log in kept.by_process.values())
    part = build(events, most=20)
    monkeypatch.setattr(
        build_module, "collect", lambda events, run, most: collect(events, run, None)
    )
    assert build(events, most=20) == part


def test_work_is_linear_in_the_number_of_events() -> None:
    """Measured in executed lines of code, also around a message."""
    folder = Path(build_module.__file__).parent
    for around in (None, ("p1", 5)):
        work = []
        for messages in (6, 24):
            _, events = traced(protocol="mattern", processes=5, messages=messages, seed=2)
            with counted_lines(folder) as lines:
                build(events, around=around)
            work.append(lines.count / len(events))
        assert work[0] > 10 and work[1] < 1.3 * work[0]
