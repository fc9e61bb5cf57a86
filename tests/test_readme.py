"""The README is true: its example runs, it is short, and its pages and figures lead somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from beforehand import protocols

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
README = (ROOT / "README.md").read_text()
PROTOCOLS = (DOCS / "protocols.md").read_text()
INDEX = (DOCS / "index.md").read_text()
LONGEST = 900  # words: a landing page
LINK = re.compile(r"\]\(([^)#\s]+)(?:#([\w-]+))?\)")


@pytest.mark.parametrize("text", [README, PROTOCOLS], ids=["README.md", "protocols.md"])
def test_the_example_runs(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The code block executes as it stands there, and has at most ten lines."""
    (code,) = re.findall(r"<!-- a test runs this -->\n```python\n(.*?)```", text, re.DOTALL)
    assert len([line for line in code.splitlines() if line.strip()]) <= 10
    exec(compile(code, "example", "exec"), {})
    assert capsys.readouterr().out == "bob got b'hello' from alice, message 1\n"


def test_the_readme_is_a_landing_page() -> None:
    """Everything else is in the documentation."""
    assert len(README.split()) <= LONGEST


def test_every_figure_of_the_evidence_has_its_command() -> None:
    """At most six rows, each with a command that exists."""
    table = README.split("## Evidence")[1].split("\n## ")[0]
    rows = [line.split("|")[1:-1] for line in table.splitlines() if line.startswith("| ")][2:]
    assert 1 <= len(rows) <= 6
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    from beforehand.cli import PANELS

    commands = {name for panel in PANELS.values() for name in panel}
    for what, figure, command in rows:
        program, name = command.strip().strip("`").split()[:2]
        assert re.search(r"\d", figure), what
        assert name in (targets if program == "make" else commands), command


@pytest.mark.parametrize("page", [ROOT / "README.md", *sorted(DOCS.glob("*.md"))], ids=str)
def test_links_lead_somewhere(page: Path) -> None:
    """To a file of the repository, and to a heading that it has."""
    for target, heading in LINK.findall(page.read_text()):
        if "://" in target:
            continue
        file = page.parent / target
        assert file.exists(), f"{page.name}: {target}"
        if heading:
            titles = re.findall(r"^#+ (.*)$", file.read_text(), re.MULTILINE)
            anchors = {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}
            assert heading in anchors, f"{page.name}: {target}#{heading}"


def test_the_index_has_every_page() -> None:
    """No page of the documentation is an orphan."""
    pages = {page.name for page in DOCS.glob("*.md")} - {"index.md"}
    assert pages - {target for target, _ in LINK.findall(INDEX)} == set()


def test_every_protocol_is_in_the_table() -> None:
    """No protocol is missing, and none is listed that does not exist."""
    table = PROTOCOLS.split("\n## ")[0]
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
