"""The lists of mutants stay applicable; running them is `make mutants`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.mutants.__main__ import first_failure
from tests.mutants.families import FAMILIES, Family

ROOT = Path(__file__).parents[2]
PROTOCOLS = ROOT / "src" / "beforehand" / "protocols"


@pytest.mark.parametrize("family", FAMILIES, ids=[family.name for family in FAMILIES])
def test_every_mutant_still_applies(family: Family) -> None:
    """Each replaces text that occurs exactly once in its file today."""
    for mutant in family.mutants:
        for file, old, new in mutant.changes():
            found = (PROTOCOLS / file).read_text().count(old)
            assert found == 1, f"{mutant.name!r}: its text is in {file} {found} times: {old!r}"
            assert old != new


@pytest.mark.parametrize("family", FAMILIES, ids=[family.name for family in FAMILIES])
def test_guards_exist(family: Family) -> None:
    """A guard that is not there would be an error that looks like a mutant that was noticed."""
    assert family.guards
    for guard in family.guards:
        assert (ROOT / guard).is_file(), guard


@pytest.mark.parametrize("family", FAMILIES, ids=[family.name for family in FAMILIES])
def test_names_are_distinct(family: Family) -> None:
    """A mutant that survives can be named."""
    names = Counter(mutant.name for mutant in family.mutants)
    assert max(names.values()) == 1, names.most_common(3)


def test_only_a_test_can_notice_a_mutant() -> None:
    """Guards that cannot be imported fail too, but that says nothing about the mutant."""
    assert first_failure("ERROR tests/a.py - ImportError: x\n") == ""
    assert first_failure("ERROR tests/a.py\n!!! Interrupted: 1 error during collection !!!\n") == ""
    assert (
        first_failure("..F\nFAILED tests/a.py::test_x[a b] - assert 1 == 2\n")
        == "a.py::test_x[a b]"
    )
    assert first_failure("ERROR tests/a.py::test_x - fixture\n") == "a.py::test_x"
