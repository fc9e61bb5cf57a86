"""docs/checker.md is correct: its example and its commands run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from beforehand.cli import app

ROOT = Path(__file__).parents[2]
DOCS = (ROOT / "docs" / "checker.md").read_text()
COMMANDS = [
    line.strip()
    for text in (DOCS, (ROOT / "README.md").read_text())
    for line in text.splitlines()
    if line.startswith("    beforehand check ")
]
TABLED = re.findall(r"`(beforehand check --protocol [a-z][^`]+)`", DOCS)


def test_the_python_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """As it stands there: the sentence, and nine actions."""
    (code,) = re.findall(r"<!-- a test runs this -->\n```python\n(.*?)```", DOCS, re.DOTALL)
    exec(compile(code, "checker.md", "exec"), {})
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("causal: ") and len(lines) == 10


@pytest.mark.parametrize("command", dict.fromkeys(COMMANDS))
def test_every_command_works(command: str) -> None:
    """Those that are large are stopped after some states; the others end as documented."""
    wrong = any(word in command for word in ("unsafe", "fifo", "link-memory"))
    large = "--messages 3" in command or "loss=1" in command
    ran = CliRunner().invoke(
        app, [*shlex.split(command)[1:], *(["--max-states", "2000"] if large else [])]
    )
    assert ran.exit_code == (1 if wrong else 3 if large else 0), ran.output
    assert not large or "limit of 2,000 states" in ran.output


@pytest.mark.parametrize("command", TABLED)
def test_every_command_of_the_table_is_understood(command: str) -> None:
    """It starts; how it ends is in the table."""
    ran = CliRunner().invoke(app, [*shlex.split(command)[1:], "--max-states", "50", "--json"])
    assert ran.exit_code in (1, 3) and '"outcome"' in ran.output, ran.output
