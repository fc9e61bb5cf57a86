"""`beforehand audit`: what it prints, and the exit codes that scripts rely on."""

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner, Result

from beforehand.cli import app
from tests.pipeline.audit.logs import Writer
from tests.pipeline.audit.test_audit import write

pytestmark = pytest.mark.spark


def command(*arguments: object) -> Result:
    """Run the command in the session that there is."""
    return CliRunner().invoke(app, ["audit", *map(str, arguments)])


def talk(run: str, *, late: bool) -> Writer:
    """Alice asks Bob and Carol, Bob answers to Carol; she may hear the answer first."""
    log = Writer(run)
    question = log.send("alice", "bob", "carol")
    log.deliver("bob", question)
    answer = log.send("bob", "carol")
    for message in (answer, question) if late else (question, answer):
        log.deliver("carol", message)
    return log


def test_exit_codes_and_words(spark: SparkSession, tmp_path: Path) -> None:
    """0 for a clean run, also with gaps, which are said; 1 for a violation; 2 for a bad file."""
    write(tmp_path / "good.parquet", talk("good", late=False).events)
    clean = command(tmp_path)
    assert clean.exit_code == 0, clean.output
    assert "1 run: 1 clean, 0 violated." in clean.output

    holed = [event for event in talk("holed", late=False).events if event.seq != 1]
    write(tmp_path / "holed.parquet", holed)
    gaps = command(tmp_path)
    assert gaps.exit_code == 0, gaps.output
    assert "clean, incomplete" in gaps.output and "1 with gaps" in gaps.output

    (tmp_path / "bad.jsonl").write_text("{")
    bad = command(tmp_path)
    assert bad.exit_code == 2, bad.output
    assert "bad.jsonl: not audited: line 1: not JSON" in bad.output

    write(tmp_path / "wrong.parquet", talk("wrong", late=True).events)
    violated = command(tmp_path, "--out", tmp_path / "out")
    assert violated.exit_code == 1, violated.output
    assert "wrong: causal: carol delivered bob#1 before alice#1" in violated.output
    assert (tmp_path / "out" / "_audit.json").exists()


def test_json_has_everything(spark: SparkSession, tmp_path: Path) -> None:
    """Runs, violations with their chains, files that could not be read, and the exit code."""
    write(tmp_path / "wrong.parquet", talk("wrong", late=True).events)
    told = command(tmp_path, "--json")
    found = json.loads(told.stdout)
    assert found["exit_code"] == told.exit_code == 1
    assert found["unreadable"] == {}
    assert [(run["run"], run["verdict"], run["causal"]) for run in found["runs"]] == [
        ("wrong", "violated", 1)
    ]
    (violation,) = found["violations"]
    assert violation["chain"] == ["alice#1", "bob#1"] and violation["seq"] == 2


def test_nothing_there_is_one_sentence(spark: SparkSession, tmp_path: Path) -> None:
    """And exit code 2, like all bad input."""
    none = command(tmp_path / "nowhere")
    assert none.exit_code == 2
    assert none.stderr.count("\n") == 1 and "no such file or folder" in none.stderr
