"""Diagrams of hand-written traces: marks, arrows, bars, order and notes."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from beforehand.errors import ReportError
from beforehand.report.diagram.build import build
from beforehand.report.diagram.drawing import Problem
from beforehand.trace import Event
from tests.report.diagram.traces import arrows_of, assert_sound, bars_of, trace_of

# Alice holds her second message until the first is acknowledged; Carol receives Bob's answer too early.
HELD = """
    alice 0 start
    bob 0 start
    carol 0 start
    alice 10 send alice#1 bob
    alice 10 release alice#1 bob
    alice 20 send alice#2 carol
    alice 20 hold alice#2 carol at sender
    bob 30 receive alice#1
    bob 30 deliver alice#1
    bob 31 control bob#1 alice ack
    bob 35 send bob#1 carol
    bob 35 release bob#1 carol
    carol 38 receive bob#1
    carol 38 hold bob#1 carol at receiver
    alice 40 control bob#1 alice ack
    alice 41 release alice#2 carol
    carol 50 receive alice#2
    carol 50 deliver alice#2
    carol 51 deliver bob#1
"""


def test_a_complete_trace() -> None:
    """All kinds of marks, an arrow per frame, and a bar wherever a message waits."""
    diagram = build(trace_of(HELD))
    assert_sound(diagram)
    assert diagram.run == "r" and diagram.axis == "time" and diagram.note == ""
    assert diagram.processes == diagram.labels == ("alice", "bob", "carol")
    assert [mark.kind for mark in diagram.marks if mark.process == 2] == [
        "start",
        "receive",
        "hold",
        "receive",
        "deliver",
        "deliver",
    ]
    assert arrows_of(diagram) == [
        "control: bob 4 control -> alice 6 control",
        "message: alice 3 release -> bob 2 receive",
        "message: alice 7 release -> carol 4 receive",
        "message: bob 6 release -> carol 2 receive",
    ]
    assert bars_of(diagram) == [
        "buffered bob#1: carol 2 receive -> carol 6 deliver",
        "held alice#2: alice 4 send -> alice 7 release",
    ]


def test_fields_of_marks_and_messages() -> None:
    """Times are relative to the first send, peers are the other end, and sizes come from the trace."""
    late = [event._replace(time_ns=event.time_ns + 10**18) for event in trace_of(HELD)]
    diagram = build(late)
    assert diagram.origin_ns == 10**18 + 10
    assert [mark.time_ns for mark in diagram.marks if mark.kind == "start"] == [-10] * 3
    ack = next(mark for mark in diagram.marks if mark.kind == "control" and mark.process == 0)
    assert (ack.time_ns, ack.peer, ack.message, ack.detail, ack.meta_bytes) == (
        30,
        1,
        None,
        "ack",
        4,
    )
    first = diagram.messages[0]
    assert (first.sender, first.mid, first.to, first.payload_bytes) == (0, 1, (1,), 10)
    assert first.send is not None and diagram.marks[first.send].peer == 1


def test_the_order_of_rows_does_not_matter() -> None:
    """Only `seq` does."""
    events = trace_of(HELD)
    Random(7).shuffle(events)
    assert build(events) == build(trace_of(HELD))


def test_a_relayed_message() -> None:
    """The next hop relays it, and the receiver's arrow starts there."""
    diagram = build(
        trace_of("""
            a 0 send a#1 c
            a 0 release a#1 b
            b 5 receive a#1
            b 5 release a#1 c relay
            c 9 receive a#1
            c 9 deliver a#1
        """)
    )
    assert arrows_of(diagram) == [
        "message: a 2 release -> b 1 receive",
        "relay: b 2 release -> c 1 receive",
    ]
    assert [mark.peer for mark in diagram.marks if mark.kind == "receive"] == [0, 1]
    assert bars_of(diagram) == []


def test_lost_resent_and_duplicated_copies() -> None:
    """The first is lost; the second arrives, and arrives again."""
    diagram = build(
        trace_of("""
            a 0 send a#1 b
            a 0 release a#1 b
            a 50 release a#1 b again
            b 55 receive a#1
            b 55 deliver a#1
            b 60 receive a#1 - again
        """)
    )
    # As many arrive as were sent, so the simplest explanation is that none was lost.
    assert arrows_of(diagram) == [
        "message: a 2 release -> b 1 receive",
        "message: a 3 release -> b 3 receive",
    ]
    lossy = trace_of(
        "a 0 send a#1 b\n a 0 release a#1 b\n a 50 release a#1 b again\n b 55 receive a#1"
    )
    assert arrows_of(build(lossy)) == [
        "message: a 2 release -> -",
        "message: a 3 release -> b 1 receive",
    ]
    duplicated = trace_of(
        "a 0 send a#1 b\n a 0 release a#1 b\n b 5 receive a#1\n b 6 receive a#1 - again"
    )
    assert arrows_of(build(duplicated)) == [
        "message: a 2 release -> b 1 receive",
        "message: a 2 release -> b 2 receive",
    ]


def test_equal_frames_are_matched_in_order() -> None:
    """In send order if none is lost; otherwise with the latest one sent before."""
    sent = "a 0 control a# b ack\n a 10 control a# b ack\n a 20 control a# b ack\n"
    all_arrive = sent + "b 11 control a# b ack\n b 21 control a# b ack\n b 22 control a# b ack"
    assert arrows_of(build(trace_of(all_arrive))) == [
        f"control: a {seq} control -> b {seq} control" for seq in (1, 2, 3)
    ]
    one_is_lost = sent + "b 11 control a# b ack\n b 22 control a# b ack"
    assert arrows_of(build(trace_of(one_is_lost))) == [
        "control: a 1 control -> -",
        "control: a 2 control -> b 1 control",
        "control: a 3 control -> b 2 control",
    ]


def test_sends_and_deliveries_are_enough() -> None:
    """Without releases, arrows go from send to deliver; a message to oneself has none."""
    diagram = build(
        trace_of("""
            a 0 send a#1 a,b,c
            a 0 deliver a#1
            b 5 deliver a#1
            b 6 send b#1 c
            c 9 deliver a#1
        """)
    )
    assert arrows_of(diagram) == [
        "message: a 1 send -> b 1 deliver",
        "message: a 1 send -> c 1 deliver",
        "message: b 2 send -> -",
    ]


def test_a_held_message_is_not_lost() -> None:
    """Where releases are recorded, a message without one has not left."""
    diagram = build(
        trace_of("""
            a 0 send a#1 a,b
            a 0 deliver a#1
            a 0 release a#1 b
            a 1 send a#2 b
            a 1 hold a#2 b at sender
        """)
    )
    assert arrows_of(diagram) == []


def test_frames_without_recorded_arrivals_are_not_lost() -> None:
    """A log without arrivals of control frames proves nothing about them."""
    diagram = build(trace_of("a 0 control a#1 b ack\n b 0 start\n b 9 send b#1 a"))
    assert arrows_of(diagram) == []


def test_waiting_is_inferred_without_hold_events() -> None:
    """A message that continues only after another arrival has waited; one frame is one arrival."""
    diagram = build(
        trace_of("""
            a 0 send a#1 b
            b 1 control b# a ack
            a 2 control b# a ack
            a 2 release a#1 b
            a 2 send a#2 b
            a 2 release a#2 b
            b 4 receive a#2
            b 6 receive a#1
            b 6 deliver a#1
            b 6 deliver a#2
        """)
    )
    assert bars_of(diagram) == [
        "buffered a#2: b 2 receive -> b 5 deliver",
        "held a#1: a 1 send -> a 3 release",
    ]
    together = trace_of("""
        a 0 send a#1 b
        a 0 send a#2 b
        a 0 release a#1 b
        a 0 release a#2 b
        b 4 receive a#1
        b 4 receive a#2
        b 4 deliver a#1
        b 4 deliver a#2
    """)
    in_one_frame = [event._replace(meta_bytes=0) if event.mid == 2 else event for event in together]
    assert bars_of(build(in_one_frame)) == []
    assert bars_of(build(together)) == ["buffered a#1: b 1 receive -> b 3 deliver"]


def test_messages_that_wait_until_the_end() -> None:
    """Bars without an end: never released, or received and never delivered."""
    diagram = build(
        trace_of("""
            a 0 send a#1 b,c
            a 0 release a#1 b
            a 0 hold a#1 c at sender
            b 4 receive a#1
            b 4 hold a#1 b at receiver
        """)
    )
    assert bars_of(diagram) == ["buffered a#1: b 1 receive -> -", "held a#1: a 1 send -> -"]


SKEWED = """
    a 1000 send a#1 b
    a 1000 release a#1 b
    b 5 receive a#1
    b 5 deliver a#1
    b 6 send b#1 a
    b 6 release b#1 a
    a 1001 receive b#1
    a 1001 deliver b#1
"""


def test_clocks_that_disagree() -> None:
    """The diagram is drawn by order, in which every arrow points forward."""
    diagram = build(trace_of(SKEWED))
    assert_sound(diagram)
    assert diagram.axis == "order" and "clocks" in diagram.note
    orders = {f"{mark.process} {mark.kind}": mark.order for mark in diagram.marks}
    assert orders["0 send"] == 0 and orders["1 receive"] == 2 and orders["0 deliver"] == 7
    set_back = build(trace_of("a 9 send a#1 b\n a 8 send a#2 b\n b 10 deliver a#1"))
    assert set_back.axis == "order", "a clock that was set back"


def test_a_trace_without_times() -> None:
    """As in traces written by hand."""
    diagram = build([event._replace(time_ns=0) for event in trace_of(HELD)])
    assert_sound(diagram)
    assert diagram.axis == "order" and "no times" in diagram.note
    assert arrows_of(diagram) == arrows_of(build(trace_of(HELD)))


def test_a_trace_that_contradicts_itself() -> None:
    """Each was sent after the other was delivered: one arrow is omitted, and the note says so."""
    diagram = build(
        trace_of("""
            a 1 deliver b#1
            a 2 send a#1 b
            b 1 deliver a#1
            b 2 send b#1 a
        """)
    )
    assert_sound(diagram)
    assert "contradicts itself: 1 event comes" in diagram.note
    assert arrows_of(diagram) == ["message: a 2 send -> b 1 deliver"]
    to_itself = build(trace_of("a 1 deliver a#1\n a 2 send a#1 a"))
    assert "contradicts itself" in to_itself.note


def test_gaps_and_missing_logs_are_noted() -> None:
    """Incomplete logs are drawn as far as they go."""
    events = [event for event in trace_of(HELD) if (event.process, event.seq) != ("alice", 3)]
    diagram = build([event for event in events if event.process != "bob"])
    assert_sound(diagram)
    assert diagram.note == ("1 event is missing in the log of alice. There is no log of bob.")
    assert diagram.processes == ("alice", "bob", "carol")


def test_duplicate_sequence_numbers_are_rejected() -> None:
    """As happens if a file is given twice."""
    with pytest.raises(ReportError, match=r"two events of alice with seq 1.*twice"):
        build(trace_of(HELD) * 2)


def test_flags_are_at_their_marks() -> None:
    """They are found by process and seq; flags of events that aren't shown are dropped."""
    diagram = build(trace_of(HELD), flags={("carol", 6): "late", ("carol", 99): "never"})
    (flag,) = diagram.flags
    mark = diagram.marks[flag.mark]
    assert (mark.process, mark.seq, flag.sentence) == (2, 6, "late")


def test_a_judge_sees_causes_first() -> None:
    """Events come in a causal order whatever the clocks, with whether they are complete."""
    calls: list[tuple[list[str], bool]] = []

    def judge(events: object, is_all: bool) -> dict[tuple[str, int], Problem]:
        assert isinstance(events, list)
        calls.append(([f"{event.kind} {event.sender}#{event.mid}" for event in events], is_all))
        return {("b", 2): Problem("judged")}

    diagram = build(trace_of(SKEWED), judge=judge)
    build(trace_of(SKEWED), judge=judge, most=3)
    assert diagram.flags[0].sentence == "judged"
    assert calls[0][0].index("deliver a#1") < calls[0][0].index("deliver b#1")
    assert calls[0][1] and not calls[1][1]


def test_one_of_several_runs_is_chosen() -> None:
    """Without a name, a trace must contain only one."""
    both = [*trace_of(HELD, "first"), *trace_of(SKEWED, "second")]
    assert build(both, run="second").run == "second"
    assert build(both, run="first") == replace(build(trace_of(HELD)), run="first")
    with pytest.raises(ReportError, match=r"several runs; choose one with `run`: first, second$"):
        build(both)
    many = [Event(f"r{n}", "a", 1, "start", None, None, None, 0, 0, 0) for n in range(30)]
    with pytest.raises(ReportError, match=r"r0, r1, .*, r9 and more$"):
        build(many)
    with pytest.raises(ReportError, match=r"no run frist in the trace; there is first$"):
        build(both, run="frist")


def test_nothing_to_draw() -> None:
    """An empty trace or a limit of 0 is an error with a remedy."""
    with pytest.raises(ReportError, match="no events; check the path"):
        build([])
    with pytest.raises(ReportError, match="ask for 1 or more"):
        build(trace_of(HELD), most=0)
