"""docs/broadcast.md is correct: its example runs, and the tests that it names exist."""

from __future__ import annotations

import re
from pathlib import Path

from beforehand import protocols

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docs" / "broadcast.md").read_text(encoding="utf-8")


def test_the_example_runs() -> None:
    """As it stands there; each line changes something, the last one everything."""
    block = TEXT.split("## How to drive them")[1].split("| call |")[0]
    lines = [line.strip() for line in block.splitlines() if line.startswith("    ")]
    names = {"protocols": protocols}
    exec(lines[0], names)
    core = names["core"]
    assert len(lines) == 7 and isinstance(core, protocols.Core)
    for line in lines[1:]:
        before = core.fingerprint()
        exec(line, names)
        assert core.fingerprint() != before, line


def test_the_tests_that_it_names_are_there() -> None:
    """A claim without its test is unproven."""
    sources = "".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    named = set(re.findall(r"`(test_\w+)`", TEXT))
    assert len(named) >= 7
    for name in named:
        assert f"def {name}(" in sources, name
    for path in re.findall(r"`(tests/[\w/]+\.py)`", TEXT):
        assert (ROOT / path).is_file(), path
