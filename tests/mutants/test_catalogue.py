"""The list of mutants stays applicable; running them is `make mutants`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tests.mutants.catalogue import MUTANTS

PROTOCOLS = Path(__file__).parents[2] / "src" / "beforehand" / "protocols"


def test_every_mutant_still_applies() -> None:
    """Each replaces text that occurs exactly once in its file today."""
    for mutant in MUTANTS:
        found = (PROTOCOLS / mutant.file).read_text().count(mutant.old)
        assert found == 1, f"{mutant.name!r}: its text is in {mutant.file} {found} times"
        assert mutant.old != mutant.new


def test_names_are_distinct() -> None:
    """A mutant that survives can be named."""
    assert max(Counter(mutant.name for mutant in MUTANTS).values()) == 1
