"""Help pages are complete, accurate and consistent across commands."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest
import typer
from rich.text import Text
from typer.testing import CliRunner

from beforehand import protocols
from beforehand.cli import PANELS, app
from beforehand.cli.ui import help
from beforehand.cli.ui.examples import EXAMPLES, FRONT, PAGES, Example

ROOT = Path(__file__).parents[3]
GROUP: Any = typer.main.get_command(app)
COMMANDS: dict[str, Any] = GROUP.commands
NARROW = 78  # columns for an example on a terminal of 80
ALL_EXAMPLES = [example for examples in (FRONT, *EXAMPLES.values()) for example in examples]
WITHOUT_JSON: set[str] = set()  # commands without JSON output: none

runner = CliRunner()


def options(command: Any) -> list[Any]:
    """Return the options and arguments of a command."""
    return [parameter for parameter in command.params if parameter.name != "help"]


def parsed(command: str) -> Any:
    """Parse a command line into the parameters that the command receives."""
    arguments = shlex.split(command.rpartition("| ")[2])
    assert arguments[0] == "beforehand", command
    return COMMANDS[arguments[1]].make_context(arguments[1], arguments[2:]).params


def test_every_command_is_on_the_front_page() -> None:
    """In its panel, with the first sentence of its help."""
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
    """Each has a help text with its syntax, and none of it is parsed as markup."""
    command = COMMANDS[name]
    assert command.help and command.help[0].isupper()
    for parameter in options(command):
        assert parameter.help and parameter.help.endswith((".", "?", ".jsonl)")), parameter.name
        assert Text.from_markup(parameter.help).plain == parameter.help, parameter.name
        is_flag = getattr(parameter, "is_flag", False)
        assert is_flag or parameter.metavar or parameter.type_descriptor.is_choice, (
            f"--{parameter.name} shows the name of a Python type; give it a metavar"
        )


@pytest.mark.parametrize("name", COMMANDS)
def test_the_page_has_examples_and_a_link_to_the_documentation(name: str) -> None:
    """On 80 columns, every example is a single line."""
    page = runner.invoke(app, [name, "--help"], env={"COLUMNS": "80"}).output
    assert "<bool>" not in page and "list[" not in page
    lines = [line.strip() for line in page.splitlines()]
    assert EXAMPLES[name]
    for example in EXAMPLES[name]:
        index = lines.index(example.command)
        assert lines[index - 1] == f"# {example.does}"
    assert f"More: {PAGES[name]}" in lines
    assert (ROOT / PAGES[name]).is_file()


def test_every_command_has_a_json_option() -> None:
    """A new command with results must support JSON."""
    without_json = {
        name
        for name, command in COMMANDS.items()
        if not any("--json" in parameter.opts for parameter in options(command))
    }
    assert without_json == WITHOUT_JSON


@pytest.mark.parametrize("example", ALL_EXAMPLES, ids=lambda example: example.command)
def test_every_example_can_be_parsed(example: Example) -> None:
    """All options exist, their values are valid, and protocols are known."""
    values = parsed(example.command)
    assert len(example.command) <= NARROW
    named = values.get("protocol") or ()
    for name in [named] if isinstance(named, str) else ",".join(named).split(","):
        assert not name or name in protocols.names()


def test_an_invalid_example_would_be_noticed() -> None:
    """The test above can fail."""
    with pytest.raises(Exception, match="No such option"):
        parsed("beforehand cluster --nodse 8")
    with pytest.raises(Exception, match="valid integer"):
        parsed("beforehand cluster --nodes eight")


def test_a_wheel_does_not_refer_to_pages_that_it_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The documentation is in the repository only."""
    assert "More: docs/study.md" in help.epilog(FRONT, "docs/study.md")
    monkeypatch.setattr(help, "CHECKOUT", tmp_path)
    assert "More" not in help.epilog(FRONT, "docs/study.md")
    for command in COMMANDS.values():
        texts = [command.help, *(option.help for option in options(command))]
        assert not [text for text in texts if "docs/" in text]
