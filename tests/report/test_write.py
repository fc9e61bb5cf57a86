"""`beforehand report` and `report.write`: pages are written atomically, and missing parts are listed."""

from __future__ import annotations

import errno
import json
import os
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from beforehand import report, requirements
from beforehand.cli import app
from beforehand.report import page, writing
from tests.report import folders


def run(*arguments: object) -> Result:
    """Run the command."""
    return CliRunner().invoke(app, ["report", *map(str, arguments)])


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all kinds of outputs."""
    return folders.write_demo(tmp_path_factory.mktemp("write") / "demo")


def test_the_page_is_written_to_the_folder_of_the_results(demo: Path) -> None:
    """Its path is printed first, then its parts; a second call replaces it."""
    for _ in range(2):
        result = run(demo)
        assert result.exit_code == 0, result.output
        path, *lines = result.stdout.splitlines()
        assert Path(path) == demo / "report.html"
        assert [line.split()[0] for line in lines] == [
            "comparison",
            "comparison",
            "cluster",
            "study",
            "sweep",
            "audit",
        ]
        assert "talk: 3 processes" in Path(path).read_text()
        assert [file.name for file in demo.iterdir() if "report" in file.name] == ["report.html"]


def test_json_lists_present_and_missing_parts(demo: Path, tmp_path: Path) -> None:
    """And `--out` sets the path of the page."""
    file = tmp_path / "new" / "page.html"
    result = run(demo, "--out", file, "--json")
    output = json.loads(result.stdout)
    assert result.exit_code == 0 and output["file"] == str(file) and file.exists()
    counts = [
        len(output[part]) for part in ("comparisons", "clusters", "studies", "sweeps", "audits")
    ]
    assert counts == [2, 1, 1, 1, 1]
    assert output["studies"][0]["runs"] == 4 and output["missing"] == []


def test_a_missing_part_is_a_line_and_not_a_failure(tmp_path: Path) -> None:
    """On standard error, so that pipes get the path alone; the page lists it too."""
    study = folders.write_study(tmp_path / "study")
    (study / "audit" / "_audit.json").unlink()
    result = run(study)
    assert result.exit_code == 0, result.output
    (line,) = result.stderr.splitlines()
    assert line.startswith("missing: the verdicts of the study study: there is no ")
    assert "resumes where it stopped" in line
    assert "_audit.json" in (study / "report.html").read_text()


def test_nothing_to_show_is_exit_code_2(tmp_path: Path) -> None:
    """One sentence; if all results are damaged, there is also a page that reports it."""
    empty = run(tmp_path)
    assert empty.exit_code == 2 and empty.stderr.count("\n") == 1
    assert "nothing to report" in empty.stderr
    audit = folders.write_audit(tmp_path / "audit", {"r": True})
    (audit / "_audit.json").write_text("{")
    damaged = run(audit)
    assert damaged.exit_code == 2 and "_audit.json cannot be read" in damaged.stderr
    assert (audit / "report.html").exists()


def test_missing_packages_are_reported(monkeypatch: pytest.MonkeyPatch, demo: Path) -> None:
    """With the extra that installs them."""
    monkeypatch.setattr(requirements, "find_spec", lambda name: name != "jinja2" or None)
    result = run(demo)
    assert result.exit_code == 3
    assert "needs jinja2" in result.stderr and "pip install 'beforehand[report]'" in result.stderr


def test_a_failure_leaves_the_old_page(
    demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page is renamed to its final path only when it is complete."""
    file = tmp_path / "page.html"
    file.write_text("the old one")

    def fail(_: report.ReportView) -> str:
        raise MemoryError

    monkeypatch.setattr(page, "html", fail)
    with pytest.raises(MemoryError):
        report.write(demo, file)
    assert file.read_text() == "the old one"


def test_a_path_that_cannot_be_written_is_rejected(demo: Path, tmp_path: Path) -> None:
    """One sentence with the path, before any work, and nothing is left behind."""
    (tmp_path / "file").write_text("")
    for path, problem in (
        (tmp_path, "is a folder; name a file in it"),
        (
            tmp_path / "file" / "page.html",
            f"cannot be written, since {tmp_path / 'file'} is a file",
        ),
    ):
        result = run(demo, "--out", path)
        assert result.exit_code == 2, result.output
        assert result.stderr.count("\n") == 1 and f"{path} {problem}" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_device_is_not_replaced(tmp_path: Path) -> None:
    """Devices are written to; a full device is reported in one sentence."""
    full = Path("/dev/full")
    if not full.is_char_device():
        pytest.skip("there is no /dev/full here")
    study = folders.write_study(tmp_path / "study")
    assert run(study, "--out", "/dev/null").exit_code == 0
    result = run(study, "--out", full)
    assert result.exit_code == 3 and "/dev/full: no space left on device; free" in result.stderr
    assert full.is_char_device() and Path("/dev/null").is_char_device()
    assert not list(Path("/dev").glob(".*.unfinished"))


@pytest.mark.parametrize(
    ("number", "code"), [(errno.ENOSPC, 3), (errno.EACCES, 3), (errno.EROFS, 3), (errno.ENOENT, 2)]
)
def test_what_the_machine_refuses_is_exit_code_3(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, code: int
) -> None:
    """Unlike a wrong path; the sentence names the page, and not the temporary file."""
    study = folders.write_study(tmp_path / "study")

    def refuse(path: Path, _: str) -> None:
        raise OSError(number, os.strerror(number), f"{path}.unfinished")

    monkeypatch.setattr(writing, "write_text", refuse)
    result = run(study)
    reason = os.strerror(number).lower()
    assert result.exit_code == code
    assert f"{study / 'report.html'}: {reason}; " in result.stderr
    assert result.stderr.splitlines()[-1].startswith("beforehand: ")


def test_a_name_that_is_too_long_is_a_wrong_path(tmp_path: Path) -> None:
    """Another name helps, so it is exit code 2."""
    study = folders.write_study(tmp_path / "study")
    result = run(study, "--out", tmp_path / f"{'x' * 300}.html")
    assert result.exit_code == 2 and "file name too long; check the path" in result.stderr


def test_lone_surrogates_are_shown_escaped(tmp_path: Path) -> None:
    """JSON notes can contain them."""
    study = folders.write_study(tmp_path)
    note = json.loads((study / "_study.json").read_text())
    folders.write_note(study / "_study.json", note | {"title": "half \ud800 a character"})
    report.write(study, tmp_path / "page.html")
    assert re.search(r"half \\ud800 a character", (tmp_path / "page.html").read_text())
