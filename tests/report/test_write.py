"""`beforehand report` and `report.write`: a page appears whole, and missing parts are listed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from beforehand import report
from beforehand.cli import app
from beforehand.cli import report as command
from beforehand.report import page
from tests.report import folders


def run(*arguments: object) -> Result:
    """The command."""
    return CliRunner().invoke(app, ["report", *map(str, arguments)])


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All kinds of outputs."""
    return folders.write_demo(tmp_path_factory.mktemp("write") / "demo")


def test_the_page_is_in_the_folder_that_it_is_about(demo: Path) -> None:
    """Its path comes first, then what is in it; a second call replaces it."""
    for _ in range(2):
        done = run(demo)
        assert done.exit_code == 0, done.output
        path, *lines = done.stdout.splitlines()
        assert Path(path) == demo / "report" / "index.html"
        assert [line.split()[0] for line in lines] == ["cluster", "study", "sweep", "audit"]
        assert "talk: 3 processes" in Path(path).read_text()
        assert [file.name for file in Path(path).parent.iterdir()] == ["index.html"]


def test_json_has_what_is_there_and_what_is_missing(demo: Path, tmp_path: Path) -> None:
    """For programs; the page is where it was wanted."""
    file = tmp_path / "new" / "page.html"
    done = run(demo, "--out", file, "--json")
    output = json.loads(done.stdout)
    assert done.exit_code == 0 and output["file"] == str(file) and file.exists()
    assert [len(output[part]) for part in ("clusters", "studies", "sweeps", "audits")] == [
        1,
        1,
        1,
        1,
    ]
    assert output["studies"][0]["runs"] == 4 and output["missing"] == []


def test_a_missing_part_is_a_line_and_not_a_failure(tmp_path: Path) -> None:
    """On standard error, so that pipes get the path alone; the page lists it too."""
    study = folders.write_study(tmp_path / "study")
    (study / "audit" / "_audit.json").unlink()
    done = run(study)
    assert done.exit_code == 0, done.output
    (line,) = done.stderr.splitlines()
    assert line.startswith("missing: the verdicts of the study study: there is no ")
    assert "resumes where it stopped" in line
    assert "_audit.json" in (study / "report" / "index.html").read_text()


def test_nothing_to_show_is_exit_code_2(tmp_path: Path) -> None:
    """A sentence; and where all that was there is damaged, a page that reports it."""
    none = run(tmp_path)
    assert (
        none.exit_code == 2 and none.stderr.count("\n") == 1 and "nothing to report" in none.stderr
    )
    audit = folders.write_audit(tmp_path / "audit", {"r": True})
    (audit / "_audit.json").write_text("{")
    damaged = run(audit)
    assert damaged.exit_code == 2 and "_audit.json cannot be read" in damaged.stderr
    assert (audit / "report" / "index.html").exists()


def test_what_is_not_installed_is_reported(monkeypatch: pytest.MonkeyPatch, demo: Path) -> None:
    """With the extra that brings it."""
    monkeypatch.setattr(command, "NEEDED", ("pyarrow", "no_such_package"))
    done = run(demo)
    assert done.exit_code == 2
    assert "needs no_such_package" in done.stderr and "beforehand[report]" in done.stderr


def test_a_page_that_cannot_be_made_leaves_the_old_one(
    demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It appears under its name when it is complete."""
    file = tmp_path / "page.html"
    file.write_text("the old one")

    def fail(_: report.ReportView) -> str:
        raise MemoryError

    monkeypatch.setattr(page, "html", fail)
    with pytest.raises(MemoryError):
        report.write(demo, file)
    assert file.read_text() == "the old one"


def test_a_path_that_cannot_be_written(demo: Path, tmp_path: Path) -> None:
    """A sentence with its name, before anything is drawn, and nothing is left behind."""
    (tmp_path / "file").write_text("")
    for path, problem in (
        (tmp_path, "is a folder; name a file in it"),
        (
            tmp_path / "file" / "page.html",
            f"cannot be written, since {tmp_path / 'file'} is a file",
        ),
    ):
        done = run(demo, "--out", path)
        assert done.exit_code == 2, done.output
        assert done.stderr.count("\n") == 1 and f"{path} {problem}" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_device_stays_one(tmp_path: Path) -> None:
    """Other than files are written into, and not replaced; a full device is a sentence."""
    full = Path("/dev/full")
    if not full.is_char_device():
        pytest.skip("there is no /dev/full here")
    study = folders.write_study(tmp_path / "study")
    assert run(study, "--out", "/dev/null").exit_code == 0
    done = run(study, "--out", full)
    assert done.exit_code == 2 and "/dev/full cannot be written (No space left" in done.stderr
    assert full.is_char_device() and Path("/dev/null").is_char_device()
    assert not list(Path("/dev").glob(".*.unfinished"))


def test_names_that_are_not_text_are_shown(tmp_path: Path) -> None:
    """A note may hold half of a character; the page shows it escaped."""
    study = folders.write_study(tmp_path)
    note = json.loads((study / "_study.json").read_text())
    folders.write_note(study / "_study.json", note | {"title": "half \ud800 a character"})
    report.write(study, tmp_path / "page.html")
    assert re.search(r"half \\ud800 a character", (tmp_path / "page.html").read_text())
