"""docs/command-line.md tells the truth: its table is complete, and what it shows can be typed."""

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
from beforehand.cli.node import renderers as voices
from beforehand.cli.ui import progress

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "command-line.md").read_text()
SHOWN = [line.strip() for line in PAGE.splitlines() if line.startswith("    beforehand ")]
GROUP: Any = typer.main.get_command(app)


def test_every_command_has_a_row() -> None:
    """None is forgotten, none is promised, and the pages that they point to exist."""
    rows = re.findall(r"^\| \[?`([a-z]+)`(?:\]\(([a-z-]+\.md)\))? \| .* \|$", PAGE, re.MULTILINE)
    assert [name for name, _ in rows if name in GROUP.commands] == list(GROUP.commands)
    pages = [page for _, page in rows if page]
    assert len(pages) >= 10
    for page in pages:
        assert (DOCS / page).is_file(), page


@pytest.mark.parametrize("line", SHOWN)
def test_what_is_shown_can_be_typed(line: str) -> None:
    """The part that is ours runs, and in JSON where it says so."""
    words = shlex.split(line.partition(" | ")[0])[1:]
    if words == ["--install-completion"]:  # which would change the shell of whoever runs the tests
        assert any(words[0] in option.opts for option in GROUP.params)
        return
    ran = CliRunner().invoke(app, words)
    assert ran.exit_code == 0, ran.output
    assert "--json" not in words or json.loads(ran.stdout)


def test_controls_are_found_as_it_is_shown() -> None:
    """The second column of `protocols` is whether it is causal."""
    lines = CliRunner().invoke(app, ["protocols"]).stdout.splitlines()
    found = [line.split()[0] for line in lines if line.split()[1] == "no"]
    assert found == ["cykas-unsafe", "fifo", "raw"]


def test_figures_and_kinds_are_the_real_ones() -> None:
    """Of progress, and of the objects of a node."""
    assert progress.NEXT_LINE == 5.0
    assert "a line after two seconds and then one every five" in PAGE
    table = PAGE.split("| `kind` |")[1].split("\n\n")[0]
    kinds = re.findall(r"`([a-z]+)`", "".join(re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)))
    known = [name for name in vars(voices.JsonRenderer) if not name.startswith("_")]
    assert sorted(kinds) == sorted(known)
