"""`beforehand protocols`: every protocol in full, as a table and as JSON."""

import json
import os
import pty
import re
import subprocess
import sys
from dataclasses import asdict

import pytest
from typer.testing import CliRunner

from beforehand import protocols
from beforehand.cli import app

runner = CliRunner()


def run_in_terminal(*arguments: str, **environment: str) -> str:
    """Run the command with a pseudo-terminal as its output and return what it wrote."""
    controller, terminal = pty.openpty()
    # Only the test itself sets the variables that affect colours.
    unset = ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TERM", "COLUMNS")
    inherited = {name: value for name, value in os.environ.items() if name not in unset}
    process = subprocess.Popen(
        [sys.executable, "-m", "beforehand", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=terminal,
        env={**inherited, "TERM": "xterm-256color", "COLUMNS": "100", **environment},
    )
    os.close(terminal)
    written = bytearray()
    while True:
        try:
            chunk = os.read(controller, 65536)
        except OSError:  # Linux reports a closed peer as EIO
            break
        if not chunk:
            break
        written += chunk
    os.close(controller)
    assert process.wait(timeout=60) == 0
    return written.decode()


def test_every_protocol_has_its_full_line() -> None:
    """Outside a terminal, each protocol is one line and nothing is truncated."""
    result = runner.invoke(app, ["protocols"])
    assert result.exit_code == 0
    header, *lines = result.stdout.splitlines()
    assert header.split()[:2] == ["NAME", "CAUSAL"]
    assert [line.split()[0] for line in lines] == protocols.names()
    for line in lines:
        capabilities = protocols.describe(line.split()[0])
        for text in (capabilities.title, capabilities.source, capabilities.note):
            assert text in line


def test_pipes_ignore_the_terminal_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """COLUMNS has no effect on piped output."""
    wide = runner.invoke(app, ["protocols"]).stdout
    monkeypatch.setenv("COLUMNS", "40")
    assert runner.invoke(app, ["protocols"]).stdout == wide


def test_the_causal_column_distinguishes_the_controls() -> None:
    """This is the column that must never be wrong."""
    _, *lines = runner.invoke(app, ["protocols"]).stdout.splitlines()
    causal_column = {line.split()[0]: line.split()[1] for line in lines}
    assert causal_column == {
        name: "yes" if protocols.describe(name).causal else "no" for name in protocols.names()
    }
    assert {"yes", "no"} == set(causal_column.values())


def test_requirements_of_a_protocol_are_listed() -> None:
    """A fixed membership, an overlay or a timer that the application has to provide."""
    _, *lines = runner.invoke(app, ["protocols"]).stdout.splitlines()
    requirements = set()
    for line in lines:
        capabilities = protocols.describe(line.split()[0])
        overlay = "" if capabilities.overlay == "none" else f", {capabilities.overlay}"
        assert f" {capabilities.membership}{overlay}  " in line
        assert ("needs its timer" in line) == capabilities.timer
        requirements |= {capabilities.membership, capabilities.overlay, capabilities.timer}
    assert {"open", "fixed", "none", "links", True, False} <= requirements


def test_json_matches_describe() -> None:
    """The capabilities themselves, without rewording."""
    result = runner.invoke(app, ["protocols", "--json"])
    assert result.exit_code == 0
    expected = [asdict(protocols.describe(name)) for name in protocols.names()]
    assert json.loads(result.stdout) == json.loads(json.dumps(expected))
    assert [entry["name"] for entry in json.loads(result.stdout)] == protocols.names()


def test_terminal_output_is_coloured() -> None:
    """A terminal gets a drawn table with every name, in colour."""
    written = run_in_terminal("protocols")
    assert "\x1b[36m" in written
    for name in protocols.names():
        assert name in written


def test_narrow_terminals_break_lines_between_words() -> None:
    """On 80 columns nothing is missing, and no word is split."""
    written = run_in_terminal("protocols", NO_COLOR="1", COLUMNS="80")
    words = set(re.sub(r"\x1b\[[0-9;]*m", "", written).split())
    for name in protocols.names():
        capabilities = protocols.describe(name)
        assert {name, *capabilities.title.split(), *capabilities.source.split()} <= words


def test_no_color_is_respected() -> None:
    """With NO_COLOR set, the same table has no colours."""
    written = run_in_terminal("protocols", NO_COLOR="1")
    assert "\x1b[36m" not in written
    for name in protocols.names():
        assert name in written
