"""Reading intact outputs: exact tables, rows linked to their runs, and runs with their commands."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from beforehand.report import ReportView
from beforehand.report.model import StudyView, SweepView, TableView
from beforehand.report.reading import audits
from tests.report import folders, schemas


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all kinds of outputs."""
    return folders.write_demo(tmp_path_factory.mktemp("whole") / "demo")


@pytest.fixture(scope="module")
def contents(root: Path) -> ReportView:
    """Its contents, with nothing missing."""
    view = folders.read(root)
    assert not view.missing
    return view


@pytest.fixture(scope="module")
def study(contents: ReportView) -> StudyView:
    """The only study."""
    (view,) = contents.studies
    return view


@pytest.fixture(scope="module")
def sweep(contents: ReportView) -> SweepView:
    """The only sweep."""
    (view,) = contents.sweeps
    return view


def rows_of(folder: Path) -> list[dict[str, Any]]:
    """Read the rows of a table from disk."""
    return [
        row for file in sorted(folder.glob("*.parquet")) for row in pq.read_table(file).to_pylist()
    ]


def as_dicts(table: TableView | None) -> list[dict[str, Any]]:
    """Return the rows of a table of a report."""
    assert table is not None
    names = [column.name for column in table.columns]
    return [dict(zip(names, row, strict=True)) for row in table.rows]


# ---- studies ----


def test_the_table_of_protocols_is_unchanged(root: Path, study: StudyView) -> None:
    """All columns and rows, in order and with their types; each row links to its run."""
    assert study.protocols is not None
    expected = rows_of(root / "shop-study" / "study" / "protocols")
    assert as_dicts(study.protocols) == expected
    assert [list(map(type, row)) for row in study.protocols.rows] == [
        list(map(type, row.values())) for row in expected
    ]
    by_anchor = {run.anchor: run for run in study.runs}
    assert tuple(by_anchor) == study.protocols.runs, "in the same order"
    for row, anchor in zip(expected, study.protocols.runs, strict=True):
        assert anchor is not None and by_anchor[anchor].name == row["run"]
        assert by_anchor[anchor].title == f"{row['protocol']} on {row['network']}"


def test_a_run_has_all_its_figures_and_its_commands(root: Path, study: StudyView) -> None:
    """All figures of the sweep, except those that are shown elsewhere."""
    sweep_folder = root / "shop-study" / "sweep"
    expected = {row["run"]: row for row in rows_of(sweep_folder / "results" / folders.WAVE)}
    assert len(study.runs) == len(expected) == 4
    for run in study.runs:
        row = expected[run.name]
        figures = {row["figure"]: row["value"] for row in as_dicts(run.figures)}
        # The sweep of a study does not judge; the audit next to it found one violation.
        row |= {"violations": int((row["protocol"], row["network"]) == ("fifo", "wan"))}
        assert figures == {k: v for k, v in row.items() if k not in ("scenario", "series", "error")}
        assert json.loads(run.scenario) == json.loads(row["scenario"]) and "\n" in run.scenario
        chosen = f"--protocol {row['protocol']} --network {row['network']}"
        assert run.made.command == f"beforehand study --out study {chosen}"
        traces = sweep_folder / "traces" / folders.WAVE
        assert run.diagram == f"beforehand diagram {traces} --run {run.name}"
        assert run.made.environment == folders.MADE["environment"] and not run.error


def test_every_figure_is_explained(study: StudyView, sweep: SweepView) -> None:
    """Each column has a description."""
    runs = [*study.runs, *sweep.runs]
    assert all(row["meaning"] and row["title"] for run in runs for row in as_dicts(run.figures))
    tables = [study.protocols, sweep.results, sweep.table1, sweep.exponents, *study.characteristics]
    assert all(column.meaning for table in tables if table is not None for column in table.columns)


def test_texts_come_from_the_pipeline(study: StudyView) -> None:
    """Title, workload, advice in order, and skipped protocols."""
    assert study.title == "talk: 3 processes, 2 messages, 3 copies within 5 µs"
    assert study.replayed.startswith("talk, the only run") and len(study.sentences) == 1
    assert [advice.situation.partition(" ")[0] for advice in study.advice] == [
        "in",
        "low",
        "without",
    ]
    assert study.advice[0].protocols == ("hybrid",) and study.advice[2].protocols == ()
    assert study.skipped == (("vector", "only broadcasts"),)
    names = [table.name.rpartition("-")[2] for table in study.characteristics]
    assert names == ["runs", "processes", "summaries"]


# ---- audits ----


def test_verdicts_and_violations(study: StudyView) -> None:
    """The worst run comes first; a violation has its sentence, its run, and a diagram of its chain."""
    audit = study.audit
    assert audit is not None and audit.counted == 1 and not audit.notes
    assert as_dicts(audit.verdicts)[0]["title"] == "fifo on wan"
    (violation,) = audit.violations
    assert violation.title == "fifo on wan" and violation.anchor == audit.verdicts.runs[0]
    drawn = violation.diagram
    assert drawn is not None and drawn.processes == folders.PEOPLE and drawn.axis == "order"
    (flag,) = drawn.flags
    late = drawn.marks[flag.mark]
    assert (late.kind, late.seq, drawn.processes[late.process]) == ("deliver", 4, "carol")
    assert flag.sentence == violation.sentence
    assert sorted(arrow.kind for arrow in drawn.arrows) == ["message"] * 3
    assert all(arrow.end is not None for arrow in drawn.arrows), "every arrow has an end"


def test_a_chain_is_drawn_without_its_trace(tmp_path: Path) -> None:
    """In the order of the chain, and a note says that there is no trace."""
    folder = folders.write_audit(tmp_path, {"r": True}, sources=["/nowhere/at/all"])
    (audit,) = folders.read(folder).audits
    (violation,) = audit.violations
    drawn = violation.diagram
    assert drawn is not None and "no trace" in drawn.note
    events = [(drawn.processes[mark.process], mark.kind, mark.message) for mark in drawn.marks]
    assert events == [
        ("alice", "send", 0),
        ("bob", "deliver", 0),
        ("bob", "send", 1),
        ("carol", "deliver", 1),
        ("carol", "deliver", 0),
    ]
    assert drawn.marks[drawn.flags[0].mark].message == 0 and violation.anchor is None


def test_a_standalone_audit_finds_its_trace(tmp_path: Path) -> None:
    """By the sources in its note, here JSON lines."""
    lines = [
        json.dumps({k: v for k, v in row.items() if v is not None})
        for row in folders.events("r", True)
    ]
    (tmp_path / "log.jsonl").write_text('{"beforehand-trace": 1}\n' + "\n".join(lines))
    folders.write_audit(tmp_path / "audit", {"r": True}, sources=[str(tmp_path / "log.jsonl")])
    (audit,) = folders.read(tmp_path).audits
    drawn = audit.violations[0].diagram
    assert drawn is not None and len(drawn.marks) == 11 and "no trace" not in drawn.note


def test_a_diagram_shows_only_processes_on_the_chain(tmp_path: Path) -> None:
    """Other receivers of the messages are omitted, with their arrows."""
    rows = folders.events("r", True)
    rows[0]["to"].append("dora")
    last = {"process": "alice", "seq": 4, "kind": "release", "sender": "alice", "mid": 1}
    rows += [{**rows[0], **last, "to": ["dora"]}, {**rows[3], "process": "dora", "seq": 1}]
    folders.write_table(tmp_path / "trace", rows, schemas.EVENTS)
    folders.write_audit(tmp_path / "audit", {"r": True}, sources=[str(tmp_path / "trace")])
    (audit,) = folders.read(tmp_path / "audit").audits
    drawn = audit.violations[0].diagram
    assert drawn is not None and drawn.processes == folders.PEOPLE and len(drawn.marks) == 11
    assert len(drawn.arrows) == 3 and all(arrow.end is not None for arrow in drawn.arrows)


def test_the_list_of_violations_is_shared_between_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run with few has all of them listed; all are counted, and a note refers to the table."""
    monkeypatch.setattr(audits, "LISTED", 10)
    runs = {"many": 50, "some": 20, "few": 2}
    folder = folders.write_audit(tmp_path, dict.fromkeys(runs, True))
    rows = [
        folders.broken(run) | {"seq": seq} for run, count in runs.items() for seq in range(count)
    ]
    folders.write_table(folder / "violations", rows, schemas.VIOLATIONS)
    verdicts = [row | {"causal": runs[row["run"]]} for row in rows_of(folder / "verdicts")]
    folders.write_table(folder / "verdicts", verdicts, schemas.VERDICTS, parts=2)
    (audit,) = folders.read(folder).audits
    listed = [violation.run for violation in audit.violations]
    assert {run: listed.count(run) for run in runs} == {"many": 4, "some": 4, "few": 2}
    assert audit.counted == 72
    assert audit.notes[0].startswith("10 of 72 violations are listed here")


# ---- sweeps ----


def test_a_sweep_has_each_run_once(root: Path, sweep: SweepView) -> None:
    """From the last wave that contains it; the tables of the pipeline are unchanged."""
    waves = [rows_of(path) for path in sorted((root / "growth" / "results").iterdir())]
    last = {row["run"]: row for wave in waves for row in wave}
    rows = as_dicts(sweep.results)
    assert len(rows) == len(last) == 6 and sweep.results is not None
    for row, anchor in zip(rows, sweep.results.runs, strict=True):
        expected = last[row["run"]]
        assert row["seconds_per_message"] == expected["seconds"] / expected["sent"]
        assert all(row[name] == expected[name] for name in row if name != "seconds_per_message")
        (run,) = [run for run in sweep.runs if run.anchor == anchor]
        assert run.name == row["run"] and f"--protocol {row['protocol']}" in run.made.command
    assert {row["latency_mean"] == 0.5 for row in rows} == {True, False}, "of both waves"
    metrics = root / "growth" / "metrics"
    assert as_dicts(sweep.table1) == rows_of(metrics / "table1")
    assert as_dicts(sweep.exponents) == rows_of(metrics / "exponents")


# ---- clusters and demos ----


def test_a_cluster_is_described(root: Path, contents: ReportView) -> None:
    """By the figures of its note, a table of processes, and the beginning of its trace."""
    (cluster,) = contents.clusters
    note = json.loads((root / "cluster" / "_cluster.json").read_text())
    rows = as_dicts(cluster.processes)
    assert [{k: process[k] for k in rows[0]} for process in note["processes"]] == rows
    assert cluster.clean and "lost 615 datagrams" in cluster.sentences[1]
    assert cluster.sentences[-1].startswith("Verdict: clean. 3 deliveries")
    assert cluster.diagram is not None and len(cluster.diagram.marks) == 11
    assert cluster.diagram_command == f"beforehand diagram {root / 'cluster'}"


def test_a_cluster_that_is_not_clean(tmp_path: Path) -> None:
    """Its verdict lists what was broken."""
    (cluster,) = folders.read(folders.write_cluster(tmp_path, clean=False)).clusters
    assert not cluster.clean
    assert cluster.sentences[-2:] == (
        "Verdict: not clean: 1 causal.",
        "carol delivered bob#1 before alice#1.",
    )


def test_a_demo_has_its_own_provenance(contents: ReportView) -> None:
    """It comes from the note of the demo."""
    assert contents.made.command == "beforehand demo" and contents.made.environment["cores"] == "2"


def test_an_incomplete_demo(tmp_path: Path) -> None:
    """A step that wasn't reached and a part that was removed are listed."""
    demo = folders.write_demo(tmp_path)
    note = json.loads((demo / "_demo.json").read_text())
    (demo / "cluster" / "_cluster.json").unlink()
    done = dict.fromkeys(("chat", "shop", "cluster", "audit", "shop study", "growth"), 1.5)
    folders.write_note(demo / "_demo.json", note | {"seconds": done, "finished": False})
    missing = {gap.what: gap.why for gap in folders.read(demo).missing}
    assert missing.keys() == {"the cluster of the demo", "the cluster study of the demo"}
    assert "is gone, or no longer what it was" in missing["the cluster of the demo"]
    assert missing["the cluster study of the demo"].startswith(
        "the demo was stopped before it; run"
    )


def test_parts_of_a_study_are_not_listed_again(contents: ReportView) -> None:
    """Its own sweep and audit belong to it; those next to it don't."""
    assert len(contents.sweeps) == 1 and len(contents.audits) == 1
    assert contents.audits[0].title == "cluster-audit: 1 run, no violations"


def test_names_and_anchors_are_unique(contents: ReportView, tmp_path: Path) -> None:
    """Even if there are two copies of a study with similar names."""
    folders.write_study(tmp_path / "a b")
    folders.write_study(tmp_path / "a-b")
    for view in (contents, folders.read(tmp_path)):
        names = list(_names(view))
        assert len(names) > 10 and len(set(names)) == len(names)
        assert all(set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-") for name in names)


def _names(value: Any) -> list[str]:
    """Return the names of all tables and the anchors in a value."""
    own = [value.name] if isinstance(value, TableView) else []
    own += [value.anchor] if hasattr(value, "figures") else []
    inner = getattr(value, "__dict__", {}).values() if is_dataclass(value) else value
    if isinstance(value, (str, int, float, dict)) or value is None:
        return own
    assert not is_dataclass(value) or fields(value)
    return own + [name for item in inner for name in _names(item)]


def test_an_ingest_alone_is_a_workload_without_a_replay(tmp_path: Path) -> None:
    """Its characteristics are shown, and the next step is suggested."""
    folders.write_note(tmp_path / "in" / "_ingest.json", {"version": 1, "messages": 2, "runs": []})
    study = folders.write_study(tmp_path / "study")
    (study / "characteristics").rename(tmp_path / "in" / "characteristics")
    contents = folders.read(tmp_path / "in")
    (workload,) = contents.studies
    assert workload.title == "in: 2 messages" and len(workload.characteristics) == 3
    assert workload.protocols is None and "it has not been replayed" in contents.missing[0].why
    characteristics = folders.read(tmp_path / "in" / "characteristics").studies[0]
    assert [table.rows for table in characteristics.characteristics] == [
        table.rows for table in workload.characteristics
    ]
