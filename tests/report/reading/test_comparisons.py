"""Comparisons: one program under two protocols, and the same messages side by side."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from beforehand.report import ReportView
from tests.report import folders


def rewrite(folder: Path, **changes: Any) -> ReportView:
    """Change the note of a comparison, and read it again."""
    note = json.loads((folder / "_comparison.json").read_text())
    folders.write_note(folder / "_comparison.json", note | changes)
    return folders.read(folder)


def test_both_sides_are_drawn_from_their_own_traces(tmp_path: Path) -> None:
    """One breaks the order and the other keeps it, with the texts of the messages."""
    (view,) = folders.read(folders.write_comparison(tmp_path / "chat")).comparisons
    assert view.title == "chat: fifo and hybrid-sps, 2 messages each"
    assert view.incident is not None
    pictures = view.incident.pictures
    assert (pictures.left.verdict, pictures.right.verdict) == ("broken", "kept")
    for side in (pictures.left, pictures.right):
        assert "Pizza?" in side.svg and "Pizza!" in side.svg
    assert "5 % of all datagrams were lost, 5 % duplicated and 20 % delayed" in view.setting
    assert [row[0] for row in view.runs.rows] == ["fifo", "hybrid-sps"]


def test_a_message_may_have_another_number_in_the_other_run(tmp_path: Path) -> None:
    """There the answer is the seventh message of its sender; both pictures show the same message."""
    folder = folders.write_comparison(tmp_path / "chat")
    for file in (folder / "hybrid-sps").glob("*.parquet"):
        table = pq.read_table(file)
        rows = table.to_pylist()
        for row in rows:
            row["mid"] = 7 if row["sender"] == folders.PEOPLE[1] else row["mid"]
        pq.write_table(pa.Table.from_pylist(rows, table.schema), file)
    note = json.loads((folder / "_comparison.json").read_text())
    stale = folders.read(folder)
    assert "the diagram of the comparison chat" in stale.missing[0].what
    note["incident"]["runs"]["hybrid-sps"]["chain"][1] = f"{folders.PEOPLE[1]}#7"
    view = rewrite(folder, incident=note["incident"])
    (comparison,) = view.comparisons
    assert view.missing == () and comparison.incident is not None
    assert comparison.incident.pictures.right.verdict == "kept"
    assert "Pizza!" in comparison.incident.pictures.right.svg


def test_a_comparison_without_an_incident_is_complete(tmp_path: Path) -> None:
    """Nothing went wrong, so that there is nothing to draw."""
    view = rewrite(folders.write_comparison(tmp_path / "chat"), incident=None)
    assert view.missing == () and view.comparisons[0].incident is None


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"runs": []}, "_comparison.json lacks the runs"),
        ({"runs": [{"protocol": 5}]}, "_comparison.json lacks the protocol of a run"),
        ({"runs": [{"protocol": "fifo"}]}, "_comparison.json lacks the sends of a run"),
        ({"incident": {}}, "_comparison.json does not name two runs"),
        (
            {"incident": {"texts": ["a"], "runs": {"a": {}, "b": {}}}},
            "does not name the same messages",
        ),
        (
            {"incident": {"texts": ["a"], "runs": {"a": {"chain": ["x"]}, "b": {}}}},
            "has no message 'x'",
        ),
        ({"names": ["a", "b", "c", "d"]}, "has traces of 3 of 4 processes"),
    ],
)
def test_a_damaged_note_is_a_gap(tmp_path: Path, changes: dict[str, Any], problem: str) -> None:
    """With the command that makes another one."""
    view = rewrite(folders.write_comparison(tmp_path / "chat"), **changes)
    (gap,) = view.missing
    assert problem in gap.why and "run `beforehand demo --out" in gap.why
