"""docs/command-line.md is accurate: its table is complete, and its commands run."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from beforehand.cli import app
from beforehand.cli.node import renderers
from beforehand.cli.ui import progress
from beforehand.cli.ui.exit_codes import ExitCode

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "command-line.md").read_text()
SHOWN = [line.strip() for line in PAGE.splitlines() if line.startswith("    beforehand ")]
GROUP: Any = typer.main.get_command(app)


def test_every_command_has_a_row() -> None:
    """No command is missing, none is made up, and linked pages exist."""
    rows = re.findall(r"^\| \[?`([a-z]+)`(?:\]\(([a-z-]+\.md)\))? \| .* \|$", PAGE, re.MULTILINE)
    assert [name for name, _ in rows if name in GROUP.commands] == list(GROUP.commands)
    pages = [page for _, page in rows if page]
    assert len(pages) >= 10
    for page in pages:
        assert (DOCS / page).is_file(), page


@pytest.mark.parametrize("line", SHOWN)
def test_documented_commands_run(line: str) -> None:
    """The part before a pipe runs, and prints JSON where it says so."""
    arguments = shlex.split(line.partition(" | ")[0])[1:]
    if arguments == ["--install-completion"]:  # would change the shell configuration of the user
        assert any(arguments[0] in option.opts for option in GROUP.params)
        return
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert "--json" not in arguments or json.loads(result.stdout)


def test_the_exit_codes_are_those_of_the_code() -> None:
    """One table, with every code that a command can end with."""
    table = PAGE.split("## Exit codes")[1].split("\n## ")[0]
    assert list(map(int, re.findall(r"^\| (\d+) \|", table, re.MULTILINE))) == list(ExitCode)


def test_controls_can_be_filtered_as_documented() -> None:
    """The second column of `protocols` says whether a protocol is causal."""
    lines = CliRunner().invoke(app, ["protocols"]).stdout.splitlines()
    controls = [line.split()[0] for line in lines if line.split()[1] == "no"]
    assert controls == ["cykas-unsafe", "fifo", "raw"]


def test_documented_intervals_and_kinds_match_the_code() -> None:
    """The interval of progress lines, and the kinds of JSON objects that a node prints."""
    assert progress.NEXT_LINE == 5.0
    assert "a line after two seconds and then one every five" in PAGE
    table = PAGE.split("| `kind` |")[1].split("\n\n")[0]
    kinds = re.findall(r"`([a-z]+)`", "".join(re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)))
    implemented = [name for name in vars(renderers.JsonRenderer) if not name.startswith("_")]
    assert sorted(kinds) == sorted(implemented)
