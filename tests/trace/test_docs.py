"""docs/trace-format.md is correct and complete."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

from beforehand.causality import MessageId, Oracle, Violation
from beforehand.trace import KINDS, VERSION, Event
from tests.trace.events import read_text, write

TEXT = (Path(__file__).parents[2] / "docs" / "trace-format.md").read_text(encoding="utf-8")
(EXAMPLE,) = re.findall(r"^```jsonl\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def rows_of(title: str) -> list[list[str]]:
    """The cells of the table in one section, without its head."""
    section = TEXT.split(f"\n## {title}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_every_column_is_documented(tmp_path: Path) -> None:
    """In the order of the schema, with the type that is really written and what may be null."""
    parquet: Any = import_module("pyarrow.parquet")
    schema = parquet.read_schema(write(tmp_path / "x.parquet", []))
    types = {"list<element: string not null>": "list of string"}
    assert [(name.strip("`"), kind, null) for name, kind, null, *_ in rows_of("Columns")] == [
        (field.name, types.get(str(field.type), str(field.type)), "yes" if field.nullable else "no")
        for field in schema
    ]


def test_the_defaults_are_documented(tmp_path: Path) -> None:
    """What the table promises for a field that is left out is what reading gives."""
    (event,) = read_text(tmp_path / "x.jsonl", '{"process": "alice", "kind": "start"}')
    defaults = {name.strip("`"): default for name, _, _, default, _ in rows_of("Columns")}
    labels = {None: "null", 0: "0", "": '`""`'}
    for field in Event._fields:
        if field not in ("process", "kind", "seq"):
            assert defaults[field] == labels[getattr(event, field)]


def test_every_kind_is_documented() -> None:
    """In the order of the code."""
    assert [row[0].strip("`") for row in rows_of("Kinds")] == list(KINDS)


def test_the_version_is_documented() -> None:
    """The page is about the version that is written."""
    assert f"This page is version {VERSION}." in TEXT
    assert EXAMPLE.startswith(f'{{"beforehand-trace": {VERSION}}}\n')


def test_the_example_can_be_read(tmp_path: Path) -> None:
    """It is a trace, and shows what the sentence before it describes."""
    events = read_text(tmp_path / "x.jsonl", EXAMPLE)
    assert [(event.process, event.seq, event.kind) for event in events] == [
        ("alice", 1, "send"),
        ("bob", 1, "deliver"),
        ("bob", 2, "send"),
        ("carol", 1, "deliver"),
        ("carol", 2, "deliver"),
    ]
    assert events[0].to == ("bob", "carol")
    oracle = Oracle()
    broken: list[Violation] = []
    for event in events:
        if event.kind == "send":
            oracle.send(event.process, event.to or (), event.mid)
        else:
            message = MessageId(event.sender or "", event.mid or 0)
            broken += oracle.deliver(event.process, message)
    assert [(late.process, str(late.message)) for late in broken] == [("carol", "alice#1")]
