"""Programs: sends in a partial order, replayed under any protocol."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from beforehand.errors import ScenarioError
from beforehand.simulator import Program, Scenario, Send, run
from beforehand.trace import Recorder, create, read
from tests.simulator.traced_run import of_kind, traced

MS = 10**6
EVERYBODY = ["hybrid", "hybrid-sps", "mattern", "cykas", "rst", "ks", "fifo", "raw"]


@pytest.mark.parametrize("protocol", EVERYBODY)
def test_a_send_follows_what_it_names(protocol: str) -> None:
    """Sends and deliveries that a send names are before it at its process, under any protocol."""
    program = Program(
        [
            Send("start", "a", ("b", "c")) if protocol not in ("mattern", "cykas") else
            Send("start", "a", ("b",)),
            Send("more", "a", ("c",), after=("start",)),
            Send("reply", "b", ("a",), after=("start",)),
            Send("late", "c", ("a",), after=("more",), pause_ns=7 * MS),
            Send("done", "a", ("b",), after=("reply", "late"), at_ns=300 * MS),
        ]
    )  # fmt: skip
    result, events = traced(
        audit=True, protocol=protocol, workload="replay", program=program, delay="5ms"
    )
    assert result.outcome == "complete" and result.metrics.sent == 5
    order = [
        (event.kind, f"{event.sender}#{event.mid}")
        for event in of_kind(events, "send", "deliver")
        if event.process == "a"
    ]
    assert order.index(("send", "a#1")) < order.index(("send", "a#2"))
    assert order[-1] == ("send", "a#3") and ("deliver", "c#1") in order
    times = {(e.kind, e.process, e.sender, e.mid): e.time_ns for e in events}
    assert times["send", "a", "a", 3] == 300 * MS
    assert times["send", "c", "c", 1] == times["deliver", "c", "a", 2] + 7 * MS


def test_sends_that_name_nothing_are_not_ordered() -> None:
    """Both are sent at their own time, the one with the later time later."""
    program = Program([Send("x", "a", ("b",), at_ns=9 * MS), Send("y", "a", ("b",))])
    _, events = traced(protocol="raw", workload="replay", program=program)
    assert [event.time_ns for event in of_kind(events, "send")] == [0, 9 * MS]


def test_a_recorded_run_is_a_program(tmp_path: Path) -> None:
    """A trace of one protocol is replayed under others: the same messages, in an order that fits."""
    path = tmp_path / "trace.parquet"
    recorded = Scenario(protocol="hybrid", processes=6, messages=15, workload="request-reply:0.4")
    with Recorder("r", create(path)) as recorder:
        run(recorded, recorder=recorder)
    original = {(e.process, e.mid): e.to for e in read(path) if e.kind == "send"}
    program = Program.read(path)
    assert len(program.sends) == len(original) > 100
    for protocol in ("mattern", "rst", "hybrid"):
        result, events = traced(audit=True, protocol=protocol, workload="replay", program=program)
        assert result.clean and result.outcome == "complete"
        assert {(e.process, e.mid): e.to for e in of_kind(events, "send")} == original
    # On the same network the protocol that was recorded takes about as long as before.
    before = max(e.time_ns for e in read(path))
    assert 0.5 < result.metrics.execution_ns / before < 2.0


def test_a_program_from_json_lines(tmp_path: Path) -> None:
    """One receiver may be written as a name; omitted fields have their defaults."""
    path = tmp_path / "program.jsonl"
    lines = [
        {"id": "m1", "sender": "alice", "to": "bob", "payload_bytes": 7},
        {"id": "m2", "sender": "bob", "to": ["carol", "alice"], "after": ["m1"], "pause_ns": 5},
    ]
    path.write_text("\n".join(map(json.dumps, lines)) + "\n\n")
    program = Program.read(path)
    assert program.processes == ("alice", "bob", "carol")
    assert program.sends == (
        Send("m1", "alice", ("bob",), payload_bytes=7),
        Send("m2", "bob", ("carol", "alice"), ("m1",), pause_ns=5),
    )
    assert run(Scenario(workload="replay", program=program), audit=True).clean


REFUSED = {
    "nothing": ([], "no sends"),
    "an id twice": ([Send("x", "a", ("b",))] * 2, "two sends have the id 'x'"),
    "no receivers": ([Send("x", "a", ())], "no receivers"),
    "a cause that is not there": ([Send("x", "a", ("b",), ("y",))], "'y', which isn't the id"),
    "a cause elsewhere": (
        [Send("x", "a", ("b",)), Send("y", "c", ("b",), ("x",))],
        "which c cannot know: it goes from a to b",
    ),
    "a circle": (
        [Send("x", "a", ("b",), ("y",)), Send("y", "b", ("a",), ("x",))],
        "cyclic, so it can never run: x comes after y comes after x",
    ),
    "itself": ([Send("x", "a", ("b",), ("x",))], "x comes after x"),
    "the past": ([Send("x", "a", ("b",), at_ns=-1)], "at_ns is -1"),
    "half a nanosecond": ([Send("x", "a", ("b",), pause_ns=0.5)], "pause_ns is 0.5"),  # type: ignore[arg-type]
    "a name without end": ([Send("x", "a" * 300, ("b",))], "more than 255"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_impossible_programs_are_refused(name: str) -> None:
    """Before anything runs, and with an error that names the send and the problem."""
    sends, reason = REFUSED[name]
    with pytest.raises(ScenarioError, match=reason):
        Program(sends)


def test_a_receiver_that_does_not_exist_is_refused() -> None:
    """If the processes are given, everybody must be one of them."""
    with pytest.raises(ScenarioError, match="its receiver 'c' isn't a process .* a, b"):
        Program([Send("x", "a", ("c",))], ["a", "b"])


BAD_FILES = {
    "text": ('{"id": "x"\n', "line 1: not a send"),
    "field": (
        '{"id": "x", "sender": "a", "to": "b", "colour": 1}\n',
        "line 1: .*unknown colour; the fields: after, at_ns",
    ),
    "missing": ('{"id": "x", "to": "b"}\n', "line 1: .*sender"),
    "later": ('{"id": "x", "sender": "a", "to": "b"}\n["id"]\n', "line 2: not a send"),
    "after": ('{"id": "x", "sender": "a", "to": "b", "after": "y"}\n', "line 1: .*after is 'y'"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_files_are_refused_with_their_line(name: str, tmp_path: Path) -> None:
    """The file, the line and how to write it."""
    content, reason = BAD_FILES[name]
    path = tmp_path / "program.jsonl"
    path.write_text(content)
    with pytest.raises(ScenarioError, match=reason):
        Program.read(path)


def test_dependencies_on_stopped_processes_are_waived() -> None:
    """c's message will never come; a goes on when it gives up on c."""
    program = Program(
        [
            Send("never", "c", ("a",), at_ns=100 * MS),
            Send("go on", "a", ("b",), after=("never",)),
        ]
    )
    fields: dict[str, Any] = {"workload": "replay", "program": program, "delay": "5ms"}
    stuck, _ = traced(**fields, stops=("c@50ms",))
    assert stuck.metrics.sent == 0 and stuck.metrics.unsent == 2
    _, events = traced(**fields, stops=("c@50ms",), drop_after="30ms")
    (sent,) = of_kind(events, "send")
    assert (sent.process, sent.time_ns) == ("a", 80 * MS)


def test_equal_programs_have_equal_digests() -> None:
    """And so have scenarios; any difference shows."""
    one = Program([Send("x", "a", ("b",))])
    same = Program([Send("x", "a", ("b",))])
    other = Program([Send("x", "a", ("b",), pause_ns=1)])
    assert one.digest() == same.digest() != other.digest()
    digests = {
        Scenario(workload="replay", program=program).digest() for program in (one, same, other)
    }
    assert len(digests) == 2
    assert Scenario().digest() == Scenario().digest() != Scenario(seed=2).digest()
