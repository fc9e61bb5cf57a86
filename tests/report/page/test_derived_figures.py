"""What the page derives from figures: findings, charts, and comparisons with claims."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from beforehand.report.model import Provenance, ReportView, TableView
from beforehand.report.page import claims, comparison, growth
from beforehand.report.page.charts import Chart
from beforehand.report.page.findings import findings
from beforehand.report.page.tables import records
from tests.report.page import sample_report


def changed(table: TableView | None, row: int, **values: Any) -> TableView:
    """Return a table with some values of a row replaced."""
    assert table is not None
    names = [column.name for column in table.columns]
    cells = tuple(values.get(n, v) for n, v in zip(names, table.rows[row], strict=True))
    return replace(table, rows=(*table.rows[:row], cells, *table.rows[row + 1 :]))


def test_findings_come_from_the_figures() -> None:
    """Of real processes, and apart from them those of simulated ones."""
    cards = findings(sample_report.everything())
    first, judged = cards["findings"]
    assert (first.figure, first.good) == ("0 of 100", True)
    assert "lost 5 datagrams" in first.sentence and first.link == "cluster-cluster"
    assert judged.link == "audit-cluster-audit"
    second, third, _ = cards["simulated"]
    assert (second.figure, second.good) == ("7 of 100", False)
    assert "shop on mobile. With causal delivery: none." in second.sentence
    assert third.figure == "7 B" and "from 66 B to 1,026 B" in third.sentence


def test_no_finding_without_its_figures() -> None:
    """A finding without figures is replaced by another."""
    assert findings(ReportView("empty", Provenance(""))) == {"findings": [], "simulated": []}
    contents = ReportView("one", Provenance(""), studies=(sample_report.study(),))
    cards = findings(contents)
    assert [finding.figure for finding in cards["findings"]] == ["7 of 100", "8.58 B", "4 of 4"]
    assert cards["simulated"] == []


def test_violations_are_findings_too() -> None:
    """A cluster with violations, and a causal protocol with violations."""
    cluster = replace(sample_report.cluster(), clean=False)
    caught = changed(sample_report.protocols(), 3, verdict="violated", violations=2)
    study = replace(sample_report.study(), protocols=caught)
    cards = findings(ReportView("bad", Provenance(""), clusters=(cluster,), studies=(study,)))
    [broken] = cards["findings"]
    assert broken.figure == "broken" and not broken.good
    assert "With causal delivery" not in cards["simulated"][0].sentence


def chart(charts: list[Chart], name: str) -> Chart:
    """Return a chart by its name."""
    [match] = [chart for chart in charts if chart.name == name]
    return match


def test_charts_of_a_study_hold_its_figures() -> None:
    """One row per protocol, controls in parentheses, and one series per network."""
    charts = comparison.charts(sample_report.study())
    assert len(charts) == 6
    latency = chart(charts, "shop-latency")
    assert latency.layout["yaxis"]["ticktext"] == ["hybrid", "rst", "(fifo)"]
    lan = [trace for trace in latency.data if trace.get("name") == "lan"]
    assert lan[0]["x"] == [223389.89596015494, 223390.89596015494, 223391.89596015494]
    colours = {trace["marker"]["color"] for trace in latency.data if "marker" in trace}
    symbols = {trace["marker"]["symbol"] for trace in latency.data if "marker" in trace}
    assert len(colours) == 2 and len(symbols) == 4  # filled and open
    assert "on lan 461 µs (hybrid) to 923 µs (rst)" in latency.description


def test_failed_runs_are_not_drawn() -> None:
    """They have no figures, only zeros."""
    table = changed(sample_report.protocols(), 0, error="out of memory", outcome="failed")
    study = replace(sample_report.study(), protocols=table)
    latency = chart(comparison.charts(study), "shop-latency")
    [lan] = [trace for trace in latency.data if trace.get("name") == "lan"]
    assert lan["x"][latency.layout["yaxis"]["ticktext"].index("hybrid")] is None


def test_only_usable_protocols_can_have_the_smallest_value() -> None:
    """Neither controls nor violated protocols, and per network."""
    cells = comparison.smallest(sample_report.study())
    assert (0, "metadata_per_message") in cells and (3, "metadata_per_message") in cells
    assert (1, "control_per_message") in cells
    assert not any(row in (2, 5) for row, _ in cells)
    caught = changed(sample_report.protocols(), 0, verdict="violated")
    alone = comparison.smallest(replace(sample_report.study(), protocols=caught))
    assert not any(row < 3 for row, _ in alone)  # a single protocol can't be compared


def test_violations_by_controls_do_not_break_a_promise() -> None:
    """Controls are listed, but not if a protocol that promises causal order was violated as well."""
    study = sample_report.study()
    assert comparison.only_controls(study) == ["fifo"]
    for verdict in ("violated", "failed", "unreadable"):
        other = changed(study.protocols, 3, verdict=verdict)
        assert comparison.only_controls(replace(study, protocols=other)) == []
    assert comparison.only_controls(replace(study, protocols=None)) == []


def test_growth_is_the_mean_over_runs_of_the_same_size() -> None:
    """Seeds 1 and 3 give n^2 + 2."""
    rows = records(sample_report.sweep().results)
    means = growth.means(rows, growth.COSTS[0])
    assert means == {
        "hybrid": [(8, 7.0), (16, 7.0), (32, 7.0)],
        "rst": [(8, 66.0), (16, 258.0), (32, 1026.0)],
    }
    charts = growth.charts(sample_report.sweep())
    metadata = chart(charts, "growth-metadata")
    assert [trace["y"] for trace in metadata.data] == [[7.0, 7.0, 7.0], [66.0, 258.0, 1026.0]]
    assert metadata.layout["xaxis"]["tickvals"] == [8, 16, 32]
    assert "rst 66 B to 1,026 B" in metadata.description
    assert len(charts) == 4


def test_growth_needs_more_than_one_size() -> None:
    """There is no line through a single point."""
    sweep = sample_report.sweep()
    assert sweep.results is not None
    rows = tuple(row for row in sweep.results.rows if row[1] == 8)
    results = replace(sweep.results, rows=rows, runs=())
    assert growth.charts(replace(sweep, results=results)) == []


@pytest.mark.parametrize(
    ("claim", "power"),
    [
        ("O(1)", 0),
        ("O(n^2)", 2),
        ("O(n^2 b)", 2),
        ("O(n o + b)", 1),
        ("O(i+o+b+p+u)", 0),
        ("O(n+b)", 1),
        ("unlimited", None),
        ("", None),
    ],
)
def test_the_power_of_n_in_a_claim(claim: str, power: int | None) -> None:
    """In the notation of the papers."""
    assert claims.claimed_exponent(claim) == power


@pytest.mark.parametrize(
    ("claim", "measured", "comparison"),
    [
        ("O(n^2)", 1.94, "as claimed"),
        ("O(n^2)", 2.25, "as claimed"),
        ("O(n^2)", 1.74, "less than claimed"),
        ("O(1)", 0.26, ""),
        ("O(1)", None, ""),
        ("unlimited", 1.0, ""),
    ],
)
def test_exponents_are_compared_with_claims(
    claim: str, measured: float | None, comparison: str
) -> None:
    """By the rule that is stated on the page."""
    assert claims.judged_exponent(claim, measured) == comparison


def test_a_row_is_compared_with_its_claims() -> None:
    """Only claims that a run can contradict, and only where there is a figure."""
    hybrid, rst, mattern = [claims.judged(row) for row in records(sample_report.sweep().table1)]
    assert hybrid == {"metadata_exponent": "as claimed", "stalled": "as claimed"}
    assert rst["noncausal_ms"] == "as claimed" and rst["stalled"] == "more than claimed"
    assert "state_exponent" not in rst  # nothing was measured
    assert mattern["most_in_transit"] == "as claimed"
    assert mattern["state_exponent"] == "less than claimed"


def test_no_column_of_table_1_is_lost() -> None:
    """Columns that belong to no group come last."""
    table = sample_report.sweep().table1
    assert table is not None
    groups = claims.arranged(table)
    assert groups[0] == ("", [0]) and groups[-1][0] == "other"
    indices = [index for _, columns in groups for index in columns]
    assert sorted(indices) == list(range(len(table.columns)))


def test_claimed_and_measured_are_drawn_together() -> None:
    """A filled mark for a measured exponent, and an open one for a claimed exponent."""
    message, process = claims.charts(sample_report.sweep())
    lines, measured, claimed = message.data
    assert measured["x"] == [0.0123, 1.94, -0.01] and claimed["x"] == [0.0, 2.0, 0.0]
    assert lines["mode"] == "lines" and claimed["marker"]["symbol"].endswith("-open")
    assert process.layout["yaxis"]["ticktext"] == ["hybrid", "mattern"]
    assert "rst: claimed O(n^2), measured k = 1.94" in message.description
