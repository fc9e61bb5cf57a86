"""The command itself: version, help, mistakes, and the ways to start it."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from beforehand import __version__, _build
from beforehand.cli import app
from beforehand.protocols import core as base

runner = CliRunner()


def test_version_tells_the_build() -> None:
    """The version comes with the kind of build, which decides the speed."""
    result = runner.invoke(app, ["--version"])
    assert result.exit_code == 0
    assert result.stdout == f"beforehand {__version__} ({_build.describe()})\n"


@pytest.mark.parametrize(
    ("file", "compiled", "words"),
    [
        ("base.py", False, "pure Python: no compiled cores"),
        ("base.cpython-311-x86_64-linux-gnu.so", True, "compiled with mypyc"),
    ],
)
def test_the_build_is_told_from_the_imported_file(
    monkeypatch: pytest.MonkeyPatch, file: str, compiled: bool, words: str
) -> None:
    """What counts is the file that the interpreter loaded."""
    monkeypatch.setattr(base, "__file__", file)
    assert _build.is_compiled() is compiled
    assert _build.describe() == words


def test_no_arguments_show_help() -> None:
    """Somebody who types only the name learns which commands there are."""
    result = runner.invoke(app, [])
    assert "Usage: beforehand" in result.output
    assert "protocols" in result.output


def test_unknown_command_is_a_clear_mistake() -> None:
    """A command that does not exist exits with 2 and is named on the error stream."""
    result = runner.invoke(app, ["protocol-list"])
    assert result.exit_code == 2
    assert "No such command 'protocol-list'" in result.stderr
    assert result.stdout == ""


def test_shell_completion_is_offered() -> None:
    """Completion for the user's shell can be installed from the command itself."""
    assert "--install-completion" in runner.invoke(app, ["--help"]).output


def test_python_dash_m_is_the_same_command() -> None:
    """`python -m beforehand` works where the script is not on the path."""
    command = [sys.executable, "-m", "beforehand", "--version"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert result.stdout == f"beforehand {__version__} ({_build.describe()})\n"
