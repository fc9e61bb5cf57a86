"""docs/ingest.md lists the formats, columns, flags and limits of the code."""

from __future__ import annotations

import re
from pathlib import Path

from beforehand.cli.ui.completion import FORMATS
from beforehand.pipeline import schemas
from beforehand.pipeline.ingest.ingest import LARGEST
from beforehand.pipeline.ingest.read import gzipped, options, spans
from beforehand.pipeline.ingest.resolve import outcomes

DOCS = (Path(__file__).parents[3] / "docs" / "ingest.md").read_text(encoding="utf-8")


def first_cells(title: str) -> list[str]:
    """The first column of the table below a heading, without its header."""
    section = DOCS.split(f"\n## {title}\n")[1].split("\n## ")[0]
    return [line.split("|")[1].strip() for line in section.splitlines() if line.startswith("| ")][
        1:
    ]


def test_formats_are_documented() -> None:
    """The page, the help and the code list the same formats."""
    assert first_cells("Formats")[1:] == [f"`{name}`" for name in options.FORMATS]
    assert (options.AUTO, *options.FORMATS) == FORMATS


def test_table_columns_are_documented() -> None:
    """Every column is listed, in its order."""
    for name in ("messages", "events", "rejects", "files"):
        columns = ", ".join(getattr(schemas, name.upper()).names)
        assert re.search(rf"\| `{name}` \|.*\| `{columns}` \|", DOCS), name


def test_flags_are_documented() -> None:
    """Every flag has a row that explains it."""
    for flag in (
        outcomes.CLOCK_SKEW,
        outcomes.MISSING_PARENT,
        outcomes.NOT_REPORTED,
        outcomes.NOT_IN_LOG,
        outcomes.GAP,
        outcomes.WITH_ITSELF,
        spans.NO_DURATION,
        outcomes.AFTER_ITSELF,
    ):
        assert f"flagged `{flag}`" in DOCS, flag


def test_limits_are_documented() -> None:
    """The limits are given in the units of the page."""
    assert f"up to {LARGEST // 2**20} MiB, or {gzipped.MOST_UNPACKED // 2**30} GiB unpacked" in DOCS


def test_mappable_columns_are_documented() -> None:
    """All of them are explained."""
    for name in (*options.SPAN_COLUMNS, *options.LIST_COLUMNS):
        assert f"`{name}`" in DOCS, name
