"""docs/glossary.md: its terms have definitions and homes in the code."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROWS = re.findall(
    r"^\| ([^|]+) \| ([^|]+) \| `([\w/]+\.py)` \|$",
    (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"),
    re.MULTILINE,
)


def test_there_are_about_thirty_terms_each_once() -> None:
    """A glossary that defines everything defines nothing."""
    terms = [word for word, _, _ in ROWS]
    assert len(terms) == len(set(terms)) == 30


def test_every_term_has_a_home_and_a_definition() -> None:
    """The file exists, and the definition is a sentence."""
    for word, definition, home in ROWS:
        assert (ROOT / "src" / "beforehand" / home).is_file(), f"{word}: there is no {home}"
        assert definition.endswith("."), word
