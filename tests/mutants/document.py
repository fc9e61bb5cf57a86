"""The text of docs/mutants.md: a section for each family of mutants."""

from __future__ import annotations

from collections.abc import Mapping

from tests.mutants.families import FAMILIES, Family
from tests.mutants.mutant import Mutant

HEAD = """# Mutants

Each row is one condition of a protocol that was broken on purpose, the function that holds it, and the
first test that failed. `make mutants` runs them all and writes this page (`python -m tests.mutants --family
overlay --write` runs one family and keeps the other sections); the lists are in `tests/mutants/`.
"""


def section(family: Family, results: list[tuple[Mutant, str]]) -> str:
    """The results of one family."""
    rows = [
        f"| {mutant.name} | `{mutant.where}` | {f'`{test}`' if test else '**nobody**'} |"
        for mutant, test in results
    ]
    caught = sum(bool(test) for _, test in results)
    return "\n".join(
        [
            f"## {family.title}",
            "",
            f"From `tests/mutants/{family.source}`: {caught} of {len(results)} noticed.",
            "",
            "| mutant | function | noticed by |",
            "| --- | --- | --- |",
            *rows,
            "",
        ]
    )


def written(page: str, results: Mapping[str, list[tuple[Mutant, str]]]) -> str:
    """The page with new sections for what was run, and the old ones for what was not."""
    sections = dict(zip(*[iter(_split(page))] * 2, strict=True))
    parts = [HEAD]
    for family in FAMILIES:
        if family.name in results:
            parts.append(section(family, results[family.name]))
        elif family.title in sections:
            parts.append(f"## {family.title}\n{sections[family.title]}")
    return "\n".join(parts)


def _split(page: str) -> list[str]:
    """The titles of the sections and their texts, alternating."""
    pieces: list[str] = []
    for part in page.split("\n## ")[1:]:
        title, text = part.split("\n", 1)
        pieces += [title, text.rstrip("\n") + "\n"]
    return pieces
