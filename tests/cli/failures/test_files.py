"""Files that cannot be used: each is one reject or one unreadable file, and the others go on."""

from __future__ import annotations

import gzip
import json
import os
import shlex
import shutil
from pathlib import Path

import pytest

from tests.cli.failures.commands import BEFOREHAND, CALLS, LIST, fails, run

# For root: without the privilege to read every file.
WITHOUT_PRIVILEGES = ("setpriv", "--bounding-set=-dac_override,-dac_read_search")
OVERSIZED = 257 * 2**20  # bytes; a hole, which takes no room on disk
ENGINES = ["local", pytest.param("spark", marks=pytest.mark.spark)]
TRACE = '{"beforehand-trace": 1}\n{"process": "alice", "kind": "start"}\n'


def spoil(folder: Path) -> int:
    """Add every kind of file that cannot be used; how many."""
    (folder / "dangling.jsonl").symlink_to("/nowhere/at/all.jsonl")
    (folder / "cut.parquet").write_bytes(b"PAR1 and then nothing")
    (folder / "cut.jsonl.gz").write_bytes(gzip.compress(TRACE.encode())[:30])
    (folder / "invalid.jsonl").write_text('{"beforehand-trace": 1}\n{"process": ')
    return len(list(folder.iterdir()))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """With unusable files only, and a place for good ones."""
    (tmp_path / "in").mkdir()
    return tmp_path


@pytest.mark.parametrize("engine", ENGINES)
def test_ingest_rejects_each_and_goes_on(engine: str, folder: Path) -> None:
    """One row for each, with the reason; the good file is accepted."""
    bad = spoil(folder / "in")
    with open(folder / "in" / "oversized.csv", "wb") as file:
        file.truncate(OVERSIZED)
    (folder / "in" / "good.csv").write_text(CALLS)
    command = f"ingest in {LIST} --out messages --json --engine {engine}"
    result = run(shlex.split(command), folder)
    assert result.returncode == 0, result.stderr
    summary = json.loads(result.stdout)
    assert (summary["accepted"], summary["rejected"]) == (3, bad + 1)


@pytest.mark.parametrize("engine", ENGINES)
def test_audit_lists_each_and_goes_on(engine: str, folder: Path) -> None:
    """The good file is audited, and the code says that others were not."""
    bad = spoil(folder / "in")
    (folder / "in" / "good.jsonl").write_text(TRACE)
    result = run(shlex.split(f"audit in --json --engine {engine}"), folder)
    assert result.returncode == 2, result.stderr
    audited = json.loads(result.stdout)
    assert len(audited["unreadable"]) == bad
    assert [(row["verdict"], row["processes"]) for row in audited["runs"]] == [("clean", 1)]


@pytest.mark.parametrize(
    ("command", "code"),
    [(f"ingest in {LIST} --out messages --json", 0), ("audit in --json", 2)],
)
def test_a_file_that_may_not_be_read_is_one_of_these(command: str, code: int, folder: Path) -> None:
    """Also where the tests run as root, who may read everything."""
    for name in ("good", "secret"):
        (folder / "in" / f"{name}.jsonl").write_text(TRACE)
        (folder / "in" / f"{name}.csv").write_text(CALLS)
    for name in ("secret.jsonl", "secret.csv"):
        (folder / "in" / name).chmod(0)
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("root may read everything, and there is no setpriv")
    python = [*(WITHOUT_PRIVILEGES if os.geteuid() == 0 else ()), *BEFOREHAND]
    arguments = [*shlex.split(command), "--engine", "local"]
    result = run(arguments, folder, python=python)
    assert result.returncode == code, (result.stderr, result.stdout)
    found = json.loads(result.stdout)
    if code:
        (name,) = found["unreadable"]
        assert name.endswith("secret.jsonl") and len(found["runs"]) == 1
    else:
        assert (found["accepted"], found["rejected"]) == (4, 2)


@pytest.mark.parametrize("command", [f"ingest in {LIST} --out messages", "study in --out study"])
def test_nothing_usable_is_wrong_input(command: str, folder: Path) -> None:
    """The rejects stay, since they have the reasons."""
    spoil(folder / "in")
    result = run([*shlex.split(command), "--engine", "local"], folder)
    assert result.returncode == 2, result.stderr
    assert result.stderr.splitlines()[-1].startswith("beforehand: ")


def test_an_ingest_whose_tables_are_damaged_is_one_sentence(folder: Path) -> None:
    """Of `characterise`, which reads them."""
    (folder / "in" / "good.csv").write_text(CALLS)
    done = run(shlex.split(f"ingest in {LIST} --out messages --engine local"), folder)
    assert done.returncode == 0
    (table,) = (folder / "messages" / "messages").glob("*.parquet")
    table.write_bytes(table.read_bytes()[:100])
    assert "table" in fails(shlex.split("characterise messages --engine local"), 3, folder)
