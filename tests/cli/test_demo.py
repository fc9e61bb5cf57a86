"""`beforehand demo`, without Spark: its folder, what it refuses, and what it says in the end.

`tests/pipeline/test_demo.py` runs one.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from beforehand.cli import app, report, spark
from beforehand.cli.demo import folder as demo_folder
from beforehand.cli.demo import steps as demo_steps
from beforehand.cli.demo import summary as demo_summary
from beforehand.errors import PipelineError
from beforehand.pipeline import session
from beforehand.results.layout import DemoFolder

NOTE: dict[str, Any] = {"command": "beforehand demo", "finished": False}


def invoke(*arguments: str) -> Result:
    """Run the command."""
    return CliRunner().invoke(app, ["demo", *arguments])


@pytest.fixture
def no_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    """A session that must not be started."""
    monkeypatch.setattr(spark, "start_session", lambda *_: pytest.fail("Spark was started"))


# ---- its folder ----


def test_a_new_folder_is_marked_first(tmp_path: Path) -> None:
    """So that whatever a killed demo leaves behind is known to be a demo's."""
    folder = tmp_path / "new" / "demo"
    demo_folder.claim(folder, NOTE)
    [mark] = folder.iterdir()
    assert json.loads(mark.read_text()) == {"holds": "beforehand demo", "version": 1, **NOTE}


def test_a_demo_replaces_what_a_demo_has_left(tmp_path: Path) -> None:
    """All parts, also halves of them; not what somebody else has put beside them."""
    demo_folder.claim(tmp_path, NOTE)
    for name in DemoFolder.PARTS:
        (tmp_path / name).mkdir()
        (tmp_path / name / "half").write_text("a table")
    (tmp_path / "my notes.txt").write_text("keep me")
    demo_folder.claim(tmp_path, NOTE)
    left = sorted(each.name for each in tmp_path.iterdir())
    assert left == [DemoFolder.NOTE, "my notes.txt"]


def test_what_a_link_leads_to_stays(tmp_path: Path) -> None:
    """A part that somebody has moved to another disk: the link goes, and the tables there do not."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "table").write_text("rows")
    folder = tmp_path / "demo"
    demo_folder.claim(folder, NOTE)
    (folder / DemoFolder.GROWTH).symlink_to(elsewhere)
    demo_folder.claim(folder, NOTE)
    assert not (folder / DemoFolder.GROWTH).exists() and (elsewhere / "table").exists()


def test_a_demo_that_was_killed_as_it_wrote_its_mark_can_be_run_again(tmp_path: Path) -> None:
    """All that there is then is a hidden file."""
    (tmp_path / f".{DemoFolder.NOTE}.unfinished").write_text('{"hol')
    demo_folder.claim(tmp_path, NOTE)
    assert (tmp_path / DemoFolder.NOTE).exists()


@pytest.mark.parametrize("mark", [None, "no JSON", "[]", '{"holds": "a thesis"}'])
def test_a_folder_with_other_things_is_refused(
    tmp_path: Path, mark: str | None, no_spark: None
) -> None:
    """With its name, exit code 2, and nothing is removed, whatever is called like a mark."""
    (tmp_path / "cluster").mkdir()
    if mark is not None:
        (tmp_path / DemoFolder.NOTE).write_text(mark)
    before = sorted(tmp_path.iterdir())
    result = invoke("--out", str(tmp_path))
    assert result.exit_code == 2
    [line] = result.stderr.splitlines()
    assert line.startswith(f"beforehand: {tmp_path} holds other files (") and "--out" in line
    assert sorted(tmp_path.iterdir()) == before


def test_a_file_is_refused(tmp_path: Path, no_spark: None) -> None:
    """It is no folder."""
    file = tmp_path / "demo"
    file.write_text("a file")
    result = invoke("--out", str(file))
    assert result.exit_code == 2 and f"{file} is a file; choose a folder" in result.stderr


def test_a_place_that_cannot_be_is_refused_at_once(tmp_path: Path, no_spark: None) -> None:
    """Here a folder inside of a file; nobody waits for Spark to hear of it."""
    (tmp_path / "letter").write_text("dear")
    result = invoke("--out", str(tmp_path / "letter" / "demo"))
    assert result.exit_code == 2
    [line] = result.stderr.splitlines()
    assert "letter/demo: cannot be created (Not a directory); choose another folder" in line


# ---- what is missing ----


def without_java() -> None:
    """As on a machine that has none."""
    raise PipelineError("Spark needs Java 17 or newer: there is no 'java'")


@pytest.mark.parametrize(
    ("place", "name", "found", "problem"),
    [
        (session, "check_java", without_java, "Spark needs Java 17 or newer"),
        (
            report,
            "find_spec",
            lambda name: name != "jinja2" or None,
            "a report needs jinja2, which is not installed",
        ),
        (report, "find_spec", lambda name: name != "plotly" or None, "a report needs plotly"),
    ],
)
def test_what_is_missing_is_told_before_anything_runs(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    no_spark: None,
    place: Any,
    name: str,
    found: Any,
    problem: str,
) -> None:
    """Java, or a package: a sentence with the remedy, exit code 2, and no folder."""
    monkeypatch.setattr(place, name, found)
    result = invoke("--out", str(tmp_path / "demo"))
    assert result.exit_code == 2 and result.stdout == ""
    assert problem in result.stderr and "Traceback" not in result.output
    assert not (tmp_path / "demo").exists()


# ---- what it says ----

FAULTS = {"lost": 30, "doubled": 20, "held_back": 1_000}
CLEAN = {
    "clean": True,
    "sends": 2_000,
    "deliveries": 3_000,
    "held": 700,
    "violations": {},
    "lost": 0,
    "damaged": 0,
    "sentences": [],
}
STUDY = {
    "out": "demo/shop-study",
    "sound": True,
    "recommendation": [
        {"situation": "in general, at this size", "sentence": "rst: best."},
        {"situation": "low latency on lan", "sentence": "ks: p99 1 ms."},
        {"situation": "without causal order: fifo", "sentence": "7 of 100 on lan."},
        {"situation": "without causal order: raw", "sentence": "70 of 100 on lan."},
    ],
}
AUDIT = {
    "out": "demo/cluster-audit",
    "runs": 1,
    "events": 12_345,
    "violated": 0,
    "incomplete": 0,
    "unreadable": {},
    "exit_code": 0,
}
GROWTH = {
    "out": "demo/growth",
    "processes": [8, 16, 64],
    "runs": 24,
    "failed": 0,
    "table1": [
        {"protocol": "hybrid", "metadata_exponent": 0.004},
        {"protocol": "ks", "metadata_exponent": 0.96},
        {"protocol": "newtop", "metadata_exponent": None},
        {"protocol": "rst", "metadata_exponent": 1.94},
    ],
}


def everything(**others: dict[str, Any]) -> dict[str, Any]:
    """What the steps of a demo return, when all is well or when some are as given."""
    told: dict[str, Any] = {
        "cluster": {"plan": {"nodes": 5}, "processes": [FAULTS, FAULTS], "verdict": CLEAN},
        "audit": AUDIT,
        "cluster_study": STUDY,
        "shop_study": STUDY,
        "growth": GROWTH,
        "report": {"file": "demo/report/index.html", "missing": []},
    }
    return {name.replace("_", " "): value for name, value in (told | others).items()}


def test_the_steps_are_all_told() -> None:
    """The made-up results here have the names of the real steps."""
    assert everything().keys() == demo_steps.STEPS.keys()


def test_a_good_demo_in_a_few_sentences() -> None:
    """What the network did, the verdicts, what to choose, what breaks, and who grows."""
    told = everything()
    assert demo_steps.is_sound(told)
    found = demo_summary.rows(told)
    assert found[:5] == [
        (
            "a real cluster",
            "5 processes, 2,000 messages, encrypted; of their datagrams 60 were lost, 40 duplicated "
            "and 2,000 delayed. 3,000 deliveries, each once and in causal order; 700 messages were held "
            "for that.",
        ),
        ("its audit", "12,345 events in 1 run, judged on Spark: clean."),
        ("its workload", "In general, at this size: rst: best."),
        ("its workload", "Without causal order: fifo: 7 of 100 on lan."),
        ("a shop's workload", "In general, at this size: rst: best."),
    ]
    assert found[-2:] == [
        (
            "growth",
            "From 8 to 64 processes, metadata per message grows like n^1.94 with rst and n^0.96 "
            "with ks.",
        ),
        ("growth", "From 8 to 64 processes, metadata per message does not grow with hybrid."),
    ]


@pytest.mark.parametrize(
    ("others", "sentence"),
    [
        (
            {
                "cluster": {
                    "plan": {"nodes": 5},
                    "processes": [FAULTS],
                    "verdict": CLEAN
                    | {"clean": False, "violations": {"causal": 3}, "lost": 2}
                    | {"sentences": ["n1 delivered late.", "n2 too."]},
                }
            },
            "30 were lost, 20 duplicated and 1,000 delayed. BROKEN: 3 causal, 2 lost. n1 delivered "
            "late.",
        ),
        (
            {"audit": AUDIT | {"violated": 1, "exit_code": 1}},
            "BROKEN in 1; see demo/cluster-audit.",
        ),
        (
            {"audit": AUDIT | {"unreadable": {"a.parquet": "cut off"}, "exit_code": 2}},
            "not all could be audited; a.parquet: cut off; see demo/cluster-audit.",
        ),
        ({"shop_study": STUDY | {"sound": False}}, "NOT SOUND: a run failed or a protocol broke"),
        ({"growth": GROWTH | {"failed": 2}}, "FAILED: 2 of 24 runs; see demo/growth."),
    ],
)
def test_what_went_wrong_is_told(others: dict[str, Any], sentence: str) -> None:
    """In the place of the good news, and the demo as a whole has failed."""
    told = everything(**others)
    assert not demo_steps.is_sound(told)
    assert any(sentence in text for _, text in demo_summary.rows(told))


# ---- how it ends ----


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The steps, to be replaced: they find that all is well, without doing anything."""
    steps: dict[str, Any] = {
        name: ("text", lambda *_, found=found: found) for name, found in everything().items()
    }
    monkeypatch.setattr(spark, "start_session", lambda *_: None)
    monkeypatch.setattr(demo_steps, "STEPS", steps)
    return steps


def mark_in(folder: Path) -> dict[str, Any]:
    """What the mark says."""
    found: dict[str, Any] = json.loads((folder / DemoFolder.NOTE).read_text())
    return found


def test_a_good_demo_exits_with_0(tmp_path: Path, steps: dict[str, Any]) -> None:
    """The steps are told as they begin, the report at the end, and the mark says that all is over."""
    result = invoke("--out", str(tmp_path), "--seed", "3")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[-1].endswith(": demo/report/index.html")
    told = [f"[{number}/{len(steps)}] {name}: text" for number, name in enumerate(steps, 1)]
    assert [line for line in result.stderr.splitlines() if line.startswith("[")] == told
    mark = mark_in(tmp_path)
    assert mark["finished"] and mark["sound"] and mark["seconds"].keys() == steps.keys()
    assert mark["command"] == f"beforehand demo --out {tmp_path} --seed 3"


def test_a_promise_that_was_broken_exits_with_1(tmp_path: Path, steps: dict[str, Any]) -> None:
    """For people and for programs: here a part of the report is missing."""
    missing = {"what": "the audit", "why": "it was cut off"}
    steps["report"] = ("text", lambda *_: {"file": "index.html", "missing": [missing]})
    shown = invoke("--out", str(tmp_path))
    assert shown.exit_code == 1 and "missing: the audit: it was cut off" in shown.stdout
    told = invoke("--out", str(tmp_path), "--json")
    assert told.exit_code == 1 and json.loads(told.stdout)["sound"] is False
    assert mark_in(tmp_path)["finished"] and not mark_in(tmp_path)["sound"]


def test_a_demo_that_was_stopped_starts_again(tmp_path: Path, steps: dict[str, Any]) -> None:
    """Its mark says that it is not finished, and its halves are no obstacle."""

    def stop(*_: object) -> None:
        (tmp_path / DemoFolder.GROWTH).mkdir()
        raise KeyboardInterrupt

    good, steps["growth"] = steps["growth"], ("text", stop)
    assert invoke("--out", str(tmp_path)).exit_code not in (0, 1)
    assert not mark_in(tmp_path)["finished"] and mark_in(tmp_path)["seconds"].keys() == {
        *("cluster", "audit", "cluster study", "shop study")
    }
    assert (tmp_path / DemoFolder.GROWTH).exists()
    steps["growth"] = good
    assert invoke("--out", str(tmp_path)).exit_code == 0
    assert mark_in(tmp_path)["finished"] and not (tmp_path / DemoFolder.GROWTH).exists()
