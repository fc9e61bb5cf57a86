"""The verdict on a cluster: traces from several files, put in order, before the oracle."""

from __future__ import annotations

from pathlib import Path

import pytest

from beforehand import trace
from beforehand.errors import TraceError
from beforehand.runtime.cluster import verdict as judging
from beforehand.runtime.cluster.verdict import ClusterVerdict, judge

LABELS = {"a@1": "a", "b@1": "b", "c@1": "c"}

Line = tuple[str, int] | tuple[str, int, tuple[str, ...] | None]  # a delivery, or a causal-send


def write(folder: Path, process: str, *lines: Line, stopped: bool = True) -> None:
    """The trace of one process: ("b@1", 2) is a delivery, ("a@1", 1, ("b@1",)) a causal-send."""
    with trace.Recorder("run", trace.create(folder / f"{process}.jsonl")) as recorder:
        recorder.record(
            process, 1, "start", None, 0, None, time_ns=0, payload_bytes=0, meta_bytes=0, detail=""
        )
        for seq, line in enumerate(lines, 2):
            kind = "send" if len(line) == 3 else "deliver"
            to = line[2] if len(line) == 3 else None
            recorder.record(
                process,
                seq,
                kind,
                line[0],
                line[1],
                to,
                time_ns=0,
                payload_bytes=0,
                meta_bytes=0,
                detail="",
            )
        if stopped:
            recorder.record(
                process,
                len(lines) + 2,
                "stop",
                None,
                0,
                None,
                time_ns=0,
                payload_bytes=0,
                meta_bytes=0,
                detail="",
            )


def kinds(verdict: ClusterVerdict) -> list[str]:
    """Of the violations."""
    return [violation.kind for violation in verdict.violations]


def test_a_clean_run(tmp_path: Path) -> None:
    """Files in any order: c waits for b, who waits for a, who comes last by name of the file."""
    labels = {"z@1": "a", "b@1": "b", "c@1": "c"}
    write(tmp_path, "z@1", ("z@1", 1, ("b@1", "c@1")))
    write(tmp_path, "b@1", ("z@1", 1), ("b@1", 1, ("c@1",)))
    write(tmp_path, "c@1", ("z@1", 1), ("b@1", 1))
    verdict = judge(tmp_path, labels, [])
    assert verdict.clean and verdict.complete
    assert (verdict.sends, verdict.deliveries) == (2, 3)


def test_an_effect_before_its_cause(tmp_path: Path) -> None:
    """The sentence uses the labels of the processes."""
    write(tmp_path, "a@1", ("a@1", 1, ("b@1", "c@1")))
    write(tmp_path, "b@1", ("a@1", 1), ("b@1", 1, ("c@1",)))
    write(tmp_path, "c@1", ("b@1", 1), ("a@1", 1))
    verdict = judge(tmp_path, LABELS, [])
    assert kinds(verdict) == ["causal"] and not verdict.clean
    assert (
        "c delivered b#1 before a#1, but a#1 happened before b#1" in verdict.violations[0].sentence
    )


def test_losses_duplicates_and_inventions(tmp_path: Path) -> None:
    """Each is reported, and processes that wait for a message after an invented one are not blamed."""
    write(tmp_path, "a@1", ("c@1", 1), ("a@1", 1, ("b@1",)), ("a@1", 2, ("b@1", "c@1")))
    write(tmp_path, "b@1", ("a@1", 1), ("a@1", 1), ("a@1", 2))
    write(tmp_path, "c@1", ("b@1", 9), ("c@1", 1, ("a@1",)))
    verdict = judge(tmp_path, LABELS, [])
    assert kinds(verdict) == ["invented", "duplicate"]
    assert verdict.violations[0].process == "c"
    assert verdict.lost == ((("a", 2), "c"),)
    assert verdict.deliveries == 3


def test_a_broadcast_reaches_all_remaining_peers(tmp_path: Path) -> None:
    """Including the sender; a process that did not deliver it has lost it."""
    write(tmp_path, "a@1", ("a@1", 1, None), ("a@1", 1))
    write(tmp_path, "b@1", ("a@1", 1))
    write(tmp_path, "c@1")
    assert judge(tmp_path, LABELS, []).lost == ((("a", 1), "c"),)


def test_killed_processes_are_excused(tmp_path: Path) -> None:
    """What it sent and what was sent to it may be missing, also if its trace is all gone."""
    write(tmp_path, "a@1", ("a@1", 1, ("b@1", "c@1")), ("c@1", 2))
    write(tmp_path, "b@1", ("c@1", 1), ("c@1", 3), ("a@1", 1))
    verdict = judge(tmp_path, LABELS, ["c"])
    assert verdict.clean
    assert (verdict.sends, verdict.deliveries) == (4, 4)


def test_the_order_of_the_killed_is_judged(tmp_path: Path) -> None:
    """After the end of its trace, too: its messages are in the order of their numbers."""
    write(tmp_path, "a@1", ("c@1", 1))
    write(tmp_path, "b@1", ("c@1", 3), ("c@1", 2))
    write(tmp_path, "c@1", ("c@1", 1, ("a@1",)), stopped=False)
    assert kinds(judge(tmp_path, LABELS, ["c"])) == ["causal", "fifo"]


@pytest.mark.parametrize("stopped", [True, False])
def test_a_trace_with_gaps_gives_no_verdict(tmp_path: Path, stopped: bool) -> None:
    """The trace of a process that survives must be complete, with its stop."""
    for process in LABELS:
        write(tmp_path, process)
    (tmp_path / "b@1.jsonl").unlink()
    if not stopped:
        write(tmp_path, "b@1", ("a@1", 1), stopped=False)
    with pytest.raises(TraceError, match="the trace of b has gaps or no end"):
        judge(tmp_path, LABELS, [])


def test_the_judge_stops_at_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The verdict is marked incomplete: losses are not known."""
    monkeypatch.setattr(judging, "MAX_VIOLATIONS", 2)
    write(tmp_path, "a@1", ("a@1", 1, ("b@1",)))
    write(tmp_path, "b@1", ("a@1", 1), ("a@1", 1), ("a@1", 1), ("a@1", 1))
    write(tmp_path, "c@1")
    verdict = judge(tmp_path, LABELS, [])
    assert kinds(verdict) == ["duplicate", "duplicate"] and not verdict.complete


def test_deliveries_before_their_sendings_do_not_hang(tmp_path: Path) -> None:
    """If all wait for each other, the oracle gets a delivery without a send, an invented one."""
    write(tmp_path, "a@1", ("b@1", 1), ("a@1", 1, ("b@1",)))
    write(tmp_path, "b@1", ("a@1", 1), ("b@1", 1, ("a@1",)))
    write(tmp_path, "c@1")
    assert kinds(judge(tmp_path, LABELS, [])) == ["invented"]
