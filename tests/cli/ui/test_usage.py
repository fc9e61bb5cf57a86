"""Wrong arguments: the same style as all other errors."""

import pytest
from typer.testing import CliRunner

from beforehand.cli import app


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["chekc"], "there is no command chekc (did you mean 'check'?); see `beforehand --help`"),
        (["zzz"], "there is no command zzz; see `beforehand --help`"),
        (["keygen", "--zzz"], "there is no option --zzz; see `beforehand keygen --help`"),
        (
            ["keygen", "--ot", "x"],
            "there is no option --ot (did you mean --json or --out?); see `beforehand keygen --help`",
        ),
        (["keygen", "a"], "too many arguments: a; see `beforehand keygen --help`"),
        (["node"], "NAME is missing; see `beforehand node --help`"),
        (["ingest", "x"], "--out is missing; see `beforehand ingest --help`"),
        (
            ["keygen", "--out"],
            "option '--out' requires an argument; see `beforehand --help`",
        ),
        (
            ["simulate", "--link", "maybe"],
            "--link: 'maybe' is not one of 'auto', 'always', 'never'; "
            "see `beforehand simulate --help`",
        ),
    ],
)
def test_wrong_arguments_are_one_sentence(arguments: list[str], sentence: str) -> None:
    """Exit code 2, what is wrong, and where to read on; nothing on standard output."""
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert (result.stdout, result.stderr) == ("", f"beforehand: {sentence}\n")


def test_the_bare_command_is_not_an_error() -> None:
    """It shows the front page."""
    result = CliRunner().invoke(app, [])
    assert result.exit_code == 0
    assert "Usage: beforehand" in result.stdout and result.stderr == ""
