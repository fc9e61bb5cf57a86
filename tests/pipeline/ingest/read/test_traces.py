"""Traces in the project's own format, as JSON lines and as Parquet."""

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
    """Events as JSON lines."""
    return "".join(json.dumps(event) + "\n" for event in events)


def send(process: str, mid: int, *to: str, **fields: Any) -> dict[str, Any]:
    """A causal-send event."""
    return {
        "process": process,
        "kind": "send",
        "sender": process,
        "mid": mid,
        "to": list(to) or None,
        **fields,
    }


def deliver(process: str, sender: str, mid: int, **fields: Any) -> dict[str, Any]:
    """A delivery event."""
    return {"process": process, "kind": "deliver", "sender": sender, "mid": mid, **fields}


CONVERSATION = (
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
    """Its causes are the process's last send and the deliveries since."""
    ingested = trace(*CONVERSATION)
    assert ingested.after == {
        "alice#1": set(),
        "bob#1": {"alice#1"},
        "carol#1": {"alice#1", "bob#1"},
        "carol#2": {"carol#1"},
    }
    assert ingested.messages[0]["payload_bytes"] == 12
    assert len(ingested.events) == ingested.file.accepted == 7
    assert [run.run for run in ingested.summary.runs] == [
        "talk"
    ]  # the events do not name their run


def test_a_run_may_span_several_files() -> None:
    """Each node writes its own file; events with the same run name belong together."""
    alice, bob = send("alice", 1, "bob", run="r1"), deliver("bob", "alice", 1, run="r1")
    files = {"a.jsonl": lines(alice), "b.jsonl": lines(bob, send("bob", 1, "alice", run="r1"))}
    ingested = ingest_files({f"{FOLDER}/{name}": text.encode() for name, text in files.items()})
    assert [(r.run, r.messages, r.events) for r in ingested.summary.runs] == [("r1", 2, 3)]
    assert ingested.after["bob#1"] == {"alice#1"}


def test_a_broadcast_is_for_all_processes_of_the_run() -> None:
    """This includes processes that never send or deliver."""
    ingested = trace(
        send("alice", 1), deliver("bob", "alice", 1), {"process": "dave", "kind": "start"}
    )
    assert ingested.messages[0]["to"] == ("bob", "dave")


def test_a_recorded_run_yields_the_program_it_followed(tmp_path: Path) -> None:
    """Sends and causes are the same as when the simulator reads the trace itself."""
    path = tmp_path / "trace.parquet"
    with Recorder("r", create(path)) as recorder:
        run(Scenario(processes=5, messages=8, seed=3), recorder=recorder)
    ingested = ingest_one(path.read_bytes(), name="trace.parquet")
    events = list(read(path))
    assert ingested.file.rows == ingested.file.accepted == len(events)
    assert sorted((e["process"], e["seq"]) for e in ingested.events) == sorted(
        (e.process, e.seq) for e in events
    )
    expected = {
        (s.id, s.sender, s.to, frozenset(s.after)) for s in Program.from_trace(events).sends
    }
    sends = program_of(ingested.run("r")).sends
    assert {(s.id, s.sender, s.to, frozenset(s.after)) for s in sends} == expected


def test_the_delivery_of_an_unsent_message_is_kept_and_flagged() -> None:
    """The event is kept for an audit, but a replay cannot wait for the message."""
    ingested = trace(deliver("bob", "ghost", 1), send("bob", 1, "alice"))
    assert ingested.messages[0]["after"] == () and ingested.messages[0]["flags"] == (NOT_IN_LOG,)
    assert len(ingested.events) == 2


def test_the_delivery_of_a_message_for_others_is_not_a_cause() -> None:
    """In a program, a send may only follow messages that its process receives."""
    ingested = trace(send("alice", 1, "carol"), deliver("bob", "alice", 1), send("bob", 1, "carol"))
    assert ingested.messages[1]["after"] == () and ingested.messages[1]["flags"] == (NOT_IN_LOG,)


def test_sends_that_follow_themselves_are_not_messages() -> None:
    """Their events are kept, so that an audit can report what is wrong."""
    ingested = trace(
        deliver("alice", "bob", 1),
        send("alice", 1, "bob"),
        deliver("bob", "alice", 1),
        send("bob", 1, "alice"),
    )
    assert ingested.messages == [] and len(ingested.events) == 4
    assert ingested.summary.flags == {"sent after itself, so no message": 2}


def test_duplicate_and_contradicting_events() -> None:
    """A copy is a duplicate; another event with the same seq and a second send are rejected."""
    start = {"process": "p", "kind": "start", "seq": 1}
    ingested = trace(start, start, {**start, "detail": "why"}, send("p", 1, "q"), send("p", 1, "r"))
    assert (ingested.file.accepted, ingested.file.duplicates, ingested.file.rejected) == (2, 1, 2)
    assert any("same seq" in reason for _, reason in ingested.reasons)


def test_a_second_send_of_one_message_is_rejected() -> None:
    """A number identifies one message."""
    ingested = trace(send("p", 1, "q"), send("p", 1, "r"))
    assert [reason for _, reason in ingested.reasons] == [
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
    """The other lines are kept; an unknown field is an error in the project's own format."""
    ingested = ingest_one(lines(*CONVERSATION) + line + "\n")
    [(position, rejection)] = ingested.reasons
    assert position == 8 and reason in rejection and ingested.file.accepted == 7


def test_a_file_of_a_newer_version_is_refused() -> None:
    """Its fields may have another meaning."""
    ingested = ingest_one('{"beforehand-trace": 2}\n' + lines(*CONVERSATION))
    assert ingested.reasons[0][0] == 0 and "upgrade beforehand" in ingested.reasons[0][1]


def test_a_damaged_parquet_file_is_one_reject(tmp_path: Path) -> None:
    """The file is truncated, or overwritten in the middle."""
    path = tmp_path / "t.parquet"
    with Recorder("r", create(path)) as recorder:
        run(Scenario(processes=3, messages=5), recorder=recorder)
    whole = path.read_bytes()
    for damaged in (whole[: len(whole) // 2], whole[:4] + b"\0" * 400 + whole[404:]):
        ingested = ingest_one(damaged)
        assert ingested.file.format == "trace" and ingested.file.accepted == 0
        [(_, reason)] = ingested.reasons
        assert "copy it again" in reason


def test_a_parquet_file_with_other_columns_is_one_reject(tmp_path: Path) -> None:
    """The reason lists its columns."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"colour": ["red"]}), tmp_path / "x.parquet")
    ingested = ingest_one((tmp_path / "x.parquet").read_bytes())
    assert "not a trace: its columns are colour" in ingested.reasons[0][1]
