"""The lists of mutants stay applicable; running them is `make mutants`."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

from tests.mutants.__main__ import first_failure
from tests.mutants.families import FAMILIES, Family
from tests.mutants.mutant import MutantError, mutated, protocol_sources

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("family", FAMILIES, ids=[family.name for family in FAMILIES])
def test_every_mutant_still_applies(family: Family) -> None:
    """Its function exists once in the protocols, with the text once in it, and still compiles."""
    sources = protocol_sources()
    for mutant in family.mutants:
        assert all(old != new for _, old, new in mutant.changes())
        for path, text in mutated(sources, mutant.name, mutant.changes()).items():
            if text != sources[path]:
                ast.parse(text)


def test_a_function_is_found_by_its_qualified_name_in_any_module() -> None:
    """Moving it does not disarm a mutant; a second one, or the text a second time, does."""
    core = "LIMIT = 1\n\n\nclass Core:\n    def send(self):\n        return 1\n"
    twice = core.replace("return 1", "return 1 + 1")
    change = ("Core.send", "1", "2")
    assert mutated({"a": core, "b": ""}, "m", [change])["a"].endswith("return 2\n")
    assert mutated({"a": "", "b": core}, "m", [change])["b"].startswith("LIMIT = 1\n")
    assert mutated({"a": core}, "m", [("LIMIT", "1", "2")])["a"].startswith("LIMIT = 2\n")
    for sources in ({"a": core, "b": core}, {"a": twice}, {"a": ""}):
        with pytest.raises(MutantError, match="not once"):
            mutated(sources, "m", [change])


@pytest.mark.parametrize("family", FAMILIES, ids=[family.name for family in FAMILIES])
def test_guards_exist(family: Family) -> None:
    """A missing guard would fail, which looks like a noticed mutant."""
    assert family.guards
    for guard in family.guards:
        assert (ROOT / guard).is_file(), guard


@pytest.mark.parametrize("family", FAMILIES, ids=[family.name for family in FAMILIES])
def test_names_are_distinct(family: Family) -> None:
    """A mutant that survives can be named."""
    names = Counter(mutant.name for mutant in family.mutants)
    assert max(names.values()) == 1, names.most_common(3)


def test_only_a_test_can_notice_a_mutant() -> None:
    """Guards that cannot be imported fail too, but that proves nothing about the mutant."""
    assert first_failure("ERROR tests/a.py - ImportError: x\n") == ""
    assert first_failure("ERROR tests/a.py\n!!! Interrupted: 1 error during collection !!!\n") == ""
    assert (
        first_failure("..F\nFAILED tests/a.py::test_x[a b] - assert 1 == 2\n")
        == "a.py::test_x[a b]"
    )
    assert first_failure("ERROR tests/a.py::test_x - fixture\n") == "a.py::test_x"
