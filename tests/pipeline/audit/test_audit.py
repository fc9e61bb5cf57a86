"""The auditor on both engines: the same verdicts regardless of files, row order and execution path."""

import gzip
import json
import random
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from beforehand import report
from beforehand.errors import PipelineError
from beforehand.pipeline.audit import audit, stages
from beforehand.pipeline.engine import PipelineEngine
from beforehand.pipeline.engine.spark import SparkEngine
from beforehand.pipeline.schemas import EVENTS
from beforehand.trace import Event
from tests.pipeline.audit.logs import by_auditor, by_oracle, judge_events, random_run

Rows = list[dict[str, Any]]


def write(path: Path, events: Iterable[Event]) -> None:
    """Write a trace, of one or several runs, in the format that its suffix names."""
    rows = [event._asdict() for event in events]
    if path.name.endswith(".parquet"):
        pq.write_table(pa.Table.from_pylist(rows, schema=EVENTS), path)
    else:
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        path.write_bytes(gzip.compress(lines.encode()))


def tables(engine: PipelineEngine, path: str, **options: int) -> tuple[Rows, Rows, int]:
    """The verdicts, the violations (sorted) and the exit code."""
    with audit(engine, [path], **options) as result:
        verdicts = result.verdicts.sort_by("run").to_pylist()
        violations = result.violations.collect().to_pylist()
        return verdicts, sorted(violations, key=str), result.exit_code


@pytest.fixture(scope="module")
def runs() -> dict[str, list[Event]]:
    """Runs with all kinds of mistakes, and clean ones."""
    wild = {f"wild-{seed}": random_run(seed, run=f"wild-{seed}") for seed in range(60)}
    tame = {
        f"tame-{seed}": random_run(seed, careless=0.0, run=f"tame-{seed}") for seed in range(20)
    }
    return wild | tame


@pytest.fixture(scope="module")
def folder(runs: dict[str, list[Event]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The events of all runs, shuffled and split over files of several formats and folders."""
    root = tmp_path_factory.mktemp("traces")
    events = [event for run in runs.values() for event in run]
    random.Random(1).shuffle(events)
    (root / "below").mkdir()
    third = len(events) // 3
    write(root / "a [1],{2}.parquet", events[:third])
    write(root / "below" / "b.jsonl.gz", events[third : 2 * third])
    write(root / "below" / "c.parquet", events[2 * third :])
    return root


def test_agrees_with_the_oracle_on_many_runs_at_once(
    engine: PipelineEngine, folder: Path, runs: dict[str, list[Event]]
) -> None:
    """Every violation of every run is found, and nothing else."""
    verdicts, violations, code = tables(engine, str(folder))
    assert code == 1
    assert {row["run"] for row in verdicts} == set(runs)
    kinds: Counter[str] = Counter()
    for row in verdicts:
        events = runs[row["run"]]
        own = [v for v in violations if v["run"] == row["run"]]
        assert sorted(
            (v["kind"], v["process"], (v["sender"], v["mid"]), len(v["chain"])) for v in own
        ) == by_oracle(events)
        assert row["verdict"] == ("violated" if own else "clean")
        assert row["events"] == len(events)
        counted = Counter(violation["kind"] for violation in own)
        assert all(row[kind] == counted[kind] for kind in ("causal", "fifo", "lost", "invented"))
        kinds += counted
    assert set(kinds) == {"causal", "fifo", "duplicate", "invented", "lost"}
    assert sum(row["verdict"] == "clean" for row in verdicts) >= 20


@pytest.mark.spark
def test_files_that_only_spark_can_open_give_the_same_verdicts(
    spark_engine: SparkEngine, runs: dict[str, list[Event]], tmp_path: Path, remote: str
) -> None:
    """Spark reads the files, as from an object store; runs are judged whole and in blocks."""
    events = [event for n in range(9) for event in runs[f"wild-{n}"]]
    write(tmp_path / "t.parquet", events[::2])
    write(tmp_path / "t.jsonl.gz", events[1::2])
    sizes = [sum(e.kind in ("send", "deliver") for e in runs[f"wild-{n}"]) for n in range(9)]
    direct = tables(spark_engine, str(tmp_path))
    assert direct[1], "these runs should have violations"
    assert tables(spark_engine, remote) == direct
    assert tables(spark_engine, remote, large=max(sizes) - 1) == direct


def test_a_large_run_judged_in_blocks_gives_the_same_verdict(
    engine: PipelineEngine, runs: dict[str, list[Event]], tmp_path: Path
) -> None:
    """Clocks are cut into single components, and another run of the same audit is judged whole."""
    write(tmp_path / "t.parquet", [*runs["wild-7"], *runs["wild-8"]])
    whole = tables(engine, str(tmp_path))
    assert whole[1], "these runs should have violations"
    sizes = [sum(e.kind in ("send", "deliver") for e in runs[f"wild-{n}"]) for n in (7, 8)]
    blocks = tables(engine, str(tmp_path), large=min(sizes), memory=1)
    assert min(sizes) < max(sizes), "exactly one run should exceed the limit"
    assert blocks == whole


def test_a_run_that_contradicts_itself_is_not_judged(
    engine: PipelineEngine, tmp_path: Path
) -> None:
    """The verdict is `unreadable` and the notes give the reason, in blocks or not."""
    events = random_run(3)
    write(tmp_path / "t.parquet", [*events, next(e for e in events if e.kind == "deliver")])
    for large in (0, 10**9):
        (verdict,), violations, code = tables(engine, str(tmp_path), large=large)
        assert verdict["verdict"] == "unreadable" and code == 2 and not violations
        assert "is a file there twice?" in verdict["notes"][0]


def test_every_seeded_violation_is_found(engine: PipelineEngine, tmp_path: Path) -> None:
    """Hundreds of clean runs get one mistake each; each is found where it was made."""
    rng = random.Random(11)
    events: list[Event] = []
    expected: dict[str, tuple[str, str, str, int]] = {}
    for seed in range(400):
        name = f"run-{seed}"
        run = random_run(seed, careless=0.0, run=name)
        if (
            mistake := _seed_violation(run, ("swap", "drop", "double", "invent")[seed % 4], rng)
        ) is None:
            continue
        expected[name] = mistake
        events += run
    assert len(expected) > 300
    assert Counter(kind for kind, *_ in expected.values()).keys() == {
        "causal",
        "lost",
        "duplicate",
        "invented",
    }
    write(tmp_path / "t.parquet", events)
    verdicts, violations, code = tables(engine, str(tmp_path))
    assert code == 1
    assert {row["run"] for row in verdicts if row["verdict"] == "violated"} == set(expected)
    reported = {(v["run"], v["kind"], v["process"], v["sender"], v["mid"]) for v in violations}
    missing = {run: key for run, key in expected.items() if (run, *key) not in reported}
    assert not missing, f"seed 11: {missing}"


def _seed_violation(
    run: list[Event], mistake: str, rng: random.Random
) -> tuple[str, str, str, int] | None:
    """Put a mistake into a clean run.

    Returns the violation to expect, or None if the run has no room for the mistake.
    """
    deliveries = [index for index, event in enumerate(run) if event.kind == "deliver"]
    if mistake == "swap":
        # Two consecutive deliveries at a process, of messages from one sender: their order matters.
        last: dict[str, int] = {}
        pairs = []
        for index, event in enumerate(run):
            previous = last.get(event.process)
            if (
                previous is not None
                and event.kind == run[previous].kind == "deliver"
                and event.sender == run[previous].sender
            ):
                pairs.append((previous, index))
            last[event.process] = index
        if not pairs:
            return None
        first, second = rng.choice(pairs)
        a, b = run[first], run[second]
        run[first], run[second] = b._replace(seq=a.seq), a._replace(seq=b.seq)
        return "causal", a.process, str(a.sender), int(a.mid or 0)
    index = rng.choice(deliveries)
    event = run[index]
    key = (event.process, str(event.sender), int(event.mid or 0))
    later = [n for n, e in enumerate(run) if e.process == event.process and e.seq > event.seq]
    if mistake == "drop":
        for n in later:
            run[n] = run[n]._replace(seq=run[n].seq - 1)
        del run[index]
        return "lost", *key
    for n in later:
        run[n] = run[n]._replace(seq=run[n].seq + 1)
    extra = event._replace(seq=event.seq + 1)
    if mistake == "invent":
        extra = extra._replace(mid=10_000)
        key = (event.process, str(event.sender), 10_000)
    run.insert(index + 1, extra)
    return "duplicate" if mistake == "double" else "invented", *key


def test_an_unreadable_file_does_not_stop_the_audit(engine: PipelineEngine, tmp_path: Path) -> None:
    """Truncated, foreign, invalid and malformed files are listed with the reason; the exit code is 2."""
    events = random_run(1, careless=0.0)
    write(tmp_path / "good.parquet", events)
    whole = (tmp_path / "good.parquet").read_bytes()
    (tmp_path / "cut.parquet").write_bytes(whole[: len(whole) // 2])
    pq.write_table(pa.table({"x": [1]}), tmp_path / "other.parquet")
    table = pq.read_table(tmp_path / "good.parquet")
    kind = table.schema.get_field_index("kind")
    wrong = table.set_column(kind, "kind", pa.array(["nonsense"] * table.num_rows))
    pq.write_table(wrong, tmp_path / "wrong.parquet")
    (tmp_path / "bad file.jsonl").write_text('{"process": "a", "kind": "sent"}\n')
    with audit(engine, [str(tmp_path)]) as result:
        reasons = {Path(file).name: reason for file, reason in result.unreadable.items()}
    assert reasons.keys() == {"cut.parquet", "other.parquet", "wrong.parquet", "bad file.jsonl"}
    assert "not a complete Parquet file" in reasons["cut.parquet"]
    assert "not a trace" in reasons["other.parquet"]
    assert "row 1: `kind` is 'nonsense'" in reasons["wrong.parquet"]
    assert "line 1" in reasons["bad file.jsonl"]
    assert (result.runs, result.violated, result.exit_code) == (1, 0, 2)


def write_tiny_runs(folder: Path) -> None:
    """A thousand small runs in a file each."""
    write(folder / "0.parquet", random_run(5, careless=0.0))
    table = pq.read_table(folder / "0.parquet")
    run_column = table.schema.get_field_index("run")
    for number in range(1, 1000):
        named = table.set_column(run_column, "run", pa.array([f"r{number}"] * table.num_rows))
        pq.write_table(named, folder / f"{number}.parquet")


def test_many_tiny_runs_are_judged_by_the_tasks_that_read_them(
    engine: PipelineEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Chunks of their files are never grouped by run."""
    write_tiny_runs(tmp_path)
    monkeypatch.delattr(stages, "judged")
    with audit(engine, [str(tmp_path)]) as result:
        assert (result.runs, result.exit_code) == (1000, 0)


@pytest.mark.spark
def test_many_tiny_runs_share_tasks(
    spark: SparkSession, spark_engine: SparkEngine, tmp_path: Path
) -> None:
    """A thousand runs in a file each take fewer than a hundred tasks."""
    write_tiny_runs(tmp_path)
    tracker = spark.sparkContext.statusTracker()
    spark.sparkContext.setJobGroup("tiny", "many tiny runs")
    with audit(spark_engine, [str(tmp_path)]) as result:
        assert (result.runs, result.exit_code) == (1000, 0)
    run_stages = [
        stage
        for job in tracker.getJobIdsForGroup("tiny")
        if (info := tracker.getJobInfo(job)) is not None
        for stage_id in info.stageIds
        if (stage := tracker.getStageInfo(stage_id)) is not None
    ]
    assert run_stages, "no stage was seen, so no task was counted"
    assert sum(stage.numTasks for stage in run_stages) < 100
    spark.sparkContext.setJobGroup("", "")


def test_a_missing_or_empty_folder_is_an_error(engine: PipelineEngine, tmp_path: Path) -> None:
    """The error distinguishes an empty folder from one that does not exist."""
    with (
        pytest.raises(PipelineError, match="no traces here"),
        audit(engine, [str(tmp_path)]),
    ):
        pass
    with (
        pytest.raises(PipelineError, match="no such file or folder"),
        audit(engine, [str(tmp_path / "nowhere")]),
    ):
        pass


def test_tables_are_written_with_a_note(
    engine: PipelineEngine, folder: Path, tmp_path: Path
) -> None:
    """The written tables and the report read from them equal the audit's result."""
    command = f"beforehand audit {folder} --out {tmp_path / 'out'}"
    with audit(engine, [str(folder)]) as result:
        result.write(str(tmp_path / "out"), command)
        violations = result.violations.collect().to_pylist()
    stored = pq.read_table(tmp_path / "out" / "violations").to_pylist()
    assert sorted(map(str, stored)) == sorted(map(str, violations))
    note = json.loads((tmp_path / "out" / "_audit.json").read_text())
    assert note["command"] == command
    assert note["sources"] == [str(folder)] and note["when"]
    assert note["environment"]["engine"] == engine.name
    assert ("Java" in note["environment"]) == (engine.name == "spark")
    (view,) = report.read(tmp_path / "out").audits
    assert len(view.verdicts.rows) == result.runs and view.counted == len(view.violations) > 0
    rows = {(row["run"], row["kind"], row["sentence"]): row for row in violations}
    for violation in view.violations:
        chain = rows[violation.run, violation.kind, violation.sentence]["chain"]
        assert (violation.diagram is not None) == bool(chain), violation.sentence
        # A diagram shows the whole chain, read from the trace, and flags the violation.
        if (diagram := violation.diagram) is not None:
            assert len(diagram.messages) == len(set(chain)) and len(diagram.flags) == 1
            assert "alone" not in diagram.note


def test_the_judge_gives_the_same_findings_without_an_engine(
    engine: PipelineEngine, folder: Path, runs: dict[str, list[Event]]
) -> None:
    """One run is audited with an engine and by calling the judge directly."""
    _, violations, _ = tables(engine, str(folder))
    direct = [finding.row("wild-5") for finding in judge_events(runs["wild-5"]).violations]
    assert by_auditor(judge_events(runs["wild-5"]))
    assert [v for v in violations if v["run"] == "wild-5"] == sorted(direct, key=str)
