"""Commands x wrong input: missing, damaged and impossible paths. Exit code 2, and nothing is started."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from beforehand.cli import PANELS, app
from tests.cli.failures.commands import CALLS, fails, files, sentence_of

TRACE = '{"beforehand-trace": 1}\n{"process": "alice", "kind": "start"}\n'

MISSING = (
    "simulate --workload replay --program nowhere.jsonl",
    "simulate --workload replay --program nowhere",
    "check --protocol mattern --out nowhere/run.jsonl",
    "diagram nowhere",
    "report nowhere",
    "node alice --key nowhere",
    "keygen --out nowhere/key",
    "ingest nowhere --out messages",
    "ingest calls.csv nowhere --out messages",
    "characterise nowhere",
    "sweep nowhere.toml --out sweep",
    "sweep --out nowhere",
    "sweep --workload replay:nowhere --protocol hybrid --out sweep",
    "audit nowhere",
    "audit good.jsonl nowhere --out verdicts",
    "study nowhere --out study",
)
USELESS = (
    "ingest empty --out messages",
    "characterise empty",
    "sweep --out empty",
    "audit empty",
    "study empty --out study",
)
DAMAGED = (
    "simulate --workload replay --program damaged.jsonl",
    "simulate --workload replay --program damaged.parquet",
    "diagram damaged.jsonl",
    "diagram damaged.parquet",
    "node alice --key damaged.jsonl",
    "characterise damaged-ingest",
    "sweep damaged.toml --out sweep",
)
# A folder that would be inside of a file.
IMPOSSIBLE = (
    "simulate --processes 3 --messages 3 --out letter/run",
    "cluster --nodes 2 --messages 10 --trace letter/traces",
    "check --protocol mattern --out letter/run.jsonl",
    "keygen --out letter/key",
    "node alice --trace letter/traces",
    "ingest calls.csv --out letter",
    "ingest calls.csv --out letter --force",
    "ingest calls.csv --out letter/messages",
    "characterise letter",
    "sweep --protocol hybrid --processes 3 --out letter",
    "sweep --protocol hybrid --processes 3 --out letter/sweep",
    "audit good.jsonl --out letter",
    "audit good.jsonl --out letter/verdicts",
    "study --out letter",
    "study --out letter --force",
    "study calls.csv --out letter/study",
    "demo --full --out letter/demo",
)
# A folder with files of a user, which no output may replace.
OCCUPIED = (
    "ingest calls.csv --out mine",
    "ingest calls.csv --out mine --force",
    "audit good.jsonl --out mine",
    "audit mine --out mine",
    "study calls.csv --out mine --force",
    "demo --full --out mine",
)
OPTIONS = (
    "simulate --loss 2",
    "simulate --delay 5",
    "simulate --protocol none",
    "check --sends many",
    "cluster --nodes 0",
    "cluster --loss 11x",
    "node",
    "node alice --peer =",
    "keygen x",
    "protocols --all",
    "doctor --all",
    "diagram",
    "report",
    "ingest",
    "characterise",
    "audit",
    "sweep --processes x --out s",
    "study --seed x",
    "demo --seed x",
    "ingest calls.csv --out messages --engine flink",
    "ingest calls.csv --out messages --engine local --master local",
    "ingest calls.csv --out messages --conf spark",
    "ingest calls.csv --out messages --map sender",
    "characterise . --engine local --conf spark.a=b",
    "sweep --protocol none --out sweep",
    "sweep --protocol hybrid --processes 3",
    "audit good.jsonl --engine x",
    "study --out study --network moon",
    "study --out study --protocol none",
    "demo --full --engine x",
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current one, with files that are not what their names say."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "damaged.jsonl").write_bytes(b'{"beforehand-trace": 1}\n{"run": ')
    (tmp_path / "damaged.parquet").write_bytes(b"PAR1 and then nothing")
    (tmp_path / "damaged.toml").write_text("protocol = [")
    (tmp_path / "damaged-ingest").mkdir()
    (tmp_path / "damaged-ingest" / "_ingest.json").write_text('{"rows": ')
    (tmp_path / "empty").mkdir()
    (tmp_path / "letter").write_text("dear")
    (tmp_path / "calls.csv").write_text(CALLS)
    (tmp_path / "good.jsonl").write_text(TRACE)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.jsonl").write_text(TRACE)
    return tmp_path


@pytest.fixture(autouse=True)
def java(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """A Java that has a version and must not be used for anything else."""
    home = tmp_path_factory.mktemp("java")
    (home / "bin").mkdir()
    program = home / "bin" / "java"
    program.write_text(
        f"""#!/bin/sh
        [ "$1" = -version ] && echo 'openjdk version "17.0.1"' >&2 && exit 0
        echo "$@" >> {home}/calls
        exit 1
        """
    )
    program.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(home))
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    yield
    assert not (home / "calls").exists()


def refused(command: str, folder: Path) -> str:
    """Run a command in this process, to save time; the folder stays as it was. Its sentence."""
    before = files(folder)
    result = CliRunner().invoke(app, shlex.split(command))
    assert result.exit_code == 2, (result.exit_code, result.stderr, result.stdout)
    assert result.stdout == ""
    assert files(folder) == before
    return sentence_of(result.stderr)


@pytest.mark.parametrize("command", MISSING)
def test_a_path_that_does_not_exist_is_refused(command: str, folder: Path) -> None:
    """The sentence names it, and no JVM was started for it."""
    assert "nowhere" in refused(command, folder)


@pytest.mark.parametrize("command", USELESS)
def test_a_folder_without_usable_files_is_refused(command: str, folder: Path) -> None:
    """The sentence names it, and no JVM was started for it."""
    assert "empty" in refused(command, folder)


@pytest.mark.parametrize("command", OCCUPIED)
def test_files_of_others_are_never_replaced(command: str, folder: Path) -> None:
    """Not even with --force; the sentence names one of them."""
    assert "mine holds other files (thesis" in refused(command, folder)


@pytest.mark.parametrize("command", DAMAGED)
def test_a_damaged_file_is_refused(command: str, folder: Path) -> None:
    """The sentence names it."""
    assert "damaged" in refused(command, folder)


@pytest.mark.parametrize("command", IMPOSSIBLE)
def test_a_path_that_cannot_exist_is_refused(command: str, folder: Path) -> None:
    """The sentence names it, and no JVM was started for it."""
    assert "letter" in refused(command, folder)


@pytest.mark.parametrize("command", OPTIONS)
def test_wrong_options_are_refused(command: str, folder: Path) -> None:
    """Of every command, and no JVM was started for them."""
    refused(command, folder)


@pytest.mark.parametrize("command", [MISSING[0], USELESS[0], OCCUPIED[0], OPTIONS[0]])
def test_a_real_process_refuses_as_well(command: str, folder: Path) -> None:
    """One row of some kinds."""
    fails(shlex.split(command), 2, folder)


def test_every_command_has_a_row() -> None:
    """A new command must say how it fails."""
    rows = {row.split()[0] for row in (*MISSING, *DAMAGED, *IMPOSSIBLE, *OCCUPIED, *OPTIONS)}
    assert rows == {name for commands in PANELS.values() for name in commands}
