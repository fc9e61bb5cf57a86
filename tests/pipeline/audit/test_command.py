"""`beforehand audit`: what it prints, and the exit codes that scripts rely on."""

import json
from pathlib import Path

from typer.testing import CliRunner, Result

from beforehand.cli import app
from beforehand.pipeline.engine import PipelineEngine
from tests.pipeline.audit.logs import Writer
from tests.pipeline.audit.test_audit import write


def command(engine: PipelineEngine, *arguments: object) -> Result:
    """Run the command with an engine of the same kind; Spark's session is that of the tests."""
    return CliRunner().invoke(app, ["audit", "--engine", engine.name, *map(str, arguments)])


def conversation(run: str, *, late: bool) -> Writer:
    """Alice asks Bob and Carol, Bob answers Carol; with `late`, the question reaches Carol last."""
    log = Writer(run)
    question = log.send("alice", "bob", "carol")
    log.deliver("bob", question)
    answer = log.send("bob", "carol")
    for message in (answer, question) if late else (question, answer):
        log.deliver("carol", message)
    return log


def test_exit_codes_and_messages(engine: PipelineEngine, tmp_path: Path) -> None:
    """0 for clean runs, even with gaps, which are reported; 1 for a violation; 2 for a bad file."""
    write(tmp_path / "good.parquet", conversation("good", late=False).events)
    clean = command(engine, tmp_path)
    assert clean.exit_code == 0, clean.output
    assert "1 run: 1 clean, 0 violated." in clean.output

    with_gap = [event for event in conversation("holed", late=False).events if event.seq != 1]
    write(tmp_path / "holed.parquet", with_gap)
    gaps = command(engine, tmp_path)
    assert gaps.exit_code == 0, gaps.output
    assert "clean, incomplete" in gaps.output and "1 with gaps" in gaps.output

    (tmp_path / "bad.jsonl").write_text("{")
    bad = command(engine, tmp_path)
    assert bad.exit_code == 2, bad.output
    assert "bad.jsonl: not audited: line 1: not JSON" in bad.output

    write(tmp_path / "wrong.parquet", conversation("wrong", late=True).events)
    violated = command(engine, tmp_path, "--out", tmp_path / "out")
    assert violated.exit_code == 1, violated.output
    assert "wrong: causal: carol delivered bob#1 before alice#1" in violated.output
    assert (tmp_path / "out" / "_audit.json").exists()


def test_json_has_everything(engine: PipelineEngine, tmp_path: Path) -> None:
    """The output has runs, violations with their chains, unreadable files and the exit code."""
    write(tmp_path / "wrong.parquet", conversation("wrong", late=True).events)
    result = command(engine, tmp_path, "--json")
    output = json.loads(result.stdout)
    assert output["exit_code"] == result.exit_code == 1
    assert output["unreadable"] == {}
    assert [(run["run"], run["verdict"], run["causal"]) for run in output["runs"]] == [
        ("wrong", "violated", 1)
    ]
    (violation,) = output["violations"]
    assert violation["chain"] == ["alice#1", "bob#1"] and violation["seq"] == 2


def test_a_missing_source_is_reported_in_one_line(engine: PipelineEngine, tmp_path: Path) -> None:
    """The exit code is 2, as for all bad input."""
    result = command(engine, tmp_path / "nowhere")
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1 and "no such file or folder" in result.stderr
