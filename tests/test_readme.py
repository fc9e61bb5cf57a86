"""The README is true: its examples run, and its table of protocols is complete."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from beforehand import protocols

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def test_the_examples_run(capsys: pytest.CaptureFixture[str]) -> None:
    """The code blocks of the README execute as they stand there."""
    codes = re.findall(r"<!-- a test runs this -->\n```python\n(.*?)```", README, re.DOTALL)
    assert len(codes) == 2
    for code in codes:
        assert len([line for line in code.splitlines() if line.strip()]) <= 10
        exec(compile(code, "README.md", "exec"), {})
        assert capsys.readouterr().out == "bob got b'hello' from alice, message 1\n"


def test_every_protocol_is_in_the_table() -> None:
    """No protocol is missing, and none is listed that does not exist."""
    table = README.split("## Protocols")[1].split("## Measured")[0]
    named = set(
        re.findall(r"`([a-z-]+)`", "".join(re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)))
    )
    assert named == set(protocols.names())


def test_an_example_shows_the_violation_and_its_absence() -> None:
    """The first example shows both outcomes."""
    script = ROOT / "examples" / "overtaking.py"
    ran = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert ran.stdout.count("VIOLATION: carol delivered bob#1 before alice#1") == 1
    assert "held at bob, waiting for a permit from alice" in ran.stdout


def test_an_example_compares_all_protocols() -> None:
    """The second example: causal protocols get nothing wrong, the controls do."""
    script = ROOT / "examples" / "comparing.py"
    ran = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    for name in protocols.names():
        lines = [line for line in ran.stdout.splitlines() if f"│ {name} " in line]
        assert lines, name
        for line in lines:
            assert ("nothing" in line) >= protocols.describe(name).causal, line
    assert ran.stdout.count("deliveries") >= 2
