"""Outputs of the pipeline in which every untrusted text attempts an injection."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from tests.report.folders import write_demo

RAN: Final = "window.ran = 1"
SCRIPT: Final = f"</script><script>{RAN}</script>"
IMAGE: Final = f"\"'><img src=x onerror='{RAN}'>"
LINK: Final = f"javascript:{RAN}"
BACKWARDS: Final = "\u202e\u05e9\u05dc\u05d5\u05dd"  # reverses the text after it
CONTROL: Final = "a\x00b\x1b[31mc\u2028\x7f"
LONG: Final = "x" * 10_000

NAMES: Final = (f"{SCRIPT}{IMAGE}", f"{BACKWARDS}{CONTROL}]]>`{{{{7*7}}}}", f"{LONG}<b>")
TAIL: Final = f" {IMAGE}{SCRIPT}{{{{7*7}}}}"  # appended to all other texts
FOLDER: Final = "\"'><img src=x onerror=alert(1)>"  # file names can't contain a slash

# Columns that our own code interprets; changing them would be damage, not an injection.
KEPT: Final = {
    "kind",
    "process",
    "sender",
    "early",
    "chain",
    "to",
    "wave",
    "scenario",
    "verdict",
    "outcome",
    "y",
    "x",
}
KEPT_NOTES: Final = {"name", "traced", "sources", "holds", "tables", "when"}


def write_hostile_demo(parent: Path) -> Path:
    """Write a complete demo with hostile texts, in a folder with a hostile name."""
    folder = write_demo(parent / FOLDER, NAMES)
    for file in folder.rglob("*.parquet"):
        pq.write_table(_poisoned_table(pq.read_table(file)), file)
    for file in folder.rglob("*.json"):
        note = _changed(json.loads(file.read_text()), _poisoned)
        # A lone surrogate can be written in JSON, but not in UTF-8.
        note["sentences"] = [*note.get("sentences", ()), f"\ud800{TAIL}"]
        file.write_text(json.dumps(note))
    return folder


def _poisoned(text: str) -> str:
    return text if any(name in text for name in NAMES) else f"{text}{TAIL}"


def _poisoned_table(table: pa.Table) -> pa.Table:
    rows = [
        {name: value if name in KEPT else _changed(value, _poisoned) for name, value in row.items()}
        for row in table.to_pylist()
    ]
    return pa.Table.from_pylist(rows, schema=table.schema)


def _changed(value: Any, change: Callable[[str], str]) -> Any:
    """Return a copy with all texts changed, except field names and kept fields."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_changed(item, change) for item in value]
    if isinstance(value, dict):
        return {
            name: item if name in KEPT | KEPT_NOTES else _changed(item, change)
            for name, item in value.items()
        }
    return value
