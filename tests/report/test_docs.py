"""The commands and the example of docs/report.md run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from beforehand.cli import app
from beforehand.cli import report as command_module
from beforehand.report.reading.audits import LISTED
from tests.report import folders

ROOT = Path(__file__).parents[2]
DOCS = (ROOT / "docs" / "report.md").read_text()
COMMANDS = re.findall(r"^    (beforehand report .*?)(?:  .*)?$", DOCS, re.MULTILINE)


@pytest.fixture(autouse=True)
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write the example study of the page to the current folder."""
    monkeypatch.chdir(tmp_path)
    return folders.write_study(tmp_path / "study")


def test_every_command_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exactly as documented; pages are written where it says, and opened if it says so."""
    opened: list[Path] = []
    monkeypatch.setattr(command_module, "open_page", opened.append)
    assert len(COMMANDS) == 3
    for command in COMMANDS:
        result = CliRunner().invoke(app, shlex.split(command)[1:])
        assert result.exit_code == 0, result.output
    assert (tmp_path / "study" / "report.html").exists()
    assert (tmp_path / "page.html").exists() and opened == [Path("page.html")]


def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """It prints the title of the study, and no missing parts."""
    (code,) = re.findall(r"<!-- a test runs this -->\n```python\n(.*?)```", DOCS, re.DOTALL)
    exec(compile(code, "report.md", "exec"), {})
    assert capsys.readouterr().out == "talk: 3 processes, 2 messages, 3 copies within 5 µs\n"


def test_documented_limits_match_the_code() -> None:
    """The number of listed violations."""
    assert f"At most {LISTED:,} are listed" in DOCS
