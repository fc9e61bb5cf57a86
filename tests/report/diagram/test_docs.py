"""The commands and the example of docs/diagrams.md run, and print what is shown there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from beforehand.cli import app
from beforehand.cli.diagram import judge as diagram_judge
from beforehand.cli.diagram import request
from beforehand.report.diagram import build

DOCS = (Path(__file__).parents[3] / "docs" / "diagrams.md").read_text(encoding="utf-8")
COMMANDS = [
    line.strip()
    for line in DOCS.splitlines()
    if line.startswith("    beforehand diagram trace.jsonl")
]


def block(marker: str, language: str) -> str:
    """Return the only code block in a language after a marker."""
    (text,) = re.findall(rf"<!-- {marker} -->\n```{language}\n(.*?)```", DOCS, re.DOTALL)
    return str(text)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write the example trace to the current folder."""
    monkeypatch.chdir(tmp_path)
    lines = block("a test runs this", "jsonl").splitlines(keepends=True)
    (tmp_path / "trace.jsonl").write_text("".join(lines))
    # Here, Carol gets the question first.
    (tmp_path / "other.jsonl").write_text("".join([*lines[:3], lines[4], lines[3]]))
    return tmp_path


def test_the_example_prints_the_documented_output(here: Path) -> None:
    """Verbatim."""
    result = CliRunner().invoke(app, shlex.split(COMMANDS[0])[1:])
    assert result.exit_code == 0 and result.stdout == block("what it prints", "text")
    assert (here / "carol.svg").read_text(encoding="utf-8").startswith("<svg")


@pytest.mark.parametrize("command", COMMANDS[1:])
def test_every_command_works(here: Path, command: str) -> None:
    """Exactly as documented."""
    result = CliRunner().invoke(app, shlex.split(command)[1:])
    assert result.exit_code == 0, result.output
    assert {file.suffix for file in here.iterdir()} & {".html", ".svg"}


def test_the_python_example_runs(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Three arrows, by order."""
    exec(compile(block("a test runs this", "python"), "diagrams.md", "exec"), {})
    assert capsys.readouterr().out == "5 events, 3 arrows, drawn by order\n"


def test_documented_limits_match_the_code() -> None:
    """Of events and of flagged deliveries."""
    assert f"A page shows {build.MOST:,} events and a picture {request.ON_PAPER}," in DOCS
    assert f"stops at {diagram_judge.MOST_FLAGS} wrong ones" in DOCS
    assert f"more than {diagram_judge.MOST_EVENTS:,} events" in DOCS
