"""The recorder: bounded memory, and an end that is either complete or nothing."""

from __future__ import annotations

import pytest

from beforehand.errors import TraceError
from beforehand.trace import ROWS_PER_GROUP, Columns, Event, Recorder, Sink
from beforehand.trace.sinks import table_of
from tests.trace.events import SAMPLES


class Memory(Sink):
    """Keeps its calls, and can be made to fail."""

    def __init__(self, failing: bool = False) -> None:
        self.groups: list[Columns] = []
        self.calls: list[str] = []
        self.failing = failing

    def write(self, columns: Columns) -> None:
        """Keep the group."""
        self.calls.append("write")
        if self.failing:
            raise OSError("disk full")
        self.groups.append(columns)

    def close(self) -> None:
        """Remember it."""
        self.calls.append("close")

    def abort(self) -> None:
        """Remember it."""
        self.calls.append("abort")

    def events(self) -> list[Event]:
        """All that was written."""
        return [
            Event._make(row)
            for columns in self.groups
            for row in zip(*table_of(columns), strict=True)
        ]


def record(recorder: Recorder, event: Event) -> None:
    """Record an event of the recorder's run."""
    (_, process, seq, kind, sender, mid, to, time_ns, payload_bytes, meta_bytes, detail) = event
    recorder.record(
        process,
        seq,
        kind,
        sender,
        mid or 0,
        to,
        time_ns=time_ns,
        payload_bytes=payload_bytes,
        meta_bytes=meta_bytes,
        detail=detail,
    )


def record_many(recorder: Recorder, rows: int) -> None:
    """Record so many starts."""
    for number in range(1, rows + 1):
        recorder.record(
            "alice",
            number,
            "start",
            None,
            0,
            None,
            time_ns=0,
            payload_bytes=0,
            meta_bytes=0,
            detail="",
        )


def test_recorded_events_reach_the_sink() -> None:
    """Every field of every event, in order, with a number of 0 as none; then the end, once."""
    sink = Memory()
    recorder = Recorder("r1", sink)
    for event in SAMPLES:
        record(recorder, event)
    assert sink.calls == []
    recorder.close()
    recorder.close()
    recorder.abort()
    assert sink.events() == SAMPLES
    assert sink.calls == ["write", "close"]


def test_a_recorder_never_holds_more_than_a_group() -> None:
    """A full group is handed over at once, in new lists each time, and is not touched again."""
    sink = Memory()
    recorder = Recorder("r1", sink)
    for groups in range(3):
        record_many(recorder, ROWS_PER_GROUP - 1)
        assert len(sink.groups) == groups
        record_many(recorder, 1)
        assert len(sink.groups) == groups + 1
    assert [len(columns) for columns in sink.groups] == [ROWS_PER_GROUP] * 3
    assert len({id(columns.seq) for columns in sink.groups}) == 3
    recorder.close()
    assert sink.calls == ["write"] * 3 + ["close"]


def test_the_last_group_may_be_small() -> None:
    """What is left at the end is handed over too."""
    sink = Memory()
    recorder = Recorder("r1", sink)
    record_many(recorder, ROWS_PER_GROUP + 2)
    recorder.close()
    assert [len(columns) for columns in sink.groups] == [ROWS_PER_GROUP, 2]


def test_nothing_recorded_is_a_trace_without_events() -> None:
    """The sink is closed all the same, and gets no empty group."""
    sink = Memory()
    Recorder("r1", sink).close()
    assert sink.calls == ["close"]


def test_abort_discards_the_unfinished_group() -> None:
    """Nothing more is written, and the sink is aborted once."""
    sink = Memory()
    recorder = Recorder("r1", sink)
    record_many(recorder, 3)
    recorder.abort()
    recorder.abort()
    recorder.close()
    assert sink.calls == ["abort"]


@pytest.mark.parametrize("end", ["close", "abort"])
def test_recording_after_the_end_is_refused(end: str) -> None:
    """Such events would be lost without a word."""
    recorder = Recorder("r1", Memory())
    getattr(recorder, end)()
    with pytest.raises(TraceError, match="run 'r1' is finished, and alice still records start;"):
        record_many(recorder, 1)


def test_a_group_that_cannot_be_written_ends_the_trace() -> None:
    """A file with a gap must not be finished later as if nothing had happened."""
    sink = Memory(failing=True)
    recorder = Recorder("r1", sink)
    with pytest.raises(OSError, match="disk full"):
        record_many(recorder, ROWS_PER_GROUP)
    recorder.close()
    assert sink.calls == ["write", "abort"]


def test_closing_reports_a_group_that_cannot_be_written() -> None:
    """The same at the end: nothing is finished."""
    sink = Memory(failing=True)
    recorder = Recorder("r1", sink)
    record_many(recorder, 1)
    with pytest.raises(OSError, match="disk full"):
        recorder.close()
    assert sink.calls == ["write", "abort"]


def test_as_a_context_manager() -> None:
    """A run that ends well is finished, one with an error is dropped."""
    good, bad = Memory(), Memory()
    with Recorder("r1", good) as recorder:
        record_many(recorder, 1)
    with pytest.raises(TypeError), Recorder("r1", bad) as recorder:
        recorder.record("alice")  # type: ignore[call-arg]
    assert good.calls == ["write", "close"]
    assert bad.calls == ["abort"]


def test_a_sink_must_implement_its_methods() -> None:
    """The base class isn't a sink."""
    with pytest.raises(NotImplementedError):
        Sink().write(Columns("r1"))
    with pytest.raises(NotImplementedError):
        Sink().close()
    with pytest.raises(NotImplementedError):
        Sink().abort()
