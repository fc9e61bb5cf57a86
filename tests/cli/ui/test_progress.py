"""Progress: drawn on terminals, lines elsewhere, never on standard output; colours only if wanted."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from beforehand.cli.ui import progress
from tests.cli.terminal import COLOUR, environment, on_terminal, plain

SHORT = 0.01  # seconds
ALL = """
from beforehand.cli.ui.output import print_table
from beforehand.cli.ui.progress import progress_bar, progress_line
print_table(("name", "value"), [("one", "1"), ("two", "2")])
with progress_bar("counting") as tell:
    tell(3, 12, "going well")
with progress_bar("fitting") as tell:
    tell(3, 12)
    tell(0, 0, "no figures any more")
with progress_line("looking") as say:
    say("here and there")
from beforehand.cli import app
app(["keygen", "--help"], standalone_mode=False)
"""


@pytest.fixture
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "FIRST_LINE", SHORT)
    monkeypatch.setattr(progress, "NEXT_LINE", SHORT)


def until_told(capsys: pytest.CaptureFixture[str], words: str) -> list[str]:
    """Wait for a line with these words; all lines so far."""
    told = ""
    end = time.monotonic() + 20
    while words not in told and time.monotonic() < end:
        time.sleep(SHORT)
        captured = capsys.readouterr()
        assert captured.out == ""
        told += captured.err
    return told.splitlines()


# ---- in a log ----


@pytest.mark.usefixtures("_soon")
def test_logs_get_lines(capsys: pytest.CaptureFixture[str]) -> None:
    """Even if the work says nothing; then the latest figures; and nothing after its end."""
    with progress.progress_bar("runs") as tell:
        first = until_told(capsys, "runs ...")
        assert first[0] == "runs ... (0 s)"
        tell(12, 1200, "3 failed")
        assert until_told(capsys, "failed")[-1].startswith("runs: 12 of 1,200, 3 failed (")
    capsys.readouterr()
    time.sleep(5 * SHORT)
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("_soon")
def test_steps_have_lines_of_their_own(capsys: pytest.CaptureFixture[str]) -> None:
    """Told at once, however quick they are; and what is told between is about the present one."""
    with progress.progress_steps(("read", "write")) as steps:
        steps.begin("read", "looking at files")
        steps.update(1, 2)
        lines = until_told(capsys, "read: 1 of 2")
        assert lines[0] == "[1/2] read: looking at files"
        steps.begin("write", "saving")
        lines = until_told(capsys, "write ...")
        assert "[2/2] write: saving" in lines
        assert not [line for line in lines[lines.index("[2/2] write: saving") :] if "read" in line]


def test_what_is_quick_needs_no_words(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing at all, if it is over before the first line is due."""
    with progress.progress_line("looking") as say:
        say("here")
    assert capsys.readouterr() == ("", "")


def test_lines_come_also_while_spark_starts() -> None:
    """Then descriptor 2 is somebody else's: the lines go where standard error was before."""
    code = """
import os, time
from beforehand.cli.ui import progress
progress.FIRST_LINE = progress.NEXT_LINE = 0.01
with progress.progress_line("starting"):
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    time.sleep(0.2)
    os.write(2, b"greetings")
    os.dup2(kept, 2)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "starting ... (0 s)\n" in ran.stderr and "greetings" not in ran.stderr
    assert ran.stdout == ""


# ---- on a terminal ----


def test_terminals_get_bars_and_colours() -> None:
    """Tables, bars and help are drawn, and in colours."""
    shown = on_terminal(ALL)
    assert "━" in shown and "3 of 12, going well" in plain(shown)
    assert "looking" in shown and "here and there" in plain(shown)
    assert "fitting  no figures any more" in plain(shown)  # and not of 12
    table, rest = shown.split("counting", 1)
    assert COLOUR.search(table) and COLOUR.search(rest)
    assert COLOUR.search(rest[rest.index("Usage") :])


def test_no_color_is_respected() -> None:
    """The same, and not a single colour."""
    shown = on_terminal(ALL, NO_COLOR="1")
    assert "3 of 12, going well" in plain(shown) and "─" in shown and "Usage" in shown
    assert not COLOUR.search(shown)


def test_a_dumb_terminal_is_not_drawn_on() -> None:
    """No escapes at all: it could not follow them. Progress comes in lines."""
    lines = """
import time
from beforehand.cli.ui import progress
progress.FIRST_LINE = 0.01
with progress.progress_line("waiting"):
    time.sleep(0.2)
"""
    shown = on_terminal(ALL + lines, TERM="dumb")
    assert "waiting ... (0 s)" in shown
    assert "two" in shown and "Usage" in shown
    assert "\x1b" not in shown


def test_colours_can_be_forced_into_a_pipe() -> None:
    """Tables and help, but no bar, which would fill a file with its movements."""
    ran = subprocess.run(
        [sys.executable, "-c", ALL],
        capture_output=True,
        text=True,
        check=True,
        env=environment(FORCE_COLOR="1"),
    )
    assert COLOUR.search(ran.stdout) and "━" not in ran.stdout
    assert ran.stderr == ""
