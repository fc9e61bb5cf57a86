"""Commands x wrong input: missing, damaged and impossible paths. Exit code 2, and nothing is started."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.cli.failures.commands import fails

# Rows for commands of the pipeline belong here, too: they are refused before an engine starts.
MISSING = (
    "simulate --workload replay --program nowhere.jsonl",
    "simulate --workload replay --program nowhere",
    "check --protocol mattern --out nowhere/run.jsonl",
    "diagram nowhere",
    "report nowhere",
    "node alice --key nowhere",
    "keygen --out nowhere/key",
)
DAMAGED = (
    "simulate --workload replay --program damaged.jsonl",
    "simulate --workload replay --program damaged.parquet",
    "diagram damaged.jsonl",
    "diagram damaged.parquet",
    "node alice --key damaged.jsonl",
)
# A folder that would be inside of a file.
IMPOSSIBLE = (
    "simulate --processes 3 --messages 3 --out letter/run",
    "cluster --nodes 2 --messages 10 --trace letter/traces",
    "check --protocol mattern --out letter/run.jsonl",
    "keygen --out letter/key",
    "node alice --trace letter/traces",
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
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """With files that are not what their names say."""
    (tmp_path / "damaged.jsonl").write_bytes(b'{"beforehand-trace": 1}\n{"run": ')
    (tmp_path / "damaged.parquet").write_bytes(b"PAR1 and then nothing")
    (tmp_path / "letter").write_text("dear")
    return tmp_path


@pytest.mark.parametrize("command", MISSING)
def test_a_path_that_does_not_exist_is_refused(command: str, folder: Path) -> None:
    """The sentence names it."""
    assert "nowhere" in fails(shlex.split(command), 2, folder)


@pytest.mark.parametrize("command", DAMAGED)
def test_a_damaged_file_is_refused(command: str, folder: Path) -> None:
    """The sentence names it."""
    assert "damaged" in fails(shlex.split(command), 2, folder)


@pytest.mark.parametrize("command", IMPOSSIBLE)
def test_a_path_that_cannot_exist_is_refused(command: str, folder: Path) -> None:
    """The sentence names it."""
    assert "letter" in fails(shlex.split(command), 2, folder)


@pytest.mark.parametrize("command", OPTIONS)
def test_wrong_options_are_refused(command: str, folder: Path) -> None:
    """Of every command."""
    fails(shlex.split(command), 2, folder)


def test_every_command_has_a_row() -> None:
    """A new command must say how it fails."""
    from beforehand.cli import PANELS

    rows = {row.split()[0] for row in (*MISSING, *DAMAGED, *IMPOSSIBLE, *OPTIONS)}
    assert rows == {name for commands in PANELS.values() for name in commands}
