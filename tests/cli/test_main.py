"""The top-level command: version, help, errors, and `python -m`."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from beforehand import __version__, _build
from beforehand.cli import app
from beforehand.protocols import core as base

runner = CliRunner()


def test_version_includes_the_build() -> None:
    """The kind of build matters for the speed."""
    result = runner.invoke(app, ["--version"])
    assert result.exit_code == 0
    assert result.stdout == f"beforehand {__version__} ({_build.describe()})\n"


@pytest.mark.parametrize(
    ("file", "compiled", "description"),
    [
        ("base.py", False, "pure Python: no compiled cores"),
        ("base.cpython-311-x86_64-linux-gnu.so", True, "compiled with mypyc"),
    ],
)
def test_the_build_is_detected_from_the_imported_file(
    monkeypatch: pytest.MonkeyPatch, file: str, compiled: bool, description: str
) -> None:
    """By the file that the interpreter loaded."""
    monkeypatch.setattr(base, "__file__", file)
    assert _build.is_compiled() is compiled
    assert _build.describe() == description


def test_no_arguments_show_help() -> None:
    """The bare command lists the available commands."""
    result = runner.invoke(app, [])
    assert "Usage: beforehand" in result.output
    assert "protocols" in result.output


def test_an_unknown_command_is_a_clear_error() -> None:
    """Exit code 2, with the unknown name on standard error."""
    result = runner.invoke(app, ["protocol-list"])
    assert result.exit_code == 2
    assert result.stderr == (
        "beforehand: there is no command protocol-list (did you mean 'protocols'?); "
        "see `beforehand --help`\n"
    )
    assert result.stdout == ""


def test_shell_completion_is_offered() -> None:
    """Completion for the user's shell can be installed from the command itself."""
    assert "--install-completion" in runner.invoke(app, ["--help"]).output


def test_python_dash_m_is_the_same_command() -> None:
    """`python -m beforehand` works where the script is not on the path."""
    command = [sys.executable, "-m", "beforehand", "--version"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert result.stdout == f"beforehand {__version__} ({_build.describe()})\n"
