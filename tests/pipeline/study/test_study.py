"""A whole study: what it writes, what it reuses, and what it refuses."""

from __future__ import annotations

import json
from dataclasses import astuple, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from beforehand import report
from beforehand.cli import app
from beforehand.cli.report_commands import report_commands
from beforehand.errors import PipelineError
from beforehand.pipeline.engine import PipelineEngine
from beforehand.pipeline.ingest import read_messages, read_summary
from beforehand.pipeline.study import Candidate, Study, StudyResult, run_study
from beforehand.pipeline.study import study as job
from beforehand.pipeline.study.replayed_run import choose, replay_of
from beforehand.pipeline.study.schemas import PROTOCOLS, RECOMMENDATION
from tests.pipeline.characterise.test_graph import ancestors

CANDIDATES = (
    Candidate("hybrid", True, "O(1)"),
    Candidate("rst", True, "O(n^2)"),
    Candidate("vector", True, "O(n)"),
    Candidate("raw", False, "O(1)"),
)
COMMAND = "what a user typed"
PEOPLE = ("ann", "bob", "cleo", "dan")


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A list of sender, receiver and time."""
    file = tmp_path_factory.mktemp("calls") / "calls.txt"
    lines = [f"{PEOPLE[n % 4]} {PEOPLE[(n * n + 1) % 4]} {n}" for n in range(60)]
    file.write_text("".join(f"{line}\n" for line in lines if len(set(line.split())) == 3))
    return file


@pytest.fixture(scope="module")
def small_study(
    engine: PipelineEngine, calls: Path, tmp_path_factory: pytest.TempPathFactory
) -> Study:
    """A small study that has not been run, in a folder of its own for each engine."""
    out = tmp_path_factory.mktemp("study") / "out"
    return Study(str(out), CANDIDATES, [str(calls)], networks=("lan",))


@pytest.fixture(scope="module")
def interrupted_then_completed(engine: PipelineEngine, small_study: Study) -> StudyResult:
    """A study that is interrupted after the replays and then completed."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(job, "audit", interrupt)
        with pytest.raises(KeyboardInterrupt):
            run_study(engine, small_study, command=COMMAND)
    assert not (Path(small_study.out) / "_study.json").exists()
    return run_study(
        engine,
        small_study,
        command=COMMAND,
        audit_command=lambda sources, out: f"audit {sources} to {out}",
    )


def test_a_study_resumes_where_it_was_interrupted(interrupted_then_completed: StudyResult) -> None:
    """Completed steps are not repeated."""
    assert interrupted_then_completed.reused == [
        "the ingest",
        "the characteristics",
        "3 of 3 replays",
    ]


def test_a_second_run_reuses_everything(
    engine: PipelineEngine, small_study: Study, interrupted_then_completed: StudyResult
) -> None:
    """Every step is reused and listed as such, and the result is the same."""
    steps: list[str] = []
    again = run_study(engine, small_study, lambda step, _: steps.append(step), command=COMMAND)
    assert again.reused[-1] == "the audit" and len(again.reused) == 4
    assert replace(again, reused=[]).protocols == interrupted_then_completed.protocols
    assert steps == list(job.STEPS)


def test_the_result_of_a_study(interrupted_then_completed: StudyResult) -> None:
    """Causal protocols are clean, controls are not recommended, and exclusions have a reason."""
    result = interrupted_then_completed
    assert result.sound
    assert [(row.protocol, row.usable) for row in result.protocols] == [
        ("hybrid", True),
        ("rst", True),
        ("raw", False),
    ]
    assert all(row.deliveries == result.replayed.messages for row in result.protocols)
    assert {name for advice in result.advice for name in advice.protocols} <= {"hybrid", "rst"}
    (excluded,) = result.excluded
    assert excluded.protocols == ("vector",) and excluded.reason.startswith("only broadcasts")


def test_the_files_of_a_study(small_study: Study, interrupted_then_completed: StudyResult) -> None:
    """It writes the declared tables, a readable page, and the note."""
    out = Path(small_study.out)
    protocols = pq.read_table(out / "study" / "protocols", schema=PROTOCOLS)
    assert protocols["protocol"].to_pylist() == ["hybrid", "rst", "raw"]
    stored = pq.read_table(out / "study" / "recommendation", schema=RECOMMENDATION)
    sentences = stored.sort_by("place")["sentence"].to_pylist()
    assert sentences == [advice.sentence for advice in interrupted_then_completed.advice]
    page = (out / "recommendation.md").read_text()
    assert all(sentence in page for sentence in sentences) and "| (raw) |" in page
    note = json.loads((out / "_study.json").read_text())
    assert note["protocols"] == ["hybrid", "rst", "raw"] and note["left_out"].keys() == {"vector"}


def test_the_note_records_how_the_study_was_made(
    engine: PipelineEngine, small_study: Study, interrupted_then_completed: StudyResult
) -> None:
    """It has the command, the environment, the time, and the description of the workload."""
    note = json.loads((Path(small_study.out) / "_study.json").read_text())
    assert note["command"] == COMMAND
    assert note["environment"].keys() >= {"beforehand", "Python", "cores", "pyspark", "engine"}
    assert note["environment"]["engine"] == engine.name
    assert ("Java" in note["environment"]) == (engine.name == "spark")
    assert datetime.fromisoformat(note["when"]).utcoffset() == timedelta(0)
    assert note["told"] == interrupted_then_completed.replayed.describe()
    assert (
        note["title"].startswith("calls0: 4 processes, 60 messages") and len(note["sentences"]) >= 3
    )
    (wave,) = (Path(small_study.out) / "sweep" / "waves").glob("*.json")
    assert json.loads(wave.read_text())["command"] == COMMAND
    audit_note = json.loads((Path(small_study.out) / "audit" / "_audit.json").read_text())
    assert audit_note["command"] == f"audit {audit_note['sources']} to {small_study.out}/audit"


def test_the_report_has_the_same_figures(
    small_study: Study, interrupted_then_completed: StudyResult
) -> None:
    """It is read from the folder alone; each row links to its run, and each run has its commands."""
    contents = report.read(small_study.out, commands=report_commands())
    (study,) = contents.studies
    assert not contents.missing and study.protocols is not None and study.audit is not None
    result = interrupted_then_completed
    assert list(study.protocols.rows) == [astuple(row) for row in result.protocols]
    runs = {run.anchor: run for run in study.runs}
    assert [runs[anchor or ""].name for anchor in study.protocols.runs] == [
        row.run for row in result.protocols
    ]
    assert [advice.sentence for advice in study.advice] == [
        advice.sentence for advice in result.advice
    ]
    assert study.replayed == result.replayed.describe()
    for run in study.runs:
        protocol, _, network = run.title.partition(" on ")
        assert run.made.command.endswith(f"--protocol {protocol} --network {network}")
        assert run.made.command.count("--protocol") == 1 and run.diagram
    violations = sum(row.violations for row in result.protocols)
    assert study.audit.counted == violations == len(study.audit.violations)
    assert len(study.audit.verdicts.rows) == 3


def test_a_folder_that_holds_something_else_is_refused(
    engine: PipelineEngine,
    small_study: Study,
    interrupted_then_completed: StudyResult,
    tmp_path: Path,
) -> None:
    """A study of another source and foreign files are refused, and nothing is deleted."""
    with pytest.raises(PipelineError, match="holds a study of .*calls.txt, and this one is of the"):
        run_study(engine, replace(small_study, sources=()))
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(PipelineError, match=r"holds other files \(thesis.tex\)"):
        run_study(engine, replace(small_study, out=str(tmp_path)))
    assert (tmp_path / "thesis.tex").exists() and (Path(small_study.out) / "_study.json").exists()


def test_a_truncated_run_is_causally_closed(
    engine: PipelineEngine, small_study: Study, interrupted_then_completed: StudyResult
) -> None:
    """It has the first messages with all their causes, and its description says so."""
    folder = f"{small_study.out}/ingest"
    summary, messages = read_summary(engine.storage, folder), read_messages(engine, folder)
    run = choose(summary, None, folder)
    replayed_run = replay_of(messages, summary, run, 20)
    assert replayed_run.replayed == 20 and "the first 20 of" in replayed_run.describe()
    names = {send.id for send in replayed_run.program.sends}
    causes = ancestors(messages.collect().to_pylist())
    assert all(causes[name] <= names for name in names)
    with pytest.raises(PipelineError, match="no run 'nothing' with messages; choose one of "):
        choose(summary, "nothing", folder)


def invoke(engine: PipelineEngine, name: str, *arguments: str) -> Any:
    """Run a command with an engine of the same kind; Spark's session is that of the tests."""
    return CliRunner().invoke(app, [name, "--engine", engine.name, *arguments])


def test_the_output_of_the_commands(
    engine: PipelineEngine, small_study: Study, interrupted_then_completed: StudyResult
) -> None:
    """`study` prints the comparison and what it reused; `characterise` prints its tables."""
    options = ["--protocol", "hybrid,rst", "--protocol", "raw", "--network", "lan"]
    result = invoke(engine, "study", *small_study.sources, "--out", small_study.out, *options)
    assert result.exit_code == 0, result.output
    for text in ("On lan, with delay", "(raw)", "What to choose:", "low latency on lan"):
        assert text in result.output
    assert "Reused from an earlier call: the ingest, the characteristics, 3 of 3" in result.output
    ingested = f"{small_study.out}/ingest"
    characterised = invoke(engine, "characterise", ingested)
    assert (
        characterised.exit_code == 0
        and "Table 1 of Almeida's paper for n = 4" in characterised.output
    )
    assert (
        "no run 'x' with messages" in invoke(engine, "characterise", ingested, "--run", "x").output
    )


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("study", "--out", "x", "--protocol", "hybird"), "did you mean hybrid?"),
        (("study", "--out", "x", "--network", "moon"), "there is no network 'moon'"),
        (("study", "nowhere.txt", "--out", "/tmp/none"), "there is no such file or folder"),
        (("characterise", "/tmp/none"), "there is no such folder"),
    ],
)
def test_bad_input_is_an_error_without_a_traceback(
    engine: PipelineEngine, arguments: tuple[str, ...], problem: str
) -> None:
    """The exit code is 2."""
    result = invoke(engine, *arguments)
    assert result.exit_code == 2 and problem in result.output and "Traceback" not in result.output


def test_force_replaces_a_study_only_when_the_new_one_is_complete(
    engine: PipelineEngine, calls: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failure in the middle keeps the old one; notes have the names that folders will keep."""
    out = tmp_path / "out"
    asked = Study(str(out), CANDIDATES[:1], [str(calls)], networks=("lan",))
    run_study(engine, asked)
    old = (out / "_study.json").read_text()
    other = replace(asked, sources=(), messages=50, force=True)

    def fail(*_: object) -> None:
        raise MemoryError

    with monkeypatch.context() as patched:
        patched.setattr(job, "advise", fail)
        with pytest.raises(MemoryError):
            run_study(engine, other)
    assert (out / "_study.json").read_text() == old
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    result = run_study(engine, other)
    assert result.reused == [] and result.replayed.run == "shop"
    assert json.loads((out / "_study.json").read_text())["sources"] == []
    sources = json.loads((out / "audit" / "_audit.json").read_text())["sources"]
    assert sources and all(Path(source).is_dir() for source in sources)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
