"""Only `cli/` knows the command line: libraries raise errors that make sense to any caller."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from typer.main import get_command

from beforehand.cli import app

SOURCES = Path(__file__).parents[1] / "src" / "beforehand"


def flags() -> set[str]:
    """Every flag of every command."""
    commands = get_command(app).commands.values()  # type: ignore[attr-defined]
    options = (option for command in commands for param in command.params for option in param.opts)
    return {option for option in options if option.startswith("--")}


@cache
def pattern() -> re.Pattern[str]:
    """Any of our flags."""
    return re.compile(rf"(?<![\w-])({'|'.join(sorted(flags()))})(?![\w-])")


def mentions(source: str) -> Iterator[str]:
    """The string constants, also those in f-strings and docstrings, that name one of our flags."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            matches = pattern().finditer(node.value)
            yield from (f"line {node.lineno}: {match[1]}" for match in matches)


def test_no_library_names_a_flag() -> None:
    """Neither in an error nor in a command line that it composes."""
    libraries = [
        file for file in SOURCES.rglob("*.py") if "cli" not in file.relative_to(SOURCES).parts
    ]
    assert len(libraries) > 100
    flagged = {
        str(file.relative_to(SOURCES)): list(mentions(file.read_text())) for file in libraries
    }
    assert {file: lines for file, lines in flagged.items() if lines} == {}


@pytest.mark.parametrize("suffix", ["j2", "js"])
def test_no_template_or_script_names_a_flag(suffix: str) -> None:
    """Pages show the command lines that `cli` passes in."""
    assets = list(SOURCES.rglob(f"*.{suffix}"))
    assert len(assets) > 5
    flagged = {file.name: pattern().findall(file.read_text()) for file in assets}
    assert {name: flags for name, flags in flagged.items() if flags} == {}


@pytest.mark.parametrize(
    "text", ['"add --force"', 'f"--out {x}"', '["--map"]', '"""By `--map`."""']
)
def test_a_flag_is_noticed_however_it_is_written(text: str) -> None:
    """In messages, in lists of arguments and in docstrings."""
    assert list(mentions(text))


@pytest.mark.parametrize("text", ['"var(--series-1)"', '"a --forced march"', '"-- out"', "x --1"])
def test_text_that_is_not_one_of_our_flags_passes(text: str) -> None:
    """Custom properties of style sheets, dashes in prose, arithmetic."""
    assert not list(mentions(text))
