"""`beforehand protocols`: every protocol, complete, for people and for programs."""

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


def in_a_terminal(*arguments: str, **environment: str) -> str:
    """Run the command with a pseudo-terminal as its output, and return what it wrote there."""
    ours, theirs = pty.openpty()
    # The variables that decide about colours come from the test alone.
    unset = ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TERM", "COLUMNS")
    inherited = {name: value for name, value in os.environ.items() if name not in unset}
    process = subprocess.Popen(
        [sys.executable, "-m", "beforehand", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        env={**inherited, "TERM": "xterm-256color", "COLUMNS": "100", **environment},
    )
    os.close(theirs)
    written = bytearray()
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # how Linux reports that the other side is closed
            break
        if not piece:
            break
        written += piece
    os.close(ours)
    assert process.wait(timeout=60) == 0
    return written.decode()


def test_every_protocol_has_its_full_line() -> None:
    """Away from a terminal each protocol is one line in which nothing was cut off."""
    result = runner.invoke(app, ["protocols"])
    assert result.exit_code == 0
    header, *lines = result.stdout.splitlines()
    assert header.split()[:2] == ["NAME", "CAUSAL"]
    assert [line.split()[0] for line in lines] == protocols.names()
    for line in lines:
        capabilities = protocols.describe(line.split()[0])
        for text in (capabilities.title, capabilities.source, capabilities.note):
            assert text in line


def test_narrow_terminals_do_not_narrow_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    """The width of a terminal that is not there does not matter."""
    wide = runner.invoke(app, ["protocols"]).stdout
    monkeypatch.setenv("COLUMNS", "40")
    assert runner.invoke(app, ["protocols"]).stdout == wide


def test_causal_protocols_are_told_from_the_controls() -> None:
    """The one column that must never be wrong is the one that says whether it is causal at all."""
    _, *lines = runner.invoke(app, ["protocols"]).stdout.splitlines()
    told = {line.split()[0]: line.split()[1] for line in lines}
    assert told == {
        name: "yes" if protocols.describe(name).causal else "no" for name in protocols.names()
    }
    assert {"yes", "no"} == set(told.values())


def test_what_must_be_given_and_the_timer_are_told() -> None:
    """A fixed membership, an overlay, a timer: whoever has to provide it can see it."""
    _, *lines = runner.invoke(app, ["protocols"]).stdout.splitlines()
    wanted = set()
    for line in lines:
        told = protocols.describe(line.split()[0])
        overlay = "" if told.overlay == "none" else f", {told.overlay}"
        assert f" {told.membership}{overlay}  " in line
        assert ("needs its timer" in line) == told.timer
        wanted |= {told.membership, told.overlay, told.timer}
    assert {"open", "fixed", "none", "links", True, False} <= wanted


def test_json_is_what_describe_says() -> None:
    """Programs get the capabilities themselves, with nothing reworded."""
    result = runner.invoke(app, ["protocols", "--json"])
    assert result.exit_code == 0
    expected = [asdict(protocols.describe(name)) for name in protocols.names()]
    assert json.loads(result.stdout) == json.loads(json.dumps(expected))
    assert [one["name"] for one in json.loads(result.stdout)] == protocols.names()


def test_terminals_get_colours() -> None:
    """A terminal gets a drawn table with every name in it, in colour."""
    written = in_a_terminal("protocols")
    assert "\x1b[36m" in written
    for name in protocols.names():
        assert name in written


def test_narrow_terminals_break_lines_between_words() -> None:
    """On 80 columns everything is still there, and no word is torn apart."""
    written = in_a_terminal("protocols", NO_COLOR="1", COLUMNS="80")
    words = set(re.sub(r"\x1b\[[0-9;]*m", "", written).split())
    for name in protocols.names():
        capabilities = protocols.describe(name)
        assert {name, *capabilities.title.split(), *capabilities.source.split()} <= words


def test_no_color_is_respected() -> None:
    """With NO_COLOR set the same table comes without any colour."""
    written = in_a_terminal("protocols", NO_COLOR="1")
    assert "\x1b[36m" not in written
    for name in protocols.names():
        assert name in written
