"""Our own traces, as lines of JSON and as Parquet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from beforehand.pipeline.ingest.resolve.outcomes import NOT_IN_LOG
from beforehand.pipeline.replay import program_of
from beforehand.simulator import Scenario, run
from beforehand.simulator.program import Program
from beforehand.trace import Recorder, create, read
from tests.pipeline.ingest.plain import FOLDER, Ingested, ingest_files, ingest_one


def lines(*events: dict[str, Any]) -> str:
    """A trace as text."""
    return "".join(json.dumps(each) + "\n" for each in events)


def send(process: str, mid: int, *to: str, **more: Any) -> dict[str, Any]:
    """A causal-send."""
    return {
        "process": process,
        "kind": "send",
        "sender": process,
        "mid": mid,
        "to": list(to) or None,
        **more,
    }


def deliver(process: str, sender: str, mid: int, **more: Any) -> dict[str, Any]:
    """A delivery."""
    return {"process": process, "kind": "deliver", "sender": sender, "mid": mid, **more}


TALK = (
    send("alice", 1, "bob", "carol", payload_bytes=12),
    deliver("bob", "alice", 1),
    send("bob", 1, "carol"),
    deliver("carol", "alice", 1),
    deliver("carol", "bob", 1),
    send("carol", 1, "alice"),
    send("carol", 2, "bob"),
)


def trace(*events: dict[str, Any]) -> Ingested:
    """Ingest a trace."""
    return ingest_one(lines(*events), name="talk.jsonl")


def test_a_send_follows_what_its_process_did_before() -> None:
    """Its last send, and the deliveries since."""
    found = trace(*TALK)
    assert found.after == {
        "alice#1": set(),
        "bob#1": {"alice#1"},
        "carol#1": {"alice#1", "bob#1"},
        "carol#2": {"carol#1"},
    }
    assert found.messages[0]["payload_bytes"] == 12
    assert len(found.events) == found.file.accepted == 7
    assert [each.run for each in found.summary.runs] == ["talk"]  # it has no name of its own


def test_runs_keep_their_names_over_several_files() -> None:
    """Nodes write a file each; what they tell of one run belongs together."""
    alice, bob = send("alice", 1, "bob", run="r1"), deliver("bob", "alice", 1, run="r1")
    files = {"a.jsonl": lines(alice), "b.jsonl": lines(bob, send("bob", 1, "alice", run="r1"))}
    found = ingest_files({f"{FOLDER}/{name}": text.encode() for name, text in files.items()})
    assert [(r.run, r.messages, r.events) for r in found.summary.runs] == [("r1", 2, 3)]
    assert found.after["bob#1"] == {"alice#1"}


def test_everybody_is_all_processes_of_the_run() -> None:
    """Also those who only deliver."""
    found = trace(
        send("alice", 1), deliver("bob", "alice", 1), {"process": "dave", "kind": "start"}
    )
    assert found.messages[0]["to"] == ("bob", "dave")


def test_a_recorded_run_gives_the_program_that_it_followed(tmp_path: Path) -> None:
    """The same sends, after the same ones, as when the simulator reads the trace itself."""
    path = tmp_path / "trace.parquet"
    with Recorder("r", create(path)) as recorder:
        run(Scenario(processes=5, messages=8, seed=3), recorder=recorder)
    found = ingest_one(path.read_bytes(), name="trace.parquet")
    events = list(read(path))
    assert found.file.rows == found.file.accepted == len(events)
    assert sorted((e["process"], e["seq"]) for e in found.events) == sorted(
        (e.process, e.seq) for e in events
    )
    told = {(s.id, s.sender, s.to, frozenset(s.after)) for s in Program.from_trace(events).sends}
    mine = program_of(found.run("r")).sends
    assert {(s.id, s.sender, s.to, frozenset(s.after)) for s in mine} == told


def test_the_delivery_of_what_nobody_sent_is_kept_and_flagged() -> None:
    """The event is there for an audit; a replay cannot wait for it."""
    found = trace(deliver("bob", "ghost", 1), send("bob", 1, "alice"))
    assert found.messages[0]["after"] == () and found.messages[0]["flags"] == (NOT_IN_LOG,)
    assert len(found.events) == 2


def test_the_delivery_of_what_was_for_others_is_no_cause() -> None:
    """A program may only follow what its process can see."""
    found = trace(send("alice", 1, "carol"), deliver("bob", "alice", 1), send("bob", 1, "carol"))
    assert found.messages[1]["after"] == () and found.messages[1]["flags"] == (NOT_IN_LOG,)


def test_sends_that_follow_themselves_are_no_messages() -> None:
    """Their events are kept, so that an audit can say what is wrong."""
    found = trace(
        deliver("alice", "bob", 1),
        send("alice", 1, "bob"),
        deliver("bob", "alice", 1),
        send("bob", 1, "alice"),
    )
    assert found.messages == [] and len(found.events) == 4
    assert found.summary.flags == {"sent after itself, so no message": 2}


def test_copies_and_contradictions() -> None:
    """The same row again is a duplicate; another one in its place is rejected; so is a second send."""
    start = {"process": "p", "kind": "start", "seq": 1}
    found = trace(start, start, {**start, "detail": "why"}, send("p", 1, "q"), send("p", 1, "r"))
    assert (found.file.accepted, found.file.duplicates, found.file.rejected) == (2, 1, 2)
    assert any("same seq" in reason for _, reason in found.reasons)


def test_a_second_send_of_one_message_is_rejected() -> None:
    """A number is for one message."""
    found = trace(send("p", 1, "q"), send("p", 1, "r"))
    assert [reason for _, reason in found.reasons] == [
        "the message p#1 was sent before (talk.jsonl, 1)"
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"process": "p", "kind": "start", "colour": 1}', "there is no field 'colour'"),
        ('{"process": "p"}', "`kind` is missing"),
        ('{"process": "p", "kind": "start", "time_ns": 9223372036854775808}', "more than 64 bits"),
        ('{"process": "p", "kind": "sta', "not JSON"),
        ("[1]", "is not a JSON object"),
    ],
)
def test_bad_lines_are_rejected(line: str, reason: str) -> None:
    """The others are kept; an unknown field is an error in our own format."""
    found = ingest_one(lines(*TALK) + line + "\n")
    [(position, told)] = found.reasons
    assert position == 8 and reason in told and found.file.accepted == 7


def test_a_newer_version_is_refused_whole() -> None:
    """Nothing in it can be trusted to mean what it seems to."""
    found = ingest_one('{"beforehand-trace": 2}\n' + lines(*TALK))
    assert found.reasons[0][0] == 0 and "upgrade beforehand" in found.reasons[0][1]


def test_a_damaged_parquet_file_is_one_reject(tmp_path: Path) -> None:
    """Cut off, or overwritten in the middle."""
    path = tmp_path / "t.parquet"
    with Recorder("r", create(path)) as recorder:
        run(Scenario(processes=3, messages=5), recorder=recorder)
    whole = path.read_bytes()
    for damaged in (whole[: len(whole) // 2], whole[:4] + b"\0" * 400 + whole[404:]):
        found = ingest_one(damaged)
        assert found.file.format == "trace" and found.file.accepted == 0
        [(_, reason)] = found.reasons
        assert "copy it again" in reason


def test_a_parquet_file_of_something_else_is_one_reject(tmp_path: Path) -> None:
    """It says which columns it has."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"colour": ["red"]}), tmp_path / "x.parquet")
    found = ingest_one((tmp_path / "x.parquet").read_bytes())
    assert "not a trace: its columns are colour" in found.reasons[0][1]
