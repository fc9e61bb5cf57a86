"""Outputs are recognised by their notes, and files appear whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from beforehand.results import layout
from beforehand.results.notes import write_note
from beforehand.results.schema import Schema, integer, optional, text


@pytest.mark.parametrize(
    ("mark", "kind"),
    [(mark, kind) for kind, marks in layout.MARKS for mark in marks],
)
def test_every_mark_identifies_its_kind(mark: str, kind: str, tmp_path: Path) -> None:
    """Each alone is enough; a folder without any is none of ours."""
    assert layout.kind_of(tmp_path) is None
    (tmp_path / mark).mkdir(parents=True)
    assert layout.kind_of(tmp_path) == kind


def test_a_note_appears_when_it_is_complete(tmp_path: Path) -> None:
    """Over an older one, and nothing is left of its temporary file."""
    path = tmp_path / "_note.json"
    write_note(path, {"old": True})
    write_note(path, {"version": 1})
    assert json.loads(path.read_text()) == {"version": 1}
    with pytest.raises(TypeError):
        write_note(path, {"odd": object()})
    assert [each.name for each in tmp_path.iterdir()] == ["_note.json"]


def test_columns_of_a_schema() -> None:
    """By name, as a part, and as people call them."""
    schema = Schema(text("run"), optional(integer("held_mean", "A mean.", "held")))
    assert schema.names == ["run", "held_mean"]
    assert schema.select("held_mean").names == ["held_mean"]
    column = schema.find("held_mean")
    assert column is not None and column.heading == "held" and column.nullable
    assert schema.find("other") is None and text("latency_p99").heading == "latency p99"
