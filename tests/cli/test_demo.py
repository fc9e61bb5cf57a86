"""`beforehand demo` without Spark: its folder, rejected input, and the summary at the end.

`tests/pipeline/test_demo.py` runs a complete demo.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from beforehand import requirements
from beforehand.cli import app, spark
from beforehand.cli.demo import folder as demo_folder
from beforehand.cli.demo import steps as demo_steps
from beforehand.cli.demo import summary as demo_summary
from beforehand.errors import ResourceError
from beforehand.results.layout import DemoFolder

NOTE: dict[str, Any] = {"command": "beforehand demo", "finished": False}


def invoke(*arguments: str) -> Result:
    """Run the command."""
    return CliRunner().invoke(app, ["demo", *arguments])


@pytest.fixture
def no_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail the test if it starts a Spark session."""
    monkeypatch.setattr(spark, "start_session", lambda *_: pytest.fail("Spark was started"))


# ---- the output folder ----


def test_a_new_folder_is_marked_before_anything_else(tmp_path: Path) -> None:
    """So that whatever a killed demo leaves behind can be recognised as a demo's."""
    folder = tmp_path / "new" / "demo"
    demo_folder.claim(folder, NOTE)
    [marker] = folder.iterdir()
    assert json.loads(marker.read_text()) == {"holds": "beforehand demo", "version": 1, **NOTE}


def test_a_demo_replaces_the_output_of_an_earlier_demo(tmp_path: Path) -> None:
    """All parts, including incomplete ones; unrelated files are kept."""
    demo_folder.claim(tmp_path, NOTE)
    for name in DemoFolder.PARTS:
        (tmp_path / name).mkdir()
        (tmp_path / name / "half").write_text("a table")
    (tmp_path / "my notes.txt").write_text("keep me")
    demo_folder.claim(tmp_path, NOTE)
    remaining = sorted(file.name for file in tmp_path.iterdir())
    assert remaining == [DemoFolder.NOTE, "my notes.txt"]


def test_the_target_of_a_symbolic_link_is_kept(tmp_path: Path) -> None:
    """For a part that was moved to another disk, only the link is removed, not its tables."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "table").write_text("rows")
    folder = tmp_path / "demo"
    demo_folder.claim(folder, NOTE)
    (folder / DemoFolder.GROWTH).symlink_to(elsewhere)
    demo_folder.claim(folder, NOTE)
    assert not (folder / DemoFolder.GROWTH).exists() and (elsewhere / "table").exists()


def test_a_demo_killed_while_writing_its_marker_can_be_run_again(tmp_path: Path) -> None:
    """The folder then contains only a hidden temporary file."""
    (tmp_path / f".{DemoFolder.NOTE}.unfinished").write_text('{"hol')
    demo_folder.claim(tmp_path, NOTE)
    assert (tmp_path / DemoFolder.NOTE).exists()


@pytest.mark.parametrize("marker", [None, "no JSON", "[]", '{"holds": "a thesis"}'])
def test_a_folder_with_other_files_is_rejected(
    tmp_path: Path, marker: str | None, no_spark: None
) -> None:
    """Exit code 2 with the path, and nothing is removed, even if a file has the name of a marker."""
    (tmp_path / "cluster").mkdir()
    if marker is not None:
        (tmp_path / DemoFolder.NOTE).write_text(marker)
    before = sorted(tmp_path.iterdir())
    result = invoke("--out", str(tmp_path))
    assert result.exit_code == 2
    [line] = result.stderr.splitlines()
    assert line.startswith(f"beforehand: {tmp_path} holds other files (") and "--out" in line
    assert sorted(tmp_path.iterdir()) == before


def test_a_file_as_output_folder_is_rejected(tmp_path: Path, no_spark: None) -> None:
    """The message says that the path is a file."""
    file = tmp_path / "demo"
    file.write_text("a file")
    result = invoke("--out", str(file))
    assert result.exit_code == 2 and f"{file} is a file; choose a folder" in result.stderr


def test_an_impossible_path_is_rejected_before_spark_starts(tmp_path: Path, no_spark: None) -> None:
    """Here a folder inside a file."""
    (tmp_path / "letter").write_text("dear")
    result = invoke("--out", str(tmp_path / "letter" / "demo"))
    assert result.exit_code == 2
    [line] = result.stderr.splitlines()
    assert "letter/demo: cannot be created (Not a directory); choose another folder" in line


# ---- missing requirements ----


def without_java() -> None:
    """Fail like a machine without Java."""
    raise ResourceError("Spark needs Java 17 or newer: there is no 'java'")


@pytest.mark.parametrize(
    ("module", "name", "replacement", "problem"),
    [
        (requirements, "find_java", without_java, "Spark needs Java 17 or newer"),
        (
            requirements,
            "find_spec",
            lambda name: name != "jinja2" or None,
            "needs jinja2, which is not installed",
        ),
        (requirements, "find_spec", lambda name: name != "plotly" or None, "needs plotly"),
    ],
)
def test_missing_requirements_are_reported_before_anything_runs(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    no_spark: None,
    module: Any,
    name: str,
    replacement: Any,
    problem: str,
) -> None:
    """Java or a package: one sentence with the remedy, exit code 3, and no folder."""
    monkeypatch.setattr(module, name, replacement)
    result = invoke("--out", str(tmp_path / "demo"))
    assert result.exit_code == 3 and result.stdout == ""
    assert problem in result.stderr and "Traceback" not in result.output
    assert not (tmp_path / "demo").exists()


# ---- the summary ----

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


def step_results(**overrides: dict[str, Any]) -> dict[str, Any]:
    """Return what the steps of a sound demo return, with the given results replaced."""
    results: dict[str, Any] = {
        "cluster": {"plan": {"nodes": 5}, "processes": [FAULTS, FAULTS], "verdict": CLEAN},
        "audit": AUDIT,
        "cluster_study": STUDY,
        "shop_study": STUDY,
        "growth": GROWTH,
        "report": {"file": "demo/report/index.html", "missing": []},
    }
    return {name.replace("_", " "): value for name, value in (results | overrides).items()}


def test_the_sample_results_cover_all_steps() -> None:
    """The sample results have the names of the real steps."""
    assert step_results().keys() == demo_steps.STEPS.keys()


def test_the_summary_of_a_sound_demo() -> None:
    """Network faults, verdicts, recommendations, results without causal order, and growth."""
    results = step_results()
    assert demo_steps.is_sound(results)
    rows = demo_summary.rows(results)
    assert rows[:5] == [
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
    assert rows[-2:] == [
        (
            "growth",
            "From 8 to 64 processes, metadata per message grows like n^1.94 with rst and n^0.96 "
            "with ks.",
        ),
        ("growth", "From 8 to 64 processes, metadata per message does not grow with hybrid."),
    ]


@pytest.mark.parametrize(
    ("overrides", "sentence"),
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
def test_failures_are_in_the_summary(overrides: dict[str, Any], sentence: str) -> None:
    """They replace the positive result, and the demo as a whole is unsound."""
    results = step_results(**overrides)
    assert not demo_steps.is_sound(results)
    assert any(sentence in text for _, text in demo_summary.rows(results))


# ---- exit codes and the marker file ----


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Replace the steps by stubs that return sound results; tests can override them."""
    steps: dict[str, Any] = {
        name: ("text", lambda *_, result=result: result) for name, result in step_results().items()
    }
    monkeypatch.setattr(spark, "start_session", lambda *_: None)
    monkeypatch.setattr(demo_steps, "STEPS", steps)
    return steps


def read_marker(folder: Path) -> dict[str, Any]:
    """Read the marker file of a demo."""
    marker: dict[str, Any] = json.loads((folder / DemoFolder.NOTE).read_text())
    return marker


def test_a_sound_demo_exits_with_0(tmp_path: Path, steps: dict[str, Any]) -> None:
    """Each step is announced as it begins, the report comes last, and the marker says finished."""
    result = invoke("--out", str(tmp_path), "--seed", "3")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[-1].endswith(": demo/report/index.html")
    expected = [f"[{number}/{len(steps)}] {name}: text" for number, name in enumerate(steps, 1)]
    assert [line for line in result.stderr.splitlines() if line.startswith("[")] == expected
    marker = read_marker(tmp_path)
    assert marker["finished"] and marker["sound"] and marker["seconds"].keys() == steps.keys()
    assert marker["command"] == f"beforehand demo --out {tmp_path} --seed 3"


def test_an_unsound_demo_exits_with_1(tmp_path: Path, steps: dict[str, Any]) -> None:
    """In text and in JSON; here a part of the report is missing."""
    missing = {"what": "the audit", "why": "it was cut off"}
    steps["report"] = ("text", lambda *_: {"file": "index.html", "missing": [missing]})
    as_text = invoke("--out", str(tmp_path))
    assert as_text.exit_code == 1 and "missing: the audit: it was cut off" in as_text.stdout
    as_json = invoke("--out", str(tmp_path), "--json")
    assert as_json.exit_code == 1 and json.loads(as_json.stdout)["sound"] is False
    assert read_marker(tmp_path)["finished"] and not read_marker(tmp_path)["sound"]


def test_an_interrupted_demo_can_be_restarted(tmp_path: Path, steps: dict[str, Any]) -> None:
    """Its marker says unfinished, and its incomplete parts are replaced."""

    def stop(*_: object) -> None:
        (tmp_path / DemoFolder.GROWTH).mkdir()
        raise KeyboardInterrupt

    good, steps["growth"] = steps["growth"], ("text", stop)
    assert invoke("--out", str(tmp_path)).exit_code not in (0, 1)
    assert not read_marker(tmp_path)["finished"] and read_marker(tmp_path)["seconds"].keys() == {
        "cluster",
        "audit",
        "cluster study",
        "shop study",
    }
    assert (tmp_path / DemoFolder.GROWTH).exists()
    steps["growth"] = good
    assert invoke("--out", str(tmp_path)).exit_code == 0
    assert read_marker(tmp_path)["finished"] and not (tmp_path / DemoFolder.GROWTH).exists()
