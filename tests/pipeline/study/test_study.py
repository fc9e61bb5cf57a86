"""A study as a whole: what it leaves, what it reuses, what it refuses."""

from __future__ import annotations

import json
from dataclasses import astuple, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner

from beforehand import report
from beforehand.cli import app
from beforehand.cli.report_commands import report_commands
from beforehand.errors import PipelineError
from beforehand.pipeline.ingest import read_messages, read_summary
from beforehand.pipeline.study import Candidate, Study, StudyResult, run_study
from beforehand.pipeline.study import study as job
from beforehand.pipeline.study.replayed_run import choose, replay_of
from beforehand.pipeline.study.schemas import PROTOCOLS, RECOMMENDATION
from tests.pipeline.characterise.test_graph import ancestors

pytestmark = pytest.mark.spark

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
    """A list of who wrote to whom, when."""
    file = tmp_path_factory.mktemp("calls") / "calls.txt"
    lines = [f"{PEOPLE[n % 4]} {PEOPLE[(n * n + 1) % 4]} {n}" for n in range(60)]
    file.write_text("".join(f"{line}\n" for line in lines if len(set(line.split())) == 3))
    return file


@pytest.fixture(scope="module")
def asked(calls: Path, tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A small study that has not been run."""
    out = tmp_path_factory.mktemp("study") / "out"
    return Study(str(out), CANDIDATES, [str(calls)], networks=("lan",))


@pytest.fixture(scope="module")
def stopped_and_run_again(spark: SparkSession, asked: Study) -> StudyResult:
    """Stopped when the replays were done, it goes on with the audit."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(job, "audit", stop)
        with pytest.raises(KeyboardInterrupt):
            run_study(spark, asked, command=COMMAND)
    assert not (Path(asked.out) / "_study.json").exists()
    return run_study(
        spark,
        asked,
        command=COMMAND,
        audit_command=lambda sources, out: f"audit {sources} to {out}",
    )


def test_it_goes_on_where_it_was_stopped(stopped_and_run_again: StudyResult) -> None:
    """Nothing that was done is done again."""
    assert stopped_and_run_again.reused == ["the ingest", "the characteristics", "3 of 3 replays"]


def test_a_second_call_only_reads(
    spark: SparkSession, asked: Study, stopped_and_run_again: StudyResult
) -> None:
    """All is reused, said to be, and the same."""
    steps: list[str] = []
    again = run_study(spark, asked, lambda step, _: steps.append(step), command=COMMAND)
    assert again.reused[-1] == "the audit" and len(again.reused) == 4
    assert replace(again, reused=[]).protocols == stopped_and_run_again.protocols
    assert steps == list(job.STEPS)


def test_what_it_finds(stopped_and_run_again: StudyResult) -> None:
    """Causal protocols are clean, the control is not recommended, and who cannot take part is told."""
    found = stopped_and_run_again
    assert found.sound
    assert [(each.protocol, each.usable) for each in found.protocols] == [
        ("hybrid", True),
        ("rst", True),
        ("raw", False),
    ]
    assert all(each.deliveries == found.replayed.messages for each in found.protocols)
    assert {name for each in found.advice for name in each.protocols} <= {"hybrid", "rst"}
    (left,) = found.excluded
    assert left.protocols == ("vector",) and left.reason.startswith("only broadcasts")


def test_what_it_leaves(
    spark: SparkSession, asked: Study, stopped_and_run_again: StudyResult
) -> None:
    """Tables as declared, a page for reading, and the note."""
    out = Path(asked.out)
    protocols = spark.read.schema(PROTOCOLS).parquet(str(out / "study" / "protocols")).collect()
    assert [row["protocol"] for row in protocols] == ["hybrid", "rst", "raw"]
    stored = spark.read.schema(RECOMMENDATION).parquet(str(out / "study" / "recommendation"))
    sentences = [row["sentence"] for row in stored.orderBy("place").collect()]
    assert sentences == [each.sentence for each in stopped_and_run_again.advice]
    page = (out / "recommendation.md").read_text()
    assert all(sentence in page for sentence in sentences) and "| (raw) |" in page
    note = json.loads((out / "_study.json").read_text())
    assert note["protocols"] == ["hybrid", "rst", "raw"] and note["left_out"].keys() == {"vector"}


def test_it_tells_how_it_was_made(asked: Study, stopped_and_run_again: StudyResult) -> None:
    """The command that does it again, where and when, and the sentences about the traffic."""
    note = json.loads((Path(asked.out) / "_study.json").read_text())
    assert note["command"] == COMMAND
    assert note["environment"].keys() >= {"beforehand", "Python", "cores", "pyspark", "Java"}
    assert datetime.fromisoformat(note["when"]).utcoffset() == timedelta(0)
    assert note["told"] == stopped_and_run_again.replayed.describe()
    assert (
        note["title"].startswith("calls0: 4 processes, 60 messages") and len(note["sentences"]) >= 3
    )
    (wave,) = (Path(asked.out) / "sweep" / "waves").glob("*.json")
    assert json.loads(wave.read_text())["command"] == COMMAND
    audited = json.loads((Path(asked.out) / "audit" / "_audit.json").read_text())
    assert audited["command"] == f"audit {audited['sources']} to {asked.out}/audit"


def test_a_report_has_the_very_figures(asked: Study, stopped_and_run_again: StudyResult) -> None:
    """Read from the folder alone; each row leads to its run, and each run has its commands."""
    contents = report.read(asked.out, commands=report_commands())
    (study,) = contents.studies
    assert not contents.missing and study.protocols is not None and study.audit is not None
    found = stopped_and_run_again
    assert list(study.protocols.rows) == [astuple(each) for each in found.protocols]
    runs = {run.anchor: run for run in study.runs}
    assert [runs[anchor or ""].name for anchor in study.protocols.runs] == [
        each.run for each in found.protocols
    ]
    assert [each.sentence for each in study.advice] == [each.sentence for each in found.advice]
    assert study.replayed == found.replayed.describe()
    for run in study.runs:
        protocol, _, network = run.title.partition(" on ")
        assert run.made.command.endswith(f"--protocol {protocol} --network {network}")
        assert run.made.command.count("--protocol") == 1 and run.diagram
    broken = sum(each.violations for each in found.protocols)
    assert study.audit.counted == broken == len(study.audit.violations)
    assert len(study.audit.verdicts.rows) == 3


def test_another_study_in_its_folder_is_refused(
    spark: SparkSession, asked: Study, stopped_and_run_again: StudyResult, tmp_path: Path
) -> None:
    """Another source, and a folder with other things; nothing is deleted."""
    with pytest.raises(PipelineError, match="holds a study of .*calls.txt, and this one is of the"):
        run_study(spark, replace(asked, sources=()))
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(PipelineError, match=r"holds other files \(thesis.tex\)"):
        run_study(spark, replace(asked, out=str(tmp_path)))
    assert (tmp_path / "thesis.tex").exists() and (Path(asked.out) / "_study.json").exists()


def test_a_part_of_a_run_is_closed(
    spark: SparkSession, asked: Study, stopped_and_run_again: StudyResult
) -> None:
    """The first messages, with all that they follow, and it is said."""
    folder = f"{asked.out}/ingest"
    summary, messages = read_summary(spark, folder), read_messages(spark, folder)
    run = choose(summary, None, folder)
    part = replay_of(messages, summary, run, 20)
    assert part.replayed == 20 and "the first 20 of" in part.describe()
    names = {send.id for send in part.program.sends}
    before = ancestors([row.asDict() for row in messages.collect()])
    assert all(before[name] <= names for name in names)
    with pytest.raises(PipelineError, match="no run 'nothing' with messages; choose one of "):
        choose(summary, "nothing", folder)


def invoke(*arguments: str) -> Any:
    """Run the command."""
    return CliRunner().invoke(app, list(arguments))


def test_the_commands(asked: Study, stopped_and_run_again: StudyResult) -> None:
    """What people see, and what programs get."""
    chosen = ["--protocol", "hybrid,rst", "--protocol", "raw", "--network", "lan"]
    shown = invoke("study", *asked.sources, "--out", asked.out, *chosen)
    assert shown.exit_code == 0, shown.output
    for text in ("On lan, with delay", "(raw)", "What to choose:", "low latency on lan"):
        assert text in shown.output
    assert "Reused from an earlier call: the ingest, the characteristics, 3 of 3" in shown.output
    ingested = f"{asked.out}/ingest"
    told = invoke("characterise", ingested)
    assert told.exit_code == 0 and "Table 1 of Almeida's paper for n = 4" in told.output
    assert "no run 'x' with messages" in invoke("characterise", ingested, "--run", "x").output


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("study", "--out", "x", "--protocol", "hybird"), "did you mean hybrid?"),
        (("study", "--out", "x", "--network", "moon"), "there is no network 'moon'"),
        (("study", "nowhere.txt", "--out", "/tmp/none"), "there is no such file or folder"),
        (("characterise", "/tmp/none"), "there is no such folder"),
    ],
)
def test_bad_input_is_a_sentence(
    spark: SparkSession, arguments: tuple[str, ...], problem: str
) -> None:
    """And exit code 2."""
    done = invoke(*arguments)
    assert done.exit_code == 2 and problem in done.output and "Traceback" not in done.output
