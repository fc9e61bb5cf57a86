"""From output folders to the page in a browser: the same figures, each linked to its run.

The tables are read back from the page and compared with the Parquet files.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from typer.testing import CliRunner

from tests.browser.conftest import Pages, open_sections
from tests.report.folders import write_demo

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytest.importorskip("jinja2", reason="pip install 'beforehand[report]'")

# table -> rows; a row has the text of each column, or null if unknown, and the links to runs.
TABLES = """() => {
  const text = (cell) => ("missing" in cell.dataset ? null : cell.dataset.value);
  const row = (element) => ({
    cells: Object.fromEntries(Array.from(element.cells, (cell) => [cell.dataset.column, text(cell)])),
    links: Array.from(new Set(Array.from(element.querySelectorAll("a[href^='#run-']"), (a) => a.hash))),
  });
  const table = (element) => [element.dataset.table, Array.from(element.tBodies[0].rows, row)];
  return Object.fromEntries(Array.from(document.querySelectorAll("table[data-table]"), table));
}"""
CARD = """table => Object.fromEntries(Array.from(table.tBodies[0].rows, ({ cells: [name, value] }) => [
  name.dataset.value, "missing" in value.dataset ? null : value.dataset.value,
]))"""
# chart -> its series, without the lines between marks.
CHARTS = """() => Object.fromEntries(Array.from(document.querySelectorAll("[data-chart]"), (element) => [
  element.dataset.chart,
  element.data.filter(({ mode }) => mode !== "lines").map(({ name, x, y }) => ({
    name: name || "", x: Array.from(x), y: Array.from(y),
  })),
]))"""

Rows = list[dict[str, Any]]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A complete demo with its report."""
    from beforehand.cli import app

    folder = write_demo(tmp_path_factory.mktemp("whole") / "demo")
    result = CliRunner().invoke(app, ["report", str(folder)])
    assert result.exit_code == 0 and "missing" not in result.output, result.output
    return folder


def open_report(demo: Path, open_page: Pages, **window: bool) -> Page:
    """Open the report."""
    return open_sections(open_page(demo / "report.html", **window))


def table_in(*folders: Path) -> pa.Table:
    """Read a table of the pipeline from disk."""
    files = [str(file) for folder in folders for file in sorted(folder.glob("*.parquet"))]
    return ds.dataset(files, format="parquet").to_table()


def as_texts(table: pa.Table) -> Rows:
    """Format values as the page must, so that they are read back exactly."""
    return [{name: _text(value) for name, value in row.items()} for row in table.to_pylist()]


def _text(value: Any) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "; ".join(value)
    return value if value is None or isinstance(value, str) else repr(value)


def sorted_by(rows: Rows, *keys: str) -> Rows:
    """Sort rows, independently of their order in files."""
    return sorted(rows, key=lambda row: [str(row[key]) for key in keys])


def results_of(sweep: Path) -> dict[str, dict[str, str | None]]:
    """Return the row of each run, from the last wave that contains it."""
    waves = sorted((sweep / "results").iterdir())
    return {str(row["run"]): row for wave in waves for row in as_texts(table_in(wave))}


def test_tables_match_the_pipeline(open_page: Pages, demo: Path) -> None:
    """Every cell of every table, to the last digit, with nothing omitted or added."""
    page = open_report(demo, open_page)
    tables = {name: [row["cells"] for row in rows] for name, rows in page.evaluate(TABLES).items()}
    study, growth = demo / "shop-study", demo / "growth"
    expected = {
        "shop-study-protocols": (study / "study" / "protocols", ("protocol", "network")),
        "growth-table1": (growth / "metrics" / "table1", ("protocol",)),
        "growth-exponents": (growth / "metrics" / "exponents", ("protocol", "y")),
        "shop-study-audit-verdicts": (study / "audit" / "verdicts", ("run",)),
        "cluster-audit-verdicts": (demo / "cluster-audit" / "verdicts", ("run",)),
        "shop-study-runs": (study / "characteristics" / "runs", ("run",)),
        "shop-study-processes": (study / "characteristics" / "processes", ("process",)),
        "shop-study-summaries": (study / "characteristics" / "summaries", ("what",)),
    }
    for name, (folder, keys) in expected.items():
        on_disk = as_texts(table_in(folder))
        displayed = [{key: row[key] for key in on_disk[0]} for row in tables[name]]
        assert sorted_by(displayed, *keys) == sorted_by(on_disk, *keys), name
        added = set(tables[name][0]) - set(on_disk[0])
        assert added <= {"title"}, f"{name} has figures of its own"
    for name in ("chat", "shop"):
        runs = json.loads((demo / name / "_comparison.json").read_text())["runs"]
        for displayed, run in zip(tables[f"{name}-runs"], runs, strict=True):
            assert displayed == {key: _text(run[key]) for key in displayed}
    nodes = json.loads((demo / "cluster" / "_cluster.json").read_text())["processes"]
    for displayed, node in zip(tables["cluster-processes"], nodes, strict=True):
        assert displayed == {key: _text(node[key]) for key in displayed}
    for displayed in tables["growth-runs"]:
        row = results_of(growth)[str(displayed["run"])]
        derived = {"seconds_per_message": repr(float(row["seconds"] or 0) / int(row["sent"] or 1))}
        assert displayed == {key: derived.get(key, row.get(key)) for key in displayed}
    others = {"chat-runs", "shop-runs", "cluster-processes", "growth-runs", "commands"}
    assert set(tables) == {*expected, *others}
    assert sum(len(row) for rows in tables.values() for row in rows) > 300


def test_every_row_links_to_its_run(open_page: Pages, demo: Path) -> None:
    """The link of a row opens a card with exactly the figures of that run in the sweep."""
    page = open_report(demo, open_page)
    runs = results_of(demo / "growth") | results_of(demo / "shop-study" / "sweep")
    tables = page.evaluate(TABLES)
    for row in tables["shop-study-audit-verdicts"]:  # the sweep of a study does not judge
        runs[row["cells"]["run"]]["violations"] = row["cells"]["causal"]
    opened = 0
    for name in ("shop-study-protocols", "shop-study-audit-verdicts", "growth-runs"):
        assert len(tables[name]) in (4, 6)
        for row in tables[name]:
            [link] = row["links"]
            page.evaluate("link => { location.hash = link; }", link)
            card = page.locator(f"details[open]{link}")
            card.locator("table").wait_for()
            figures = card.locator("table").evaluate(CARD)
            assert figures["run"] == row["cells"]["run"]
            result = runs[figures["run"]]
            # A card shows an empty text as a missing value.
            assert {key: result.get(key) or None for key in figures} == figures
            omitted = {key for key, value in result.items() if value} - set(figures)
            assert omitted <= {"scenario", "wave", "series"}, omitted
            if name != "growth-runs":  # which have no traces
                diagram = card.locator("code", has_text="beforehand diagram")
                assert figures["run"] in diagram.inner_text()
            opened += 1
    assert opened == 14


def test_charts_show_the_figures_of_the_tables(open_page: Pages, demo: Path) -> None:
    """Each mark that Plotly has drawn is a figure of the pipeline."""
    page = open_report(demo, open_page)
    for chart in page.locator("[data-chart]").all():
        chart.scroll_into_view_if_needed()
        chart.locator("svg .point").first.wait_for()
    drawn = page.evaluate(CHARTS)
    protocols = table_in(demo / "shop-study" / "study" / "protocols").to_pylist()
    columns = {
        "latency": ("latency_mean", "latency_p99"),
        "held": ("held_mean", "held_p99"),
        "metadata": ("metadata_per_message",),
        "control": ("control_per_message",),
        "state": ("integers_peak",),
        "waiting": ("waiting_peak",),
    }
    for name, names in columns.items():
        marks = sorted(x for trace in drawn.pop(f"shop-study-{name}") for x in trace["x"])
        assert marks == sorted(row[column] for row in protocols for column in names), name
    results = results_of(demo / "growth").values()
    for name, column in (("metadata", "metadata_bytes_per_message"), ("latency", "latency_mean")):
        points = {
            (trace["name"], x, y)
            for trace in drawn.pop(f"growth-{name}")
            for x, y in zip(trace["x"], trace["y"], strict=True)
        }
        assert points == {
            (row["protocol"], int(row["processes"] or 0), float(row[column] or 0))
            for row in results
        }
    table1 = table_in(demo / "growth" / "metrics" / "table1").to_pylist()
    for name, column in (("message", "metadata_exponent"), ("process", "state_exponent")):
        measured = drawn.pop(f"growth-{name}-space")[0]
        assert measured["x"] == [row[column] for row in table1 if row[column] is not None]
    assert set(drawn) == {"growth-state", "growth-work"}, "all other charts were checked"
