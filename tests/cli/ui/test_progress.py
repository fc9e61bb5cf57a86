"""Progress: a bar on terminals, lines elsewhere, never on standard output; colours can be disabled."""

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
with progress_bar("counting") as update:
    update(3, 12, "going well")
with progress_bar("fitting") as update:
    update(3, 12)
    update(0, 0, "no figures any more")
with progress_line("looking") as update:
    update("here and there")
from beforehand.cli import app
app(["keygen", "--help"], standalone_mode=False)
"""


@pytest.fixture
def _short_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "FIRST_LINE", SHORT)
    monkeypatch.setattr(progress, "NEXT_LINE", SHORT)


def wait_for_line(capsys: pytest.CaptureFixture[str], text: str) -> list[str]:
    """Wait for a line that contains this text; return all lines so far."""
    printed = ""
    deadline = time.monotonic() + 20
    while text not in printed and time.monotonic() < deadline:
        time.sleep(SHORT)
        captured = capsys.readouterr()
        assert captured.out == ""
        printed += captured.err
    return printed.splitlines()


# ---- in a log ----


@pytest.mark.usefixtures("_short_intervals")
def test_progress_is_printed_as_lines_without_a_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Even without updates; then the latest figures; and nothing after the end."""
    with progress.progress_bar("runs") as update:
        first = wait_for_line(capsys, "runs ...")
        assert first[0] == "runs ... (0 s)"
        update(12, 1200, "3 failed")
        assert wait_for_line(capsys, "failed")[-1].startswith("runs: 12 of 1,200, 3 failed (")
    capsys.readouterr()
    time.sleep(5 * SHORT)
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("_short_intervals")
def test_each_step_is_announced_on_its_own_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Immediately, however short it is; lines in between are about the current step."""
    with progress.progress_steps(("read", "write")) as steps:
        steps.begin("read", "looking at files")
        steps.update(1, 2)
        lines = wait_for_line(capsys, "read: 1 of 2")
        assert lines[0] == "[1/2] read: looking at files"
        steps.begin("write", "saving")
        lines = wait_for_line(capsys, "write ...")
        assert "[2/2] write: saving" in lines
        assert not [line for line in lines[lines.index("[2/2] write: saving") :] if "read" in line]


def test_quick_work_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """If it ends before the first line is due."""
    with progress.progress_line("looking") as update:
        update("here")
    assert capsys.readouterr() == ("", "")


def test_lines_are_printed_while_standard_error_is_redirected() -> None:
    """Starting Spark redirects descriptor 2; the lines still go to the original standard error."""
    code = """
import os, time
from beforehand.cli.ui import progress
progress.FIRST_LINE = progress.NEXT_LINE = 0.01
with progress.progress_line("starting"):
    saved, devnull = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, 2)
    time.sleep(0.2)
    os.write(2, b"greetings")
    os.dup2(saved, 2)
"""
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert "starting ... (0 s)\n" in process.stderr and "greetings" not in process.stderr
    assert process.stdout == ""


# ---- on a terminal ----


def test_terminals_show_bars_and_colours() -> None:
    """Tables, bars and help are drawn in colour."""
    output = on_terminal(ALL)
    assert "━" in output and "3 of 12, going well" in plain(output)
    assert "looking" in output and "here and there" in plain(output)
    assert "fitting  no figures any more" in plain(output)  # without the old figures
    table, rest = output.split("counting", 1)
    assert COLOUR.search(table) and COLOUR.search(rest)
    assert COLOUR.search(rest[rest.index("Usage") :])


def test_no_color_is_respected() -> None:
    """The same output without any colour."""
    output = on_terminal(ALL, NO_COLOR="1")
    assert "3 of 12, going well" in plain(output) and "─" in output and "Usage" in output
    assert not COLOUR.search(output)


def test_a_dumb_terminal_gets_plain_lines() -> None:
    """It can't interpret escape sequences, so progress is printed as lines."""
    lines = """
import time
from beforehand.cli.ui import progress
progress.FIRST_LINE = 0.01
with progress.progress_line("waiting"):
    time.sleep(0.2)
"""
    output = on_terminal(ALL + lines, TERM="dumb")
    assert "waiting ... (0 s)" in output
    assert "two" in output and "Usage" in output
    assert "\x1b" not in output


def test_colours_can_be_forced_in_a_pipe() -> None:
    """For tables and help, but not for bars, which would fill a file with redraws."""
    process = subprocess.run(
        [sys.executable, "-c", ALL],
        capture_output=True,
        text=True,
        check=True,
        env=environment(FORCE_COLOR="1"),
    )
    assert COLOUR.search(process.stdout) and "━" not in process.stdout
    assert process.stderr == ""
