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


def kinds(found: ClusterVerdict) -> list[str]:
    """Of the violations."""
    return [each.kind for each in found.violations]


def test_a_clean_run(tmp_path: Path) -> None:
    """Files in any order: c waits for b, who waits for a, who comes last by name of the file."""
    labels = {"z@1": "a", "b@1": "b", "c@1": "c"}
    write(tmp_path, "z@1", ("z@1", 1, ("b@1", "c@1")))
    write(tmp_path, "b@1", ("z@1", 1), ("b@1", 1, ("c@1",)))
    write(tmp_path, "c@1", ("z@1", 1), ("b@1", 1))
    found = judge(tmp_path, labels, [])
    assert found.clean and found.complete
    assert (found.sends, found.deliveries) == (2, 3)


def test_an_effect_before_its_cause(tmp_path: Path) -> None:
    """The sentence calls the processes by their labels."""
    write(tmp_path, "a@1", ("a@1", 1, ("b@1", "c@1")))
    write(tmp_path, "b@1", ("a@1", 1), ("b@1", 1, ("c@1",)))
    write(tmp_path, "c@1", ("b@1", 1), ("a@1", 1))
    found = judge(tmp_path, LABELS, [])
    assert kinds(found) == ["causal"] and not found.clean
    assert "c delivered b#1 before a#1, but a#1 happened before b#1" in found.violations[0].sentence


def test_losses_duplicates_and_inventions(tmp_path: Path) -> None:
    """Each is found, and nobody who waits for what follows an invention is blamed for it."""
    write(tmp_path, "a@1", ("c@1", 1), ("a@1", 1, ("b@1",)), ("a@1", 2, ("b@1", "c@1")))
    write(tmp_path, "b@1", ("a@1", 1), ("a@1", 1), ("a@1", 2))
    write(tmp_path, "c@1", ("b@1", 9), ("c@1", 1, ("a@1",)))
    found = judge(tmp_path, LABELS, [])
    assert kinds(found) == ["invented", "duplicate"]
    assert found.violations[0].process == "c"
    assert found.lost == ((("a", 2), "c"),)
    assert found.deliveries == 3


def test_a_broadcast_is_for_everybody(tmp_path: Path) -> None:
    """Also for its sender; who did not deliver it has lost it."""
    write(tmp_path, "a@1", ("a@1", 1, None), ("a@1", 1))
    write(tmp_path, "b@1", ("a@1", 1))
    write(tmp_path, "c@1")
    assert judge(tmp_path, LABELS, []).lost == ((("a", 1), "c"),)


def test_who_was_killed_is_excused(tmp_path: Path) -> None:
    """What it sent and what was sent to it may be missing, also if its trace is all gone."""
    write(tmp_path, "a@1", ("a@1", 1, ("b@1", "c@1")), ("c@1", 2))
    write(tmp_path, "b@1", ("c@1", 1), ("c@1", 3), ("a@1", 1))
    found = judge(tmp_path, LABELS, ["c"])
    assert found.clean
    assert (found.sends, found.deliveries) == (4, 4)


def test_the_order_of_the_killed_is_judged(tmp_path: Path) -> None:
    """After the end of its trace, too: its messages are in the order of their numbers."""
    write(tmp_path, "a@1", ("c@1", 1))
    write(tmp_path, "b@1", ("c@1", 3), ("c@1", 2))
    write(tmp_path, "c@1", ("c@1", 1, ("a@1",)), stopped=False)
    assert kinds(judge(tmp_path, LABELS, ["c"])) == ["causal", "fifo"]


@pytest.mark.parametrize("stopped", [True, False])
def test_a_trace_with_gaps_is_no_ground_for_a_verdict(tmp_path: Path, stopped: bool) -> None:
    """A process that lives to the end has to tell everything, and its end."""
    for process in LABELS:
        write(tmp_path, process)
    (tmp_path / "b@1.jsonl").unlink()
    if not stopped:
        write(tmp_path, "b@1", ("a@1", 1), stopped=False)
    with pytest.raises(TraceError, match="the trace of b has gaps or no end"):
        judge(tmp_path, LABELS, [])


def test_the_judge_stops_when_it_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And says so: losses are not known then."""
    monkeypatch.setattr(judging, "MAX_VIOLATIONS", 2)
    write(tmp_path, "a@1", ("a@1", 1, ("b@1",)))
    write(tmp_path, "b@1", ("a@1", 1), ("a@1", 1), ("a@1", 1), ("a@1", 1))
    write(tmp_path, "c@1")
    found = judge(tmp_path, LABELS, [])
    assert kinds(found) == ["duplicate", "duplicate"] and not found.complete


def test_deliveries_before_their_sendings_do_not_hang(tmp_path: Path) -> None:
    """If all wait for each other, the oracle is told what it must take for an invention."""
    write(tmp_path, "a@1", ("b@1", 1), ("a@1", 1, ("b@1",)))
    write(tmp_path, "b@1", ("a@1", 1), ("b@1", 1, ("a@1",)))
    write(tmp_path, "c@1")
    assert kinds(judge(tmp_path, LABELS, [])) == ["invented"]
