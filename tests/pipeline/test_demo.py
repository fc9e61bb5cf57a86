"""A small `beforehand demo`, all of it, twice in a row into the same folder."""

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
from beforehand.results.layout import ClusterFolder, DemoFolder

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
    return CliRunner().invoke(app, ["demo", *arguments])


@pytest.fixture
def folder(tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Path:
    """For a demo that is small; its name would be a pattern to Spark."""
    monkeypatch.setattr(demo_steps, "Demo", SMALL)
    return tmp_path / "a [demo]"


def test_a_demo_twice(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything is there, found sound and told; the second starts afresh, in all that has a past."""
    shown = demo("--out", str(folder))
    assert shown.exit_code == 0, shown.output
    lines = shown.stdout.splitlines()
    for text in (
        "each once and in causal order",
        "judged on Spark: clean.",
        "In general, at this size: hybrid: ",
        "Without causal order: fifo: deliveries out of causal order: ",
        "From 4 to 16 processes, metadata per message grows like n^",
        "metadata per message does not grow with ",
    ):
        assert any(text in line for line in lines), text
    page = folder / DemoFolder.REPORT / "index.html"
    assert lines[-1] == f"Open the report in your browser: {page}"
    for number, name in enumerate(demo_steps.STEPS, 1):
        assert f"[{number}/{len(demo_steps.STEPS)}] {name}: " in shown.stderr
    check_files(folder, sound=True)
    grown = pq.read_table(folder / DemoFolder.GROWTH / "metrics" / "exponents").to_pylist()
    assert {row["protocol"] for row in grown} >= {"hybrid", "rst"}
    assert json.loads((folder / DemoFolder.SHOP_STUDY / "_study.json").read_text())["sound"]

    # These two do not depend on the cluster, and would do the very same again: they are left out, which
    # the report has to notice.
    again = {"shop study": {"sound": True}, "growth": {"failed": 0}}
    for name, found in again.items():
        monkeypatch.setitem(demo_steps.STEPS, name, ("again", lambda *_, found=found: found))
    first = (folder / DemoFolder.CLUSTER / ClusterFolder.NOTE).read_text()
    told = demo("--out", str(folder), "--json")
    assert told.exit_code == 1, told.output
    found = json.loads(told.stdout)
    missing = [each["what"] for each in found["report"]["missing"]]
    assert missing == ["the shop study of the demo", "the growth of the demo"]
    assert not found["sound"] and found["report"]["file"] == str(page)
    assert found["cluster"]["verdict"]["sends"] == found["cluster study"]["replayed"] == 150
    assert found["cluster study"]["reused"] == []
    assert (folder / DemoFolder.CLUSTER / ClusterFolder.NOTE).read_text() != first
    assert not (folder / DemoFolder.GROWTH).exists()
    check_files(folder, sound=False)


def check_files(folder: Path, sound: bool) -> None:
    """All parts are complete, the trace can be read beside its note, and the mark tells the story."""
    mark = json.loads((folder / DemoFolder.NOTE).read_text())
    assert mark["finished"] and mark["sound"] is sound
    assert mark["seconds"].keys() == demo_steps.STEPS.keys()
    assert mark["command"] == f"beforehand demo --out '{folder}' --seed 1"
    cluster = folder / DemoFolder.CLUSTER
    assert {event.run for event in trace.read(cluster)} == {"cluster-hybrid-sps-1"}
    assert json.loads((cluster / ClusterFolder.NOTE).read_text())["verdict"]["clean"]
    [verdict] = pq.read_table(folder / DemoFolder.AUDIT / "verdicts").to_pylist()
    assert verdict["verdict"] == "clean" and verdict["sends"] == 150
    assert json.loads((folder / DemoFolder.CLUSTER_STUDY / "_study.json").read_text())["sound"]
    assert "<html" in (folder / DemoFolder.REPORT / "index.html").read_text()
