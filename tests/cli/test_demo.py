"""`beforehand demo` without Spark: a real one, its folder, rejected input, and what --full adds.

`tests/pipeline/test_demo.py` runs a full demo.
"""

from __future__ import annotations

import json
import shutil
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from beforehand import requirements
from beforehand.cli import app
from beforehand.cli.cluster import run as cluster_run
from beforehand.cli.demo import command as demo_command
from beforehand.cli.demo import comparison, comparison_view
from beforehand.cli.demo import folder as demo_folder
from beforehand.cli.demo import steps as demo_steps
from beforehand.cli.demo import summary as demo_summary
from beforehand.errors import ResourceError
from beforehand.results.layout import REPORT_PAGE, ComparisonFolder, DemoFolder
from beforehand.results.tables.comparison import RUNS
from beforehand.runtime.cluster.verdict import judge

Plain = dict[str, Any]
NOTE: Plain = {"command": "beforehand demo", "seed": 1, "finished": False}


def invoke(*arguments: str) -> Result:
    """Run the command."""
    return CliRunner().invoke(app, ["demo", *arguments])


def read_marker(folder: Path) -> Plain:
    """Read the marker file of a demo."""
    marker: Plain = json.loads((folder / DemoFolder.NOTE).read_text())
    return marker


@pytest.fixture
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail the test if it starts an engine."""
    monkeypatch.setattr(demo_command, "open_engine", lambda *_: pytest.fail("an engine started"))


# ---- a real one ----


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """A whole demo of real processes, run once."""
    folder = tmp_path_factory.mktemp("real") / "demo"
    return folder, invoke("--out", str(folder), "--seed", "2")


def comparison_note(folder: Path, program: str) -> Plain:
    """Read the note of a comparison."""
    note: Plain = json.loads((folder / program / ComparisonFolder.NOTE).read_text())
    return note


@pytest.mark.parametrize("program", DemoFolder.COMPARISONS)
def test_fifo_breaks_and_hybrid_keeps_causal_order(real: tuple[Path, Result], program: str) -> None:
    """On the same faults, which did happen, with the same messages; users noticed the difference."""
    folder, result = real
    assert result.exit_code == 0, result.output
    note = comparison_note(folder, program)
    fifo, hybrid = note["runs"]
    assert [run["protocol"] for run in note["runs"]] == list(comparison.PROTOCOLS)
    assert set(RUNS.names) == fifo.keys() == hybrid.keys()
    for run in note["runs"]:
        assert all(run[fault] > 0 for fault in ("lost", "doubled", "held_back"))
        assert all(run[name] for name in RUNS.names if name.startswith(("latency", "meta", "wire")))
    assert (fifo["sends"], fifo["deliveries"]) == (hybrid["sends"], hybrid["deliveries"])
    assert fifo["violations"] >= fifo["harm"] > 0 and not fifo["causal"] and not fifo["clean"]
    assert hybrid["violations"] == hybrid["harm"] == 0 and hybrid["causal"] and hybrid["clean"]
    assert hybrid["held"] > 0, "nothing had to wait, so nothing was shown"
    plans = [
        json.loads((folder / program / run["protocol"] / "_cluster.json").read_text())["plan"]
        for run in note["runs"]
    ]
    assert plans[0] | {"protocol": ""} == plans[1] | {"protocol": ""}


@pytest.mark.parametrize("program", DemoFolder.COMPARISONS)
def test_the_incident_is_a_violation_that_the_oracle_found(
    real: tuple[Path, Result], program: str
) -> None:
    """Judged again from the traces on disk: the same process, and the same message came late."""
    folder, _ = real
    incident = comparison_note(folder, program)["incident"]
    for protocol, expected in (("fifo", True), ("hybrid-sps", False)):
        place = folder / program / protocol
        names = {
            file.name.partition("-0")[0].replace("%40", "@") for file in place.glob("*.parquet")
        }
        verdict = judge(place, {name: name.partition("@")[0] for name in names}, ())
        late = {(found.process, str(found.message)) for found in verdict.violations}
        chain = incident["runs"][protocol]["chain"]
        assert ((incident["process"], chain[0]) in late) is expected
        screen = [line["text"] for line in incident["runs"][protocol]["screen"]]
        assert screen == ([incident["texts"][-1], incident["texts"][0]][:: 1 if expected else -1])


def test_the_verdicts_are_told_in_sentences(real: tuple[Path, Result]) -> None:
    """Who took part, what a user saw, the same on both screens, the cost, and where the report is."""
    folder, result = real
    for text in (
        "A group chat: alice, bob, carol and dave, 120 messages. Real processes on loopback",
        "5 % of all datagrams are lost, 5 % duplicated and 20 % delayed; the seed is ",
        " out of causal order; ",
        "'s answer “",
        "  hybrid-sps: all 360 deliveries in causal order, none missing; 0 answers read before",
        " WITH HYBRID-SPS",
        "COST                     FIFO",
        "The bank got the shop's “charge 10 for order ",
        f"The report, to open in a browser: {folder / REPORT_PAGE}",
    ):
        assert text in result.stdout, text
    first, second = result.stdout.index("  fifo: "), result.stdout.index("  hybrid-sps: ")
    assert first < second
    marker = read_marker(folder)
    assert marker["finished"] and marker["sound"] and not marker["full"]
    assert marker["seconds"].keys() == {"chat", "shop", "report"}
    assert marker["command"] == f"beforehand demo --out {folder} --seed 2"
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        [DemoFolder.NOTE, *DemoFolder.COMPARISONS, REPORT_PAGE]
    )


def test_full_adds_to_a_finished_demo_of_the_same_seed(
    real: tuple[Path, Result], tmp_path: Path, steps: dict[str, Any]
) -> None:
    """The comparisons are shown again and not run again; another seed starts afresh."""
    folder = tmp_path / "demo"
    shutil.copytree(real[0], folder)
    before = comparison_note(folder, "chat")
    result = invoke("--out", str(folder), "--seed", "2", "--full")
    assert comparison_note(folder, "chat") == before
    for line in real[1].stdout.splitlines()[:-1]:
        assert line in result.stdout
    assert read_marker(folder)["full"] and "a real cluster" in result.stdout
    assert demo_folder.finished_comparisons(folder, 2) and not demo_folder.finished_comparisons(
        folder, 3
    )


# ---- stubs ----

RUN: Plain = {
    "protocol": "fifo",
    "causal": False,
    "clean": False,
    "complete": True,
    "sends": 120,
    "deliveries": 360,
    "violations": 40,
    "harm": 9,
    "held": 0,
    "lost": 5,
    "doubled": 5,
    "held_back": 20,
    "latency_p50_ns": 1_000_000,
    "latency_p99_ns": None,
    "meta_bytes_per_message": 7.5,
    "wire_bytes_per_message": 200.0,
    "seconds": 1.5,
}
CLEAN_RUN = RUN | {
    "protocol": "hybrid-sps",
    "causal": True,
    "clean": True,
    "violations": 0,
    "harm": 0,
}
COMPARED: Plain = {
    "program": "chat",
    "title": "A group chat",
    "harm": "answers read before what they answer",
    "names": ["alice", "bob"],
    "seed": 1,
    "attempts": 1,
    **comparison.FAULTS,
    "runs": [RUN, CLEAN_RUN],
    "incident": None,
}


class StubComparison:
    """Writes a note, and runs nothing."""

    note = COMPARED

    def __init__(self, trial: object, folder: Path, seed: int, command: str) -> None:
        self.folder = folder

    def run(self, show: Any) -> Plain:
        """Leave a comparison without traces."""
        self.folder.mkdir()
        (self.folder / ComparisonFolder.NOTE).write_text(json.dumps(self.note))
        show(self.note | {"runs": self.note["runs"][:1]})
        show(self.note)
        return self.note


@pytest.fixture
def stubs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the comparisons by stubs."""
    monkeypatch.setattr(comparison, "Comparison", StubComparison)


# ---- the output folder ----


def test_an_earlier_demo_is_replaced_once_the_new_one_is_complete(tmp_path: Path) -> None:
    """Until then it is set aside; unrelated files are kept."""
    demo_folder.prepare(tmp_path)
    (tmp_path / "my notes.txt").write_text("keep me")
    demo_folder.mark(tmp_path, NOTE)
    (tmp_path / DemoFolder.GROWTH).mkdir()
    with demo_folder.replacing(tmp_path, NOTE | {"seed": 7}):
        assert not (tmp_path / DemoFolder.GROWTH).exists()
        assert read_marker(tmp_path)["seed"] == 7
    assert sorted(file.name for file in tmp_path.iterdir()) == [DemoFolder.NOTE, "my notes.txt"]
    assert read_marker(tmp_path) == {"holds": "beforehand demo", "version": 1, **NOTE, "seed": 7}


def old_demo(folder: Path) -> dict[str, str]:
    """A finished demo, and what its files hold."""
    folder.mkdir(exist_ok=True)
    demo_folder.mark(folder, NOTE | {"finished": True})
    for name in (DemoFolder.CHAT, DemoFolder.GROWTH):
        (folder / name).mkdir()
        (folder / name / "table").write_text(f"old {name}")
    (folder / REPORT_PAGE).write_text("old page")
    return files_in(folder)


def files_in(folder: Path) -> dict[str, str]:
    """All files below a folder, and their text."""
    files = (file for file in folder.rglob("*") if file.is_file())
    return {str(file.relative_to(folder)): file.read_text() for file in files}


def fail_halfway(folder: Path, problem: BaseException, keep: tuple[str, ...] = ()) -> None:
    """A new demo that fails after it has written something."""
    with demo_folder.replacing(folder, NOTE | {"seed": 7}, keep):
        (folder / DemoFolder.SHOP).mkdir()
        (folder / DemoFolder.SHOP / "half").write_text("a table")
        raise problem


@pytest.mark.parametrize("problem", [KeyboardInterrupt(), OSError(28, "No space left on device")])
@pytest.mark.parametrize("keep", [(), (DemoFolder.CHAT,)])
def test_an_earlier_demo_comes_back_if_the_new_one_fails(
    tmp_path: Path, problem: BaseException, keep: tuple[str, ...]
) -> None:
    """Interrupted or out of space: every file is as it was, and nothing new is left."""
    before = old_demo(tmp_path)
    with pytest.raises(type(problem)):
        fail_halfway(tmp_path, problem, keep)
    assert files_in(tmp_path) == before


def test_a_first_demo_that_fails_leaves_nothing(tmp_path: Path) -> None:
    """Not even its folder."""
    with pytest.raises(KeyboardInterrupt):
        fail_halfway(tmp_path / "new", KeyboardInterrupt())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("keep", [(), (DemoFolder.CHAT,)])
@pytest.mark.parametrize("moved", [0, 2, 4])
def test_a_killed_demo_is_undone_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keep: tuple[str, ...], moved: int
) -> None:
    """Wherever it was killed: between two files that it set aside, or later."""
    before = old_demo(tmp_path)
    renamed = 0
    rename = Path.rename

    def killed_after(path: Path, target: Path) -> Path:
        nonlocal renamed
        if renamed == moved:
            raise SystemExit
        renamed += 1
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", killed_after)
    monkeypatch.setattr(demo_folder, "_bring_back", lambda folder: None)
    with pytest.raises(SystemExit):
        fail_halfway(tmp_path, SystemExit(), keep)
    monkeypatch.undo()
    assert files_in(tmp_path) != before
    demo_folder.prepare(tmp_path)
    assert files_in(tmp_path) == before


def test_the_target_of_a_symbolic_link_is_kept(tmp_path: Path) -> None:
    """For a part that was moved to another disk, only the link is removed, not its tables."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "table").write_text("rows")
    folder = tmp_path / "demo"
    folder.mkdir()
    demo_folder.mark(folder, NOTE)
    (folder / DemoFolder.GROWTH).symlink_to(elsewhere)
    with demo_folder.replacing(folder, NOTE):
        pass
    assert not (folder / DemoFolder.GROWTH).exists() and (elsewhere / "table").exists()


@pytest.mark.parametrize("marker", [None, "no JSON", "[]", '{"holds": "a thesis"}'])
def test_a_folder_with_other_files_is_rejected(tmp_path: Path, marker: str | None) -> None:
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


def test_a_file_as_output_folder_is_rejected(tmp_path: Path) -> None:
    """The message says that the path is a file."""
    file = tmp_path / "demo"
    file.write_text("a file")
    result = invoke("--out", str(file))
    assert result.exit_code == 2 and f"{file} is a file; choose a folder" in result.stderr


def test_an_impossible_path_is_rejected_before_anything_runs(tmp_path: Path) -> None:
    """Here a folder inside a file."""
    (tmp_path / "letter").write_text("dear")
    result = invoke("--out", str(tmp_path / "letter" / "demo"))
    assert result.exit_code == 2
    [line] = result.stderr.splitlines()
    assert line.endswith("letter is a file; choose a folder for --out")


# ---- missing requirements ----


def without_java() -> None:
    """Fail like a machine without Java."""
    raise ResourceError("Spark needs Java 17 or newer: there is no 'java'")


@pytest.mark.parametrize("name", ["jinja2", "plotly", "pyarrow"])
def test_missing_packages_are_reported_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """One sentence with the command that helps, and no folder."""
    monkeypatch.setattr(requirements, "find_spec", lambda asked: asked != name or None)
    result = invoke("--out", str(tmp_path / "demo"))
    assert result.exit_code == 3 and result.stdout == ""
    assert f"a report needs {name}, which is not installed" in result.stderr
    assert "pip install 'beforehand[report]'" in result.stderr
    assert not (tmp_path / "demo").exists()


def test_only_a_full_demo_on_spark_needs_java(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_engine: None, stubs: None
) -> None:
    """Without it, the rest works; with --full on Spark, nothing is run in vain."""
    monkeypatch.setattr(requirements, "find_java", without_java)
    light = invoke("--out", str(tmp_path / "demo"))
    assert light.exit_code == 0 and (tmp_path / "demo" / REPORT_PAGE).exists(), light.output
    refused = invoke("--out", str(tmp_path / "another"), "--full", "--engine", "spark")
    assert refused.exit_code == 3 and "Spark needs Java 17 or newer" in refused.stderr
    assert not (tmp_path / "another").exists()


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
        ("its audit", "12,345 events in 1 run, judged by the pipeline: clean."),
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


# ---- results ----


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Replace the steps of a full demo by stubs with sound results; tests can override them."""
    steps: dict[str, Any] = {
        name: ("text", lambda *_, result=result: result) for name, result in step_results().items()
    }
    monkeypatch.setattr(demo_command, "open_engine", lambda engine: nullcontext())
    monkeypatch.setattr(demo_command, "check_all_installed", lambda engine: None)
    monkeypatch.setattr(demo_steps, "STEPS", steps)
    return steps


@pytest.fixture
def complete(monkeypatch: pytest.MonkeyPatch) -> None:
    """A report that misses nothing, although stubs have left no traces."""
    from beforehand import report as library

    view = library.ReportView("demo", library.Provenance(""))
    monkeypatch.setattr(library, "write", lambda *_, **__: view)


def test_a_sound_full_demo_exits_with_0(
    tmp_path: Path, steps: dict[str, Any], stubs: None, complete: None
) -> None:
    """Comparisons come first, each step is announced as it begins, and the report comes last."""
    result = invoke("--out", str(tmp_path), "--seed", "3", "--full")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("A group chat: alice and bob, 120 messages.")
    assert result.stdout.splitlines()[-1].endswith(f": {tmp_path / REPORT_PAGE}")
    expected = [f"[{number}/{len(steps)}] {name}: text" for number, name in enumerate(steps, 1)]
    assert [line for line in result.stderr.splitlines() if line.startswith("[")] == expected
    marker = read_marker(tmp_path)
    assert marker["finished"] and marker["sound"]
    assert marker["seconds"].keys() == {"chat", "shop", *steps, "report"}
    assert marker["command"] == f"beforehand demo --out {tmp_path} --seed 3 --full"


def test_a_broken_promise_exits_with_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stubs: None, complete: None
) -> None:
    """In text and in JSON, also where a report is complete."""
    broken = CLEAN_RUN | {"clean": False, "violations": 1}
    monkeypatch.setattr(StubComparison, "note", COMPARED | {"runs": [RUN, broken]})
    as_text = invoke("--out", str(tmp_path))
    assert as_text.exit_code == 1
    assert "  hybrid-sps: 1 of 360 deliveries out of causal order; 0 answers" in as_text.stdout
    assert "A BROKEN PROMISE." in as_text.stdout
    as_json = invoke("--out", str(tmp_path), "--json")
    assert as_json.exit_code == 1 and json.loads(as_json.stdout)["sound"] is False
    assert read_marker(tmp_path)["finished"] and not read_marker(tmp_path)["sound"]


def test_a_report_with_gaps_exits_with_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stubs: None
) -> None:
    """Here the diagram, since the stubs have left no traces."""
    incident = {"process": "bob", "sentence": "bob saw it.", "texts": [], "runs": {}}
    monkeypatch.setattr(StubComparison, "note", COMPARED | {"incident": incident})
    result = invoke("--out", str(tmp_path))
    assert (
        result.exit_code == 1 and "missing: the diagram of the comparison chat: " in result.stdout
    )


def test_open_opens_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stubs: None, complete: None
) -> None:
    """After everything is in place, and only if asked to."""
    opened: list[Path] = []
    monkeypatch.setattr(demo_command, "open_page", opened.append)
    assert invoke("--out", str(tmp_path)).exit_code == 0 and opened == []
    assert invoke("--out", str(tmp_path), "--open").exit_code == 0
    assert opened == [tmp_path / REPORT_PAGE]


def test_costs_that_were_not_measured_have_no_figure() -> None:
    """A dash, and never a zero."""
    median, p99, *_ = comparison_view.cost_rows(COMPARED)
    assert median == ("median latency", "1 ms", "1 ms")
    assert p99 == ("99 % of latencies", "not measured", "not measured")


@pytest.mark.parametrize(("quiet", "attempts", "seed"), [(0, 1, 4), (2, 3, 6), (9, 5, 8)])
def test_the_baseline_is_repeated_until_something_goes_wrong(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    quiet: int,
    attempts: int,
    seed: int,
) -> None:
    """With the next seed, which the other protocol then gets too; after five it goes on, and says so."""
    seeds: list[tuple[str, int]] = []

    class Run:
        """A run in which something goes wrong, or not."""

        def __init__(self, plan: Any) -> None:
            self.plan = plan
            self.incidents = ["one"] if len(seeds) > quiet else []

    def run(plan: Any, *_: Any) -> Run:
        seeds.append((plan.protocol, plan.seed))
        return Run(plan)

    monkeypatch.setattr(cluster_run, "run", run)
    monkeypatch.setattr(cluster_run, "write_run_note", lambda *_: None)
    monkeypatch.setattr(comparison, "_run_row", lambda protocol, run: RUN | {"protocol": protocol})
    monkeypatch.setattr(comparison, "_incident", lambda *_: None)
    note = comparison.Comparison(comparison.TRIALS[0], tmp_path / "chat", 4, "x").run(
        lambda _: None
    )
    assert (note["attempts"], note["seed"]) == (attempts, seed)
    assert seeds == [*(("fifo", 4 + n) for n in range(attempts)), ("hybrid-sps", seed)]
    comparison_view.show_setting(note)
    repeated = "nothing went wrong; this is run" in capsys.readouterr().out
    assert repeated is (attempts > 1)
