"""From the pipeline's folders to the page in a browser: the same figures, each a click from its run.

The tables are read back from the page, and compared with the Parquet files themselves.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from typer.testing import CliRunner

from tests.browser.conftest import Pages
from tests.report.folders import write_demo

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytest.importorskip("jinja2", reason="pip install 'beforehand[report]'")

# table -> its rows: for each column its text, or null where nothing is known; and where they lead.
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
# chart -> its series, but the lines that join marks.
CHARTS = """() => Object.fromEntries(Array.from(document.querySelectorAll("[data-chart]"), (element) => [
  element.dataset.chart,
  element.data.filter(({ mode }) => mode !== "lines").map(({ name, x, y }) => ({
    name: name || "", x: Array.from(x), y: Array.from(y),
  })),
]))"""

Rows = list[dict[str, Any]]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All of a demo, with its report."""
    from beforehand.cli import app

    folder = write_demo(tmp_path_factory.mktemp("whole") / "demo")
    result = CliRunner().invoke(app, ["report", str(folder)])
    assert result.exit_code == 0 and "missing" not in result.output, result.output
    return folder


def page_of(demo: Path, open_page: Pages, **window: bool) -> Page:
    """The report in a window."""
    return open_page(demo / "report" / "index.html", **window)


def table_in(*folders: Path) -> pa.Table:
    """A table of the pipeline, as it is on disk."""
    files = [str(file) for folder in folders for file in sorted(folder.glob("*.parquet"))]
    return ds.dataset(files, format="parquet").to_table()


def as_texts(table: pa.Table) -> Rows:
    """How a page must write these values, so that they are read back exactly."""
    return [{name: _text(value) for name, value in row.items()} for row in table.to_pylist()]


def _text(value: Any) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "; ".join(value)
    return value if value is None or isinstance(value, str) else repr(value)


def in_order(rows: Rows, *keys: str) -> Rows:
    """Rows in an order that does not depend on files."""
    return sorted(rows, key=lambda row: [str(row[key]) for key in keys])


def results_of(sweep: Path) -> dict[str, dict[str, str | None]]:
    """The row of each run: that of the last wave which has it."""
    waves = sorted((sweep / "results").iterdir())
    return {str(row["run"]): row for wave in waves for row in as_texts(table_in(wave))}


def test_the_tables_are_those_of_the_pipeline(open_page: Pages, demo: Path) -> None:
    """Every cell of every table, to the last digit, with nothing left out and nothing added."""
    page = page_of(demo, open_page)
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
        wanted = as_texts(table_in(folder))
        shown = [{key: row[key] for key in wanted[0]} for row in tables[name]]
        assert in_order(shown, *keys) == in_order(wanted, *keys), name
        added = set(tables[name][0]) - set(wanted[0])
        assert added <= {"title"}, f"{name} has figures of its own"
    nodes = json.loads((demo / "cluster" / "_cluster.json").read_text())["processes"]
    for shown, node in zip(tables["cluster-processes"], nodes, strict=True):
        assert shown == {key: _text(node[key]) for key in shown}
    for shown in tables["growth-runs"]:
        row = results_of(growth)[str(shown["run"])]
        own = {"seconds_per_message": repr(float(row["seconds"] or 0) / int(row["sent"] or 1))}
        assert shown == {key: own.get(key, row.get(key)) for key in shown}
    assert set(tables) == {*expected, "cluster-processes", "growth-runs", "commands"}
    assert sum(len(row) for rows in tables.values() for row in rows) > 300


def test_every_row_leads_to_the_run_that_made_it(open_page: Pages, demo: Path) -> None:
    """A link of a row opens a card, which has each figure of that very run as the sweep has it."""
    page = page_of(demo, open_page)
    runs = results_of(demo / "growth") | results_of(demo / "shop-study" / "sweep")
    tables = page.evaluate(TABLES)
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
            wanted = runs[figures["run"]]
            # A card shows a text that is empty as nothing.
            assert {key: wanted.get(key) or None for key in figures} == figures
            left_out = {key for key, value in wanted.items() if value} - set(figures)
            assert left_out <= {"scenario", "wave", "series"}, left_out
            if name != "growth-runs":  # which left no traces
                diagram = card.locator("code", has_text="beforehand diagram")
                assert figures["run"] in diagram.inner_text()
            opened += 1
    assert opened == 14


def test_charts_draw_the_figures_of_the_tables(open_page: Pages, demo: Path) -> None:
    """What Plotly has drawn is read back: each mark is a figure of the pipeline."""
    page = page_of(demo, open_page)
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
    for name, both in columns.items():
        marks = sorted(x for trace in drawn.pop(f"shop-study-{name}") for x in trace["x"])
        assert marks == sorted(row[column] for row in protocols for column in both), name
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
    assert set(drawn) == {"growth-state", "growth-work"}, "all charts were looked at"
