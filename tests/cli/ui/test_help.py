"""The help pages: complete, true, and the same for all commands."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest
import typer
from rich.text import Text
from typer.testing import CliRunner

from beforehand import protocols
from beforehand.cli import PANELS, app
from beforehand.cli.ui.examples import EXAMPLES, FRONT, PAGES, Example

ROOT = Path(__file__).parents[3]
GROUP: Any = typer.main.get_command(app)
COMMANDS: dict[str, Any] = GROUP.commands
NARROW = 78  # columns for an example on a terminal of 80
ALL_EXAMPLES = [example for some in (FRONT, *EXAMPLES.values()) for example in some]
WITHOUT_JSON: set[str] = set()  # commands that have nothing to tell programs: none

runner = CliRunner()


def options(command: Any) -> list[Any]:
    """Its options and arguments."""
    return [each for each in command.params if each.name != "help"]


def parsed(command: str) -> Any:
    """The values of a command line, as the command itself would get them."""
    words = shlex.split(command.rpartition("| ")[2])
    assert words[0] == "beforehand", command
    return COMMANDS[words[1]].make_context(words[1], words[2:]).params


def test_every_command_is_on_the_front_page() -> None:
    """In the panel that it was given, with the first sentence of its help."""
    page = " ".join(runner.invoke(app, ["--help"]).output.split())
    assert set(COMMANDS) == {name for commands in PANELS.values() for name in commands}
    for panel in PANELS:
        assert f"─ {panel} ─" in page
    for name in COMMANDS:
        assert f"│ {name} " in page, name
    for example in FRONT:
        assert example.command in page


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_explained(name: str) -> None:
    """Each has a text, which says how to write it; none is eaten up as markup; and so have commands."""
    command = COMMANDS[name]
    assert command.help and command.help[0].isupper()
    for each in options(command):
        assert each.help and each.help.endswith((".", "?", ".jsonl)")), each.name
        assert Text.from_markup(each.help).plain == each.help, each.name
        is_flag = getattr(each, "is_flag", False)
        assert is_flag or each.metavar or each.type_descriptor.is_choice, (
            f"--{each.name} shows the name of a Python type; give it a metavar"
        )


@pytest.mark.parametrize("name", COMMANDS)
def test_the_page_has_examples_and_tells_where_to_read_on(name: str) -> None:
    """On 80 columns, every example is one line to copy."""
    page = runner.invoke(app, [name, "--help"], env={"COLUMNS": "80"}).output
    assert "<bool>" not in page and "list[" not in page
    lines = [line.strip() for line in page.splitlines()]
    assert EXAMPLES[name]
    for example in EXAMPLES[name]:
        at = lines.index(example.command)
        assert lines[at - 1] == f"# {example.does}"
    assert f"More: {PAGES[name]}" in lines
    assert (ROOT / PAGES[name]).is_file()


def test_every_command_speaks_json() -> None:
    """A new command that gives results gives them to programs too."""
    silent = {
        name
        for name, command in COMMANDS.items()
        if not any("--json" in each.opts for each in options(command))
    }
    assert silent == WITHOUT_JSON


@pytest.mark.parametrize("example", ALL_EXAMPLES, ids=lambda example: example.command)
def test_every_example_can_be_typed(example: Example) -> None:
    """All options exist and have values of their kind; protocols are known."""
    values = parsed(example.command)
    assert len(example.command) <= NARROW
    named = values.get("protocol") or ()
    for name in [named] if isinstance(named, str) else ",".join(named).split(","):
        assert not name or name in protocols.names()


def test_an_example_with_a_mistake_would_be_noticed() -> None:
    """The test above can fail."""
    with pytest.raises(Exception, match="No such option"):
        parsed("beforehand cluster --nodse 8")
    with pytest.raises(Exception, match="valid integer"):
        parsed("beforehand cluster --nodes eight")


def test_cheap_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As they stand there."""
    monkeypatch.chdir(tmp_path)
    cheap = ("protocols", "keygen", "--processes 10 --messages 20 --out run")
    commands = [
        each.command for each in ALL_EXAMPLES if any(word in each.command for word in cheap)
    ]
    assert len(commands) == 4
    for command in commands:
        ran = runner.invoke(app, shlex.split(command)[1:])
        assert ran.exit_code == 0, ran.output
    assert (tmp_path / "cluster.key").is_file() and (tmp_path / "run" / "trace.parquet").is_file()
    shutil.rmtree(tmp_path / "run")
