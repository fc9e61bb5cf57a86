"""The SVG diagram: valid XML, complete, and with untrusted text escaped."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beforehand.errors import ReportError
from beforehand.report.diagram.build import build
from beforehand.report.diagram.columns import columns
from beforehand.report.diagram.layout import across, ticks, tracks
from beforehand.report.diagram.model import Diagram
from beforehand.report.diagram.svg import svg
from beforehand.report.diagram.text_metrics import clean, fitting, width
from beforehand.results.format import elapsed
from beforehand.trace import Event
from tests.report.diagram.test_build import HELD
from tests.report.diagram.traces import assert_sound, trace_of
from tests.simulator.traced_run import traced
from tests.trace.events import events as any_events

SPACE = "{http://www.w3.org/2000/svg}"
EVIL = '<script>alert("1")</script>&\'"]]>'


def parsed(diagram: Diagram, wide: int = 960) -> Element:
    """Draw a diagram and parse the SVG."""
    return ElementTree.fromstring(svg(diagram, width=wide))


def texts(root: Element) -> list[str]:
    """Return all visible texts."""
    return [element.text or "" for element in root.iter(f"{SPACE}text")]


def test_all_parts_are_drawn() -> None:
    """Names, marks, arrows, bars and their titles."""
    diagram = build(trace_of(HELD), flags={("carol", 6): "Carol is late."})
    root = parsed(diagram)
    labels = texts(root)
    assert {"alice", "bob", "carol", "alice#1", "alice#2", "bob#1"} <= set(labels)
    assert {"causal-send", "release", "receive", "deliver", "message"} <= set(labels)
    assert {"held at the sender", "buffered at the receiver", "broken promise"} <= set(labels)
    assert "! Carol is late." in labels and "not seen to arrive" not in labels
    titles = [element.text for element in root.iter(f"{SPACE}title")]
    assert {"alice#2: held at alice", "bob#1: buffered at carol", "Carol is late."} <= set(titles)
    dashed = [element for element in root.iter(f"{SPACE}line") if element.get("stroke-dasharray")]
    assert len(dashed) == 2, "the acknowledgement, and its sample in the legend"


def test_a_heading_names_the_run_the_protocol_and_the_verdict() -> None:
    """Where they are known; everything else moves down."""
    plain = build(trace_of(HELD))
    headed = parsed(replace(plain, protocol="fifo", verdict="no wrong delivery among 3"))
    assert "r \u00b7 fifo: no wrong delivery among 3" in texts(headed)
    assert not any("\u00b7" in text for text in texts(parsed(plain)))
    assert float(headed.get("height", 0)) > float(parsed(plain).get("height", 0))


def test_the_svg_has_a_title_and_a_description() -> None:
    """For screen readers, by `aria-labelledby`."""
    root = parsed(build(trace_of(HELD), flags={("carol", 6): "Carol is late."}))
    assert root.get("role") == "img" and root.get("aria-labelledby") == "title description"
    title, description = root[0], root[1]
    assert title.text == "Space-time diagram of r" and title.get("id") == "title"
    assert description.text == (
        "3 processes as lines from left to right: alice, bob, carol. 3 messages as arrows, "
        "3 deliveries, within 41 ns. Carol is late."
    )


def test_lost_and_relayed_frames_are_in_the_legend() -> None:
    """Only if there are any."""
    lossy = trace_of(
        "a 0 send a#1 b\n a 0 release a#1 b\n a 5 release a#1 b again\n b 9 receive a#1"
    )
    labels = texts(parsed(build(lossy)))
    assert "not seen to arrive" in labels and "passed on" not in labels
    relayed = trace_of("a 0 send a#1 c\n b 5 release a#1 c relay\n c 9 receive a#1")
    labels = texts(parsed(build(relayed)))
    assert "passed on" in labels and "not seen to arrive" not in labels


def test_hostile_names_stay_text() -> None:
    """Scripts, quotes, control characters, right-to-left text and 10 kB are shown as short text."""
    names = [EVIL, "\x00\x1b[31m\ufffe", "\u05e9\u05e8\u05d4", "x" * 10_000, "\u202eevil", "\ud800"]
    events = [
        Event(EVIL, name, 1, "send", name, 1, (names[0],), 5 * index, 0, 0, EVIL)
        for index, name in enumerate(names)
    ]
    diagram = build(events, flags={(names[3], 1): EVIL + names[3]}, around=(EVIL, 1))
    text = svg(diagram)
    root = ElementTree.fromstring(text)
    assert "<script" not in text and root.find(f".//{SPACE}script") is None
    labels = texts(root)
    assert EVIL[:8] in " ".join(labels) and "\u2068\u05e9\u05e8\u05d4\u2069" in labels
    assert max(map(len, labels)) < 300
    titles = [element.text for element in root.iter(f"{SPACE}title")]
    assert names[3] in titles, "the title has the full name"
    assert not {"\u202e", "\x00", "\ud800"} & set(text)


in_one_run = any_events.map(lambda event: event._replace(run="r"))


@settings(max_examples=25)
@given(st.lists(in_one_run, max_size=12), st.integers(1, 12))
def test_any_trace_gives_a_diagram_or_an_error(events: list[Event], most: int) -> None:
    """For any events: valid XML and complete JSON, or a clear error."""
    try:
        diagram = build(events, most=most)
    except ReportError as problem:
        assert not events or "two events" in str(problem)
        return
    assert_sound(diagram)
    assert len(parsed(diagram, 400).findall(f"{SPACE}line")) >= len(diagram.processes)
    assert len(columns(diagram)["marks"]["seq"]) == len(diagram.marks) <= most


def test_marks_keep_their_distance_and_arrows_point_forward() -> None:
    """By time, at all widths: even with bursts and long gaps."""
    _, events = traced(protocol="hybrid", processes=5, messages=8, seed=4, loss=0.2)
    events.append(events[-1]._replace(seq=events[-1].seq + 1, kind="start", time_ns=10**12))
    diagram = build(events)
    for wide in (200.0, 900.0, 5000.0):
        x, first, last, scale = across(diagram, wide)
        assert min(x) >= 0 and max(x) <= wide * 1.0001 and scale > 0 and first < last
        for before, after in pairwise(range(len(x))):
            if diagram.marks[before].process == diagram.marks[after].process:
                assert x[before] < x[after]
        assert all(
            x[arrow.start] < x[arrow.end] for arrow in diagram.arrows if arrow.end is not None
        )
    by_order = across(replace(diagram, axis="order"), 900.0)
    longest = max(mark.order for mark in diagram.marks)
    assert by_order.x == [mark.order * 900 / longest for mark in diagram.marks]


def test_ticks_are_at_round_times() -> None:
    """There are a few, and none outside the axis."""
    assert ticks(0, 100, 8) == [0, 20, 40, 60, 80, 100]
    assert ticks(770_300, 770_900, 5) == [770_400, 770_600, 770_800]
    for last in (1, 7, 999, 10**9 + 1, 2**62):
        times = ticks(0, last, 8)
        assert 2 <= len(times) <= 9 and times[-1] <= last


def test_overlapping_bars_get_separate_tracks() -> None:
    """Once all tracks are taken, the one that becomes free first is reused."""
    assert tracks([(0, 10), (2, 4), (5, 20), (11, 12)], 3) == [0, 1, 1, 0]
    assert tracks([(0, 10), (1, 9), (2, 3)], 2) == [0, 1, 1]


def test_the_height_grows_with_the_number_of_processes() -> None:
    """The width doesn't, down to a minimum."""
    many = "\n".join(f"p{n} {n} send p{n}#1 p0" for n in range(100))
    root = parsed(build(trace_of(many)))
    assert root.get("width") == "960" and float(root.get("height", "0")) > 100 * 30
    few = parsed(build(trace_of(HELD)), wide=10)
    assert few.get("width") == "320" and float(few.get("height", "0")) < 400


@pytest.mark.parametrize(
    ("text", "room", "expected"),
    [("abc", 99, "abc"), ("a" * 50, 60, "a" * 6 + "\u2026"), ("", 9, "")],
)
def test_text_is_shortened_to_fit(text: str, room: float, expected: str) -> None:
    """With an ellipsis."""
    assert fitting(text, room, 11) == expected
    assert width(fitting("\u6f22" * 50, 60, 11), 11) <= 60


def test_texts_and_times() -> None:
    """Control characters are replaced, and times have units."""
    assert clean("a\x00b\u202ec\ud800\ufffe") == "a\ufffdb\ufffdc\ufffd\ufffd"
    assert clean("abcdef", 4) == "abc\u2026"
    assert [elapsed(time) for time in (0, 1, 1500, 2 * 10**6, 3 * 10**9)] == [
        "0 s",
        "1 ns",
        "1.5 µs",
        "2 ms",
        "3 s",
    ]
