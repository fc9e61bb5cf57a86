"""The auditor on Spark: the same verdicts, whatever the files, the order of rows and the path taken."""

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
from beforehand.pipeline.audit import audit, trace_files
from beforehand.pipeline.schemas import EVENTS, arrow_schema
from beforehand.trace import Event
from tests.pipeline.audit.logs import by_auditor, by_oracle, judge_events, random_run

pytestmark = pytest.mark.spark

Rows = list[dict[str, Any]]


def write(path: Path, events: Iterable[Event]) -> None:
    """Write a trace in the format of its name; several runs may be in it."""
    rows = [event._asdict() for event in events]
    if path.name.endswith(".parquet"):
        pq.write_table(pa.Table.from_pylist(rows, schema=arrow_schema(EVENTS)), path)
    else:
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        path.write_bytes(gzip.compress(lines.encode()))


def tables(spark: SparkSession, path: Path, **options: int) -> tuple[Rows, Rows, int]:
    """The verdicts and violations, sorted, and the exit code."""
    found = audit(spark, [str(path)], **options)
    try:
        verdicts = [row.asDict() for row in found.verdicts.orderBy("run").collect()]
        violations = [row.asDict() for row in found.violations.collect()]
        return verdicts, sorted(violations, key=str), found.exit_code
    finally:
        found.close()


@pytest.fixture(scope="module")
def runs() -> dict[str, list[Event]]:
    """Runs with mistakes of all kinds, and clean ones."""
    wild = {f"wild-{seed}": random_run(seed, run=f"wild-{seed}") for seed in range(60)}
    tame = {
        f"tame-{seed}": random_run(seed, careless=0.0, run=f"tame-{seed}") for seed in range(20)
    }
    return wild | tame


@pytest.fixture(scope="module")
def folder(runs: dict[str, list[Event]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All of them, shuffled and cut into files of different formats in different folders."""
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
    spark: SparkSession, folder: Path, runs: dict[str, list[Event]]
) -> None:
    """Whatever is wrong with a run is found, and nothing else."""
    verdicts, violations, code = tables(spark, folder)
    assert code == 1
    assert {row["run"] for row in verdicts} == set(runs)
    kinds: Counter[str] = Counter()
    for row in verdicts:
        events = runs[row["run"]]
        mine = [each for each in violations if each["run"] == row["run"]]
        assert sorted(
            (each["kind"], each["process"], (each["sender"], each["mid"]), len(each["chain"]))
            for each in mine
        ) == by_oracle(events)
        assert row["verdict"] == ("violated" if mine else "clean")
        assert row["events"] == len(events)
        counted = Counter(each["kind"] for each in mine)
        assert all(row[kind] == counted[kind] for kind in ("causal", "fifo", "lost", "invented"))
        kinds += counted
    assert set(kinds) == {"causal", "fifo", "duplicate", "invented", "lost"}
    assert sum(row["verdict"] == "clean" for row in verdicts) >= 20


def test_files_that_tasks_cannot_open_give_the_same(
    spark: SparkSession,
    runs: dict[str, list[Event]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Read by Spark, as from an object store; whole and in blocks."""
    write(tmp_path / "t.parquet", [event for n in range(9) for event in runs[f"wild-{n}"]])
    sizes = [sum(e.kind in ("send", "deliver") for e in runs[f"wild-{n}"]) for n in range(9)]
    near = tables(spark, tmp_path)
    monkeypatch.setattr(trace_files, "SCHEME", "nowhere:")
    assert tables(spark, tmp_path, large=max(sizes) - 1) == near


def test_a_large_run_in_blocks_gives_the_same(
    spark: SparkSession, runs: dict[str, list[Event]], tmp_path: Path
) -> None:
    """With clocks cut into single components, and beside a run that is judged whole."""
    write(tmp_path / "t.parquet", [*runs["wild-7"], *runs["wild-8"]])
    whole = tables(spark, tmp_path)
    assert whole[1], "these runs were to have mistakes"
    sizes = [sum(e.kind in ("send", "deliver") for e in runs[f"wild-{n}"]) for n in (7, 8)]
    blocks = tables(spark, tmp_path, large=min(sizes), memory=1)
    assert min(sizes) < max(sizes), "one of them should be above the limit"
    assert blocks == whole


def test_a_large_run_that_contradicts_itself(spark: SparkSession, tmp_path: Path) -> None:
    """It is not judged, and says why."""
    events = random_run(3)
    write(tmp_path / "t.parquet", [*events, next(e for e in events if e.kind == "deliver")])
    for large in (0, 10**9):
        (verdict,), violations, code = tables(spark, tmp_path, large=large)
        assert verdict["verdict"] == "unreadable" and code == 2 and not violations
        assert "is a file there twice?" in verdict["notes"][0]


def test_seeded_violations_are_all_found(spark: SparkSession, tmp_path: Path) -> None:
    """Hundreds of clean runs, each with one mistake put in; each mistake is found where it is."""
    rng = random.Random(11)
    events: list[Event] = []
    expected: dict[str, tuple[str, str, str, int]] = {}
    for seed in range(400):
        name = f"run-{seed}"
        run = random_run(seed, careless=0.0, run=name)
        if (mistake := _put_in(run, ("swap", "drop", "double", "invent")[seed % 4], rng)) is None:
            continue
        expected[name] = mistake
        events += run
    assert len(expected) > 300
    assert Counter(kind for kind, *_ in expected.values()).keys() == {
        *("causal", "lost", "duplicate", "invented")
    }
    write(tmp_path / "t.parquet", events)
    verdicts, violations, code = tables(spark, tmp_path)
    assert code == 1
    assert {row["run"] for row in verdicts if row["verdict"] == "violated"} == set(expected)
    found = {(v["run"], v["kind"], v["process"], v["sender"], v["mid"]) for v in violations}
    missing = {run: it for run, it in expected.items() if (run, *it) not in found}
    assert not missing, f"seed 11: {missing}"


def _put_in(run: list[Event], what: str, rng: random.Random) -> tuple[str, str, str, int] | None:
    """Put one mistake into a clean run: what the auditor should say of it, or None if it cannot be."""
    places = [place for place, event in enumerate(run) if event.kind == "deliver"]
    if what == "swap":
        # Two deliveries in a row at a process, of two messages of one sender: their order matters.
        last: dict[str, int] = {}
        pairs = []
        for place, event in enumerate(run):
            before = last.get(event.process)
            if (
                before is not None
                and event.kind == run[before].kind == "deliver"
                and event.sender == run[before].sender
            ):
                pairs.append((before, place))
            last[event.process] = place
        if not pairs:
            return None
        first, second = rng.choice(pairs)
        a, b = run[first], run[second]
        run[first], run[second] = b._replace(seq=a.seq), a._replace(seq=b.seq)
        return "causal", a.process, str(a.sender), int(a.mid or 0)
    place = rng.choice(places)
    event = run[place]
    key = (event.process, str(event.sender), int(event.mid or 0))
    later = [n for n, e in enumerate(run) if e.process == event.process and e.seq > event.seq]
    if what == "drop":
        for n in later:
            run[n] = run[n]._replace(seq=run[n].seq - 1)
        del run[place]
        return "lost", *key
    for n in later:
        run[n] = run[n]._replace(seq=run[n].seq + 1)
    extra = event._replace(seq=event.seq + 1)
    if what == "invent":
        extra = extra._replace(mid=10_000)
        key = (event.process, str(event.sender), 10_000)
    run.insert(place + 1, extra)
    return "duplicate" if what == "double" else "invented", *key


def test_a_bad_file_does_not_stop_the_others(spark: SparkSession, tmp_path: Path) -> None:
    """Cut off, of another kind, with rows that make no sense, or no JSON: each is said, and exit 2."""
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
    found = audit(spark, [str(tmp_path)])
    told = {Path(file).name: problem for file, problem in found.unreadable.items()}
    assert told.keys() == {"cut.parquet", "other.parquet", "wrong.parquet", "bad file.jsonl"}
    assert "not a complete Parquet file" in told["cut.parquet"]
    assert "not a trace" in told["other.parquet"]
    assert "row 1: `kind` is 'nonsense'" in told["wrong.parquet"]
    assert "line 1" in told["bad file.jsonl"]
    assert (found.runs, found.violated, found.exit_code) == (1, 0, 2)
    found.close()


def test_many_tiny_runs_do_not_cost_a_task_each(spark: SparkSession, tmp_path: Path) -> None:
    """A thousand runs in a file each; the tasks are counted."""
    events = random_run(5, careless=0.0)
    write(tmp_path / "0.parquet", events)
    table = pq.read_table(tmp_path / "0.parquet")
    place = table.schema.get_field_index("run")
    for number in range(1, 1000):
        named = table.set_column(place, "run", pa.array([f"r{number}"] * table.num_rows))
        pq.write_table(named, tmp_path / f"{number}.parquet")
    tracker = spark.sparkContext.statusTracker()
    spark.sparkContext.setJobGroup("tiny", "many tiny runs")
    found = audit(spark, [str(tmp_path)])
    assert (found.runs, found.exit_code) == (1000, 0)
    stages = [
        stage
        for job in tracker.getJobIdsForGroup("tiny")
        if (info := tracker.getJobInfo(job)) is not None
        for each in info.stageIds
        if (stage := tracker.getStageInfo(each)) is not None
    ]
    assert stages, "no stage was seen, so nothing was counted"
    assert sum(stage.numTasks for stage in stages) < 100
    spark.sparkContext.setJobGroup("", "")
    found.close()


def test_nothing_to_audit_is_an_error_that_says_where(spark: SparkSession, tmp_path: Path) -> None:
    """An empty folder, and one that is not there."""
    with pytest.raises(PipelineError, match="no traces here"):
        audit(spark, [str(tmp_path)])
    with pytest.raises(PipelineError, match="no such file or folder"):
        audit(spark, [str(tmp_path / "nowhere")])


def test_tables_are_written_with_a_note(spark: SparkSession, folder: Path, tmp_path: Path) -> None:
    """What is written is what was found."""
    found = audit(spark, [str(folder)])
    command = f"beforehand audit {folder} --out {tmp_path / 'out'}"
    found.write(str(tmp_path / "out"), command)
    again = spark.read.parquet(str(tmp_path / "out" / "violations"))
    assert sorted(map(str, again.collect())) == sorted(map(str, found.violations.collect()))
    note = json.loads((tmp_path / "out" / "_audit.json").read_text())
    assert note["command"] == command
    assert note["sources"] == [str(folder)] and "Java" in note["environment"] and note["when"]
    (shown,) = report.read(tmp_path / "out").audits
    assert len(shown.verdicts.rows) == found.runs and shown.counted == len(shown.violations) > 0
    rows = {(row.run, row.kind, row.sentence): row for row in found.violations.collect()}
    for each in shown.violations:
        chain = rows[each.run, each.kind, each.sentence].chain
        assert (each.diagram is not None) == bool(chain), each.sentence
        if each.diagram is not None:  # all of the chain, from the trace, and what is wrong with it
            assert len(each.diagram.messages) == len(set(chain)) and len(each.diagram.flags) == 1
            assert "alone" not in each.diagram.note
    found.close()


def test_the_judge_without_spark_gives_the_same(
    spark: SparkSession, folder: Path, runs: dict[str, list[Event]]
) -> None:
    """One run through all of Spark, and straight."""
    _, violations, _ = tables(spark, folder)
    straight = [each.row("wild-5") for each in judge_events(runs["wild-5"]).violations]
    assert by_auditor(judge_events(runs["wild-5"]))
    assert [each for each in violations if each["run"] == "wild-5"] == sorted(straight, key=str)
