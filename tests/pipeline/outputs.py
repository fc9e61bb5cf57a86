"""The tables and notes of an output folder in a form in which two of them can be compared."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

WAVE = re.compile(r"\d{5}-[0-9a-f]{8}")
# What depends on when, where and how an output was made, or on how fast the machine is.
PROVENANCE = {"command", "commands", "environment", "when"}
NONDETERMINISTIC = {"wave", "seconds"}


@dataclass(frozen=True)
class Output:
    """All tables by their paths in the folder, and all notes and texts."""

    schemas: dict[str, list[tuple[str, str]]]  # table -> names and types of its columns
    columns: dict[str, dict[str, list[Any]]]  # table -> column -> values, rows sorted as a whole
    texts: dict[str, Any]

    def rows(self, table: str) -> int:
        """How many rows a table has."""
        return len(next(iter(self.columns[table].values())))


def read_output(folder: Path) -> Output:
    """Everything in a folder; the waves of a sweep are one, because time decides how many there are."""
    parts: dict[str, list[pa.Table]] = {}
    for path in sorted({file.parent for file in folder.rglob("*.parquet")}):
        name = WAVE.sub("WAVE", str(path.relative_to(folder)))
        parts.setdefault(name, []).append(pq.read_table(path))
    schemas, columns = {}, {}
    for name, tables in parts.items():
        kept = [n for n in tables[0].column_names if n not in NONDETERMINISTIC]
        table = pa.concat_tables(tables).select(kept)
        schemas[name] = [(field.name, str(field.type)) for field in table.schema]
        rows = sorted(table.to_pylist(), key=repr)
        columns[name] = {column: [row[column] for row in rows] for column in kept}
    return Output(schemas, columns, dict(_texts(folder)))


def _texts(folder: Path) -> Iterator[tuple[str, Any]]:
    waves: dict[str, list[Any]] = {}
    for file in sorted(folder.rglob("*")):
        name = str(file.relative_to(folder))
        if file.suffix not in (".json", ".md"):
            continue
        text = WAVE.sub("WAVE", file.read_text().replace(str(folder), "OUT"))
        if file.suffix == ".md":
            yield name, text
            continue
        note = {key: value for key, value in json.loads(text).items() if key not in PROVENANCE}
        if not WAVE.search(name):
            yield name, note
            continue
        for key, value in note.items():
            waves.setdefault(key, []).extend(value if isinstance(value, list) else [value])
    yield "waves", {key: sorted(set(values)) for key, values in waves.items()}


def check_equal(one: Output, other: Output) -> None:
    """Fail at the first column or note that differs; floats are equal exactly."""
    assert one.schemas == other.schemas
    for table, columns in one.columns.items():
        for column, values in columns.items():
            assert values == other.columns[table][column], f"{table}: {column}"
    for name, text in one.texts.items():
        assert text == other.texts[name], name
    assert one.texts.keys() == other.texts.keys()
