"""docs/simulator.md is correct: its examples run, and nothing is missing from its tables."""

from __future__ import annotations

import re
import shlex
from dataclasses import fields
from pathlib import Path

import pytest
from typer.testing import CliRunner

from beforehand.cli import app
from beforehand.simulator import Program, Scenario, run
from beforehand.simulator.workloads.registry import REPLAY, WORKLOADS

ROOT = Path(__file__).parents[2]
DOCS = (ROOT / "docs" / "simulator.md").read_text()
COMMANDS = [
    line.strip()
    for text in (DOCS, (ROOT / "README.md").read_text())
    for line in text.splitlines()
    if line.startswith("    beforehand simulate ")
]


def block(language: str) -> str:
    """The code that is marked as executed."""
    (code,) = re.findall(rf"<!-- a test runs this -->\n```{language}\n(.*?)```", DOCS, re.DOTALL)
    return str(code)


def test_the_python_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """As it stands there: three protocols, three lines."""
    exec(compile(block("python"), "simulator.md", "exec"), {})
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["hybrid", "mattern", "rst"]


def test_the_program_runs(tmp_path: Path) -> None:
    """The answer comes after the question, and thanks after both."""
    path = tmp_path / "program.jsonl"
    path.write_text(block("json"))
    program = Program.read(path)
    result = run(Scenario(workload="replay", program=program), audit=True)
    assert result.clean and result.metrics.sent == 3 and result.metrics.delivered == 5


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_works(command: str) -> None:
    """Made smaller: the options are as they stand there."""
    arguments = shlex.split(command)[1:]
    arguments += ["--messages", "2", "--processes", "12"]
    if "broadcast" in command:
        arguments += ["--until", "150s"]
    ran = CliRunner().invoke(app, arguments)
    expected = 1 if "fifo" in command else 0
    assert ran.exit_code in (0, expected), ran.output
    assert "delivery latency" in ran.output


def test_every_workload_and_option_is_explained() -> None:
    """A new one needs a line."""
    assert len(COMMANDS) >= 8
    for kind in WORKLOADS.values():
        assert f"`{kind.syntax}`" in DOCS, kind.syntax
    assert f"| `{REPLAY}` |" in DOCS
    unexplained = {
        field.name
        for field in fields(Scenario)
        if f"--{field.name.rstrip('s').replace('_', '-')}" not in DOCS
        and f"--{field.name.replace('_', '-')}" not in DOCS
    }
    assert unexplained <= {"options", "payload", "until", "flush", "link"}, unexplained
