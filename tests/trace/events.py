"""Events to test traces with, and the shortest ways to write and read them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from beforehand.trace import KINDS, Columns, Event, Sink, create, read

MOST = 2**63 - 1

# One event of each kind, as a run of three processes might have them.
SAMPLES = [
    Event("r1", "alice", 1, "start", None, None, None, 10, 0, 0, "new"),
    Event("r1", "alice", 2, "send", "alice", 1, ("bob", "carol"), 11, 5, 0),
    Event("r1", "alice", 3, "hold", "alice", 1, ("bob",), 12, 5, 0, "at sender"),
    Event("r1", "alice", 4, "release", "alice", 1, ("bob",), 13, 5, 8),
    Event("r1", "bob", 1, "receive", "alice", 1, None, 14, 5, 8, "again"),
    Event("r1", "bob", 2, "deliver", "alice", 1, None, 15, 5, 0),
    Event("r1", "bob", 3, "control", "bob", 1, ("alice",), 16, 0, 2, "ack"),
    Event("r1", "alice", 5, "control", "bob", None, ("alice",), 17, 0, 2, "ack"),
    Event("r1", "alice", 6, "evict", "carol", None, None, 18, 0, 0, "silent"),
    Event("r1", "alice", 7, "stop", None, None, None, 19, 0, 0, "done"),
]

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
names = st.sampled_from(["alice", "bob", "zoë", "字"]) | texts.filter(bool)
numbers = st.integers(1, 5) | st.integers(1, MOST)
sizes = st.integers(0, 5) | st.integers(0, MOST)


@st.composite
def _event(draw: st.DrawFn) -> Event:
    kind = draw(st.sampled_from(sorted(KINDS)))
    process = draw(names)
    optional = kind in ("start", "stop")
    sender = draw(st.none() | names if optional else names)
    mid = draw(st.none() | numbers if optional or kind in ("control", "evict") else numbers)
    to: tuple[str, ...] | None
    if kind in ("release", "control"):
        to = (draw(names),)
    else:
        least = 1 if kind == "send" else 0
        to = draw(st.none() | st.lists(names, min_size=least, max_size=3).map(tuple))
    return Event(
        draw(texts),
        process,
        draw(numbers),
        kind,
        process if kind == "send" else sender,
        mid,
        to,
        draw(st.integers(-MOST, MOST)),
        draw(sizes),
        draw(sizes),
        draw(texts),
    )


events: SearchStrategy[Event] = _event()


def columns_of(run: str, rows: Iterable[Event]) -> Columns:
    """The columns that a recorder would have made of events of one run."""
    columns = Columns(run)
    for row in rows:
        for name in Event._fields[1:]:
            getattr(columns, name).append(getattr(row, name))
    return columns


def fill(sink: Sink, rows: Iterable[Event]) -> None:
    """Write events to a sink, neighbours of the same run as one group."""
    for run, group in groupby(rows, lambda row: row.run):
        sink.write(columns_of(run, group))


def write(path: Path, rows: Iterable[Event]) -> Path:
    """Write events to a file."""
    sink = create(path)
    fill(sink, rows)
    sink.close()
    return path


def read_text(path: Path, text: str) -> list[Event]:
    """Write a text to a file and read it as a trace."""
    path.write_text(text, encoding="utf-8", newline="")
    return list(read(path))
