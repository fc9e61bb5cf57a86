"""The trace of a node: complete and in order on a good disk, and harmless on a bad one."""

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import cast

import pytest
from pyarrow import parquet

from beforehand.errors import TraceError
from beforehand.runtime import trace_writer
from beforehand.runtime.recording import node_trace
from beforehand.runtime.recording.node_trace import END, PART_NS, NodeTrace
from beforehand.runtime.trace_writer import stem
from beforehand.trace import Event, create, read
from beforehand.trace.checks import Table
from beforehand.trace.sinks import FileSink

PATIENCE = 20.0  # seconds after which a test gives up; none of them takes that long

NAMES = ["alice", "a/../b", ".hidden", "_spark", "%2E", "", "ü" * 127, "x" * 255, "x" * 254 + "y"]


def wait_until(fact: Callable[[], bool]) -> None:
    """Let the thread work until a condition holds."""
    deadline = time.monotonic() + PATIENCE
    while not fact():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def traced(folder: Path, problems: list[str], process: str = "alice") -> NodeTrace:
    """A trace whose clock ticks with every reading."""
    ticks = count(1)
    return NodeTrace(folder, "live", process, problems.append, lambda: next(ticks))


def finished(folder: Path) -> list[str]:
    """The names of the complete parts."""
    return sorted(file.name for file in folder.iterdir() if not file.name.startswith("."))


def test_events_are_written_as_they_were_recorded(tmp_path: Path) -> None:
    """In order, numbered, with the time of the clock, between a start and a stop."""
    problems: list[str] = []
    trace = traced(tmp_path, problems)
    trace.record("send", "alice", 1, ("bob", "carol"), 5, 0, "")
    trace.record("release", "alice", 1, ("bob",), 5, 7, "")
    trace.record("control", "bob", 0, ("alice",), 0, 9, "ack")
    trace.record("deliver", "bob", 3, None, 2, 0, "")
    trace.close()
    assert list(read(tmp_path)) == [
        Event("live", "alice", 1, "start", None, None, None, 1, 0, 0, ""),
        Event("live", "alice", 2, "send", "alice", 1, ("bob", "carol"), 2, 5, 0, ""),
        Event("live", "alice", 3, "release", "alice", 1, ("bob",), 3, 5, 7, ""),
        Event("live", "alice", 4, "control", "bob", None, ("alice",), 4, 0, 9, "ack"),
        Event("live", "alice", 5, "deliver", "bob", 3, None, 5, 2, 0, ""),
        Event("live", "alice", 6, "stop", None, None, None, 6, 0, 0, END),
    ]
    assert finished(tmp_path) == ["alice-00001.parquet"] and problems == []


def test_a_run_is_that_many_events(tmp_path: Path) -> None:
    """With one message after the other, and the time of the run for all; an empty one is nothing."""
    trace = traced(tmp_path, [])
    trace.record_run("deliver", "bob", 7, None, [])
    trace.record_run("deliver", "bob", 7, None, [10, 20, 30])
    trace.close("expelled")
    events = list(read(tmp_path))
    assert [(event.mid, event.payload_bytes, event.time_ns) for event in events[1:-1]] == [
        (7, 10, 2),
        (8, 20, 2),
        (9, 30, 2),
    ]
    assert [event.seq for event in events] == [1, 2, 3, 4, 5]
    assert events[-1].detail == "expelled"


def test_a_part_is_complete_after_two_seconds(tmp_path: Path) -> None:
    """By the clock of whoever pokes; then it can be read while the next one is being written."""
    trace = traced(tmp_path, [])
    trace.record_run("deliver", "bob", 1, None, [32] * 100)
    for now in (5, 5 + PART_NS - 1):
        trace.poke(now)
    assert finished(tmp_path) == []
    trace.poke(5 + PART_NS)
    trace.record_run(
        "deliver", "bob", 101, None, [32] * node_trace.ROWS_PER_GROUP
    )  # a group at once
    wait_until(lambda: (tmp_path / ".alice-00002.parquet.unfinished").exists())
    assert [event.seq for event in read(tmp_path)] == list(range(1, 102))
    for now in (6 + PART_NS, 7 + PART_NS):
        trace.poke(now)  # the new part is young, whatever was before
    trace.close()
    assert finished(tmp_path) == ["alice-00001.parquet", "alice-00002.parquet"]
    assert [event.seq for event in read(tmp_path)] == list(
        range(1, 103 + node_trace.ROWS_PER_GROUP)
    )


def test_a_quiet_process_writes_no_parts(tmp_path: Path) -> None:
    """Poking without events makes no files."""
    trace = traced(tmp_path, [])
    for now in range(0, 20 * PART_NS, PART_NS):
        trace.poke(now + 1)
    trace.close()
    assert finished(tmp_path) == ["alice-00001.parquet", "alice-00002.parquet"]
    assert [event.kind for event in read(tmp_path)] == ["start", "stop"]


def test_a_part_has_about_so_many_rows(tmp_path: Path) -> None:
    """A busy process begins a new one long before two seconds are over."""
    trace = traced(tmp_path, [])
    rows = 50_000
    for first in range(1, 5 * rows, rows):
        trace.record_run("deliver", "bob", first, None, [1] * rows)
    trace.close()
    assert finished(tmp_path) == ["alice-00001.parquet", "alice-00002.parquet"]
    seqs = parquet.read_table(tmp_path, columns=["seq"])["seq"].to_pylist()
    assert seqs == list(range(1, 5 * rows + 3))


def test_a_part_may_end_exactly_with_a_group(tmp_path: Path) -> None:
    """Then nothing is left to write but the end of the file."""
    trace = traced(tmp_path, [])
    trace.record_run("deliver", "bob", 1, None, [1] * (node_trace.ROWS_PER_GROUP - 1))
    trace.poke(1)
    trace.poke(1 + PART_NS)
    wait_until(lambda: finished(tmp_path) == ["alice-00001.parquet"])
    assert len(list(read(tmp_path))) == node_trace.ROWS_PER_GROUP
    trace.close()


def test_without_pyarrow_parts_are_lines_of_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Slower and larger, and the same events."""
    traces = []
    for folder, installed in ((tmp_path / "with", True), (tmp_path / "without", False)):
        monkeypatch.setattr(
            trace_writer, "find_spec", lambda name, installed=installed: installed or None
        )
        trace = traced(folder, [])
        trace.record_run("deliver", "bob", 1, None, [32] * 5)
        trace.record("send", "alice", 1, ("bob",), 5, 0, "")
        trace.close()
        traces.append(list(read(folder)))
    assert traces[0] == traces[1] and finished(tmp_path / "without") == ["alice-00001.jsonl"]


def test_a_full_disk_ends_the_trace_and_not_the_node(tmp_path: Path) -> None:
    """Complete parts stay; `failed` is called once; events recorded later are ignored."""
    if not os.path.exists("/dev/full"):
        pytest.skip("this system has no device that is always full")
    problems: list[str] = []
    trace = traced(tmp_path, problems)
    (tmp_path / ".alice-00002.parquet.unfinished").symlink_to("/dev/full")
    for now in (1, 1 + PART_NS):
        trace.poke(now)
    trace.record_run("deliver", "bob", 1, None, [32] * 10)
    for now in (1, 1 + PART_NS):
        trace.poke(now)
    wait_until(lambda: bool(problems))
    waiting = trace.backlog()
    for _ in range(3):
        trace.record_run("deliver", "bob", 1, None, [32] * node_trace.ROWS_PER_GROUP)
    assert trace.backlog() == waiting
    trace.close()
    trace.close()
    assert len(problems) == 1
    assert "trace of alice" in problems[0] and "No space left on device" in problems[0]
    assert finished(tmp_path) == ["alice-00001.parquet"]
    assert [event.kind for event in read(tmp_path)] == ["start"]


def test_invalid_events_end_the_trace_with_a_reason(tmp_path: Path) -> None:
    """A trace that no reader would accept is not written."""
    problems: list[str] = []
    trace = traced(tmp_path, problems)
    trace.record("send", "bob", 1, ("alice",), 5, 0, "")
    trace.close()
    assert len(problems) == 1 and "`send` of a message whose `sender` is another" in problems[0]
    assert list(tmp_path.iterdir()) == []


class SlowDisk:
    """Sinks that block on every group until they are released, and may then fail."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.broken = False

    def create(self, path: Path) -> FileSink:
        """A real sink, slowed down."""
        return cast(FileSink, SlowSink(create(path), self))


class SlowSink:
    """A sink on a slow disk. (Not a subclass: the real one may be compiled.)"""

    def __init__(self, sink: FileSink, disk: SlowDisk) -> None:
        self._sink = sink
        self._disk = disk
        self.close = sink.close
        self.abort = sink.abort

    def append(self, table: Table) -> None:
        """Wait until the disk is released; it may then fail."""
        self._disk.go.wait(PATIENCE)
        if self._disk.broken:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        self._sink.append(table)


def test_a_disk_that_is_too_slow_ends_the_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory stays bounded, the node does not wait, and what was taken is written in the end."""
    disk = SlowDisk()
    monkeypatch.setattr(trace_writer, "create", disk.create)
    problems: list[str] = []
    most = 20_000
    trace = NodeTrace(tmp_path, "live", "alice", problems.append, max_backlog=most)
    run = [32] * 5_000
    for first in range(1, 10 * most, len(run)):
        trace.record_run("deliver", "bob", first, None, run)
    assert len(problems) == 1 and "waiting for the disk" in problems[0]
    assert trace.backlog() <= most + len(run)
    disk.go.set()
    trace.close()
    events = list(read(tmp_path))
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert most < len(events) <= most + len(run) + 1
    assert events[-1].kind == "deliver" and len(problems) == 1


def test_closing_does_not_wait_forever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that hangs is reported, and the node can stop."""
    disk = SlowDisk()
    monkeypatch.setattr(trace_writer, "create", disk.create)
    problems: list[str] = []
    trace = traced(tmp_path, problems)
    trace.close(timeout=0.01)
    assert len(problems) == 1 and "within 0.01 s" in problems[0]
    disk.broken = True  # a second failure, which is not reported again
    disk.go.set()
    for thread in threading.enumerate():
        if thread.name == "trace of alice":
            thread.join(PATIENCE)
            assert not thread.is_alive()
    assert len(problems) == 1 and list(tmp_path.iterdir()) == []


KILLED = """
import sys, time
from beforehand.runtime.recording.node_trace import PART_NS, NodeTrace

trace = NodeTrace(sys.argv[1], "live", "alice", print)
for part in range(3):
    trace.record_run("deliver", "bob", 1 + 100 * part, None, [32] * 100)
    for now in (1, 1 + PART_NS):
        trace.poke(now)
trace.record_run("deliver", "bob", 301, None, [32] * 5_000)
while trace.backlog():
    time.sleep(0.001)
print("ready", flush=True)
time.sleep(60)
"""


def test_a_killed_process_loses_only_its_last_part(tmp_path: Path) -> None:
    """The others can be read, and have all events up to there."""
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGKILL)
    assert len(finished(tmp_path)) == 3
    assert [event.seq for event in read(tmp_path)] == list(range(1, 302))
    assert len(list(tmp_path.glob(".*.unfinished"))) == 1  # and nobody takes it for a trace


def test_names_of_files_are_safe_and_distinct() -> None:
    """Whatever a process is called: not hidden, in this folder, short enough, and its own."""
    stems = [stem(name) for name in NAMES]
    assert len(set(stems)) == len(NAMES)
    for name in stems:
        assert not name.startswith((".", "_")) and "/" not in name
        assert len(name) <= trace_writer.MAX_NAME and name.isascii()


@pytest.mark.parametrize("process", [name for name in NAMES if name])
def test_a_process_may_have_any_name(tmp_path: Path, process: str) -> None:
    """It stands in the rows as it is."""
    trace = traced(tmp_path, [], process)
    trace.close()
    assert {event.process for event in read(tmp_path)} == {process}


def test_two_incarnations_do_not_share_a_trace(tmp_path: Path) -> None:
    """The second one is refused; other processes may use the folder, also with similar names."""
    for process in ("a-00001", "a", "a-1"):
        traced(tmp_path, [], process).close()
    before = list(read(tmp_path))
    with pytest.raises(TraceError, match="already holds a trace of 'a'"):
        traced(tmp_path, [], "a")
    assert list(read(tmp_path)) == before and len(before) == 6


def test_an_unusable_folder_is_refused_at_once(tmp_path: Path) -> None:
    """The error is raised at the start, not reported by a later event."""
    (tmp_path / "file").touch()
    with pytest.raises(TraceError, match="choose a writable folder"):
        traced(tmp_path / "file" / "folder", [])
