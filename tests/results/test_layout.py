"""Output folders are recognised by their notes, and notes are written atomically."""

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
    """One is enough; a folder without any isn't recognised."""
    assert layout.kind_of(tmp_path) is None
    (tmp_path / mark).mkdir(parents=True)
    assert layout.kind_of(tmp_path) == kind


def test_notes_are_written_atomically(tmp_path: Path) -> None:
    """A note replaces an older one, and no temporary file remains, even after an error."""
    path = tmp_path / "_note.json"
    write_note(path, {"old": True})
    write_note(path, {"version": 1})
    assert json.loads(path.read_text()) == {"version": 1}
    with pytest.raises(TypeError):
        write_note(path, {"odd": object()})
    assert [file.name for file in tmp_path.iterdir()] == ["_note.json"]


def test_columns_of_a_schema() -> None:
    """They can be found, selected, and shown with a heading."""
    schema = Schema(text("run"), optional(integer("held_mean", "A mean.", "held")))
    assert schema.names == ["run", "held_mean"]
    assert schema.select("held_mean").names == ["held_mean"]
    column = schema.find("held_mean")
    assert column is not None and column.heading == "held" and column.nullable
    assert schema.find("other") is None and text("latency_p99").heading == "latency p99"
