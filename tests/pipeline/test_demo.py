"""A small but complete `beforehand demo --full`, run twice into the same folder."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner, Result

from beforehand import trace
from beforehand.cli import app
from beforehand.cli.demo import steps as demo_steps
from beforehand.results.layout import REPORT_PAGE, ClusterFolder, ComparisonFolder, DemoFolder

pytestmark = pytest.mark.spark

SMALL = partial(
    demo_steps.Demo,
    nodes=3,
    messages=150,
    protocols=("hybrid", "fifo"),
    networks=("lan",),
    replayed=150,
    sizes=(4, 8, 16),
    sent=3,
)


def demo(*arguments: str) -> Result:
    """Run the command."""
    return CliRunner().invoke(app, ["demo", "--full", *arguments])


@pytest.fixture
def folder(tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An output folder for a small demo; Spark would read its name as a glob pattern."""
    monkeypatch.setattr(demo_steps, "Demo", SMALL)
    return tmp_path / "a [demo]"


def test_a_second_demo_replaces_the_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first demo is complete and sound; the second one reuses the comparisons and nothing else."""
    first_run = demo("--out", str(folder))
    assert first_run.exit_code == 0, first_run.output
    lines = first_run.stdout.splitlines()
    for text in (
        " out of causal order; ",
        "each once and in causal order",
        "judged by the pipeline: clean.",
        "In general, at this size: hybrid: ",
        "Without causal order: fifo: deliveries out of causal order: ",
        "From 4 to 16 processes, metadata per message grows like n^",
        "metadata per message does not grow with ",
    ):
        assert any(text in line for line in lines), text
    page = folder / REPORT_PAGE
    assert lines[-1] == f"The report, to open in a browser: {page}"
    for number, name in enumerate(demo_steps.STEPS, 1):
        assert f"[{number}/{len(demo_steps.STEPS)}] {name}: " in first_run.stderr
    check_files(folder, sound=True)
    exponents = pq.read_table(folder / DemoFolder.GROWTH / "metrics" / "exponents").to_pylist()
    assert {row["protocol"] for row in exponents} >= {"hybrid", "rst"}
    assert json.loads((folder / DemoFolder.SHOP_STUDY / "_study.json").read_text())["sound"]

    # These two steps do not depend on the cluster and would only repeat their work. Stub them out; the
    # report has to notice that their output is missing.
    stubs = {"shop study": {"sound": True}, "growth": {"failed": 0}}
    for name, outcome in stubs.items():
        monkeypatch.setitem(demo_steps.STEPS, name, ("again", lambda *_, outcome=outcome: outcome))
    first_note = (folder / DemoFolder.CLUSTER / ClusterFolder.NOTE).read_text()
    compared = (folder / DemoFolder.CHAT / ComparisonFolder.NOTE).read_text()
    rerun = demo("--out", str(folder), "--json")
    assert rerun.exit_code == 1, rerun.output
    summary = json.loads(rerun.stdout)
    missing = [part["what"] for part in summary["report"]["missing"]]
    assert missing == ["the shop study of the demo", "the growth of the demo"]
    assert not summary["sound"] and summary["report"]["file"] == str(page)
    assert summary["cluster"]["verdict"]["sends"] == summary["cluster study"]["replayed"] == 150
    assert summary["cluster study"]["reused"] == []
    assert (folder / DemoFolder.CLUSTER / ClusterFolder.NOTE).read_text() != first_note
    assert (folder / DemoFolder.CHAT / ComparisonFolder.NOTE).read_text() == compared
    assert not (folder / DemoFolder.GROWTH).exists()
    check_files(folder, sound=False)


def check_files(folder: Path, sound: bool) -> None:
    """Every part is complete, the trace can be read, and the note records the outcome."""
    note = json.loads((folder / DemoFolder.NOTE).read_text())
    assert note["finished"] and note["sound"] is sound
    assert note["seconds"].keys() >= demo_steps.STEPS.keys()
    assert note["command"] == f"beforehand demo --out '{folder}' --seed 1 --full"
    cluster = folder / DemoFolder.CLUSTER
    assert {event.run for event in trace.read(cluster)} == {"cluster-hybrid-sps-1"}
    assert json.loads((cluster / ClusterFolder.NOTE).read_text())["verdict"]["clean"]
    [verdict] = pq.read_table(folder / DemoFolder.AUDIT / "verdicts").to_pylist()
    assert verdict["verdict"] == "clean" and verdict["sends"] == 150
    assert json.loads((folder / DemoFolder.CLUSTER_STUDY / "_study.json").read_text())["sound"]
    assert "<html" in (folder / REPORT_PAGE).read_text()
