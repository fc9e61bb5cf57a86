"""The first screen in words: what to choose, what it costs, and what was not measured."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from beforehand.report import Provenance, ReportView
from beforehand.report.model import AdviceView
from beforehand.report.page.first_screen import choice, shown_comparisons
from beforehand.report.page.tables import records
from beforehand.report.page.unmeasured import absent, incomplete, remarks
from beforehand.results.schema import integer, real, text
from tests.report import folders
from tests.report.page import sample_report
from tests.report.page.test_derived_figures import changed


def compared(tmp_path: Path) -> ReportView:
    """A report on one comparison."""
    return folders.read(folders.write_comparison(tmp_path / "chat"))


def test_real_runs_decide_what_to_choose(tmp_path: Path) -> None:
    """In two sentences: what kept the order, and when the other is enough."""
    report = compared(tmp_path)
    assert choice(report) == [
        "Choose hybrid-sps where a message may depend on another: it kept all 3 deliveries in order, "
        "where fifo broke it 1 time.",
        "fifo is enough if no message depends on one from another sender.",
    ]
    studied = replace(report, studies=(sample_report.study(),))
    assert choice(studied)[1] == (
        "Simulated replays of the run shop favour hybrid at this size: "
        "on every network close to the best."
    )
    many = AdviceView("many processes", ("ks",), "ks: small.")
    study = replace(sample_report.study(), advice=(*sample_report.study().advice, many))
    assert choice(replace(report, studies=(study,)))[1].endswith("; for many processes, ks.")


def test_a_broken_promise_is_no_recommendation(tmp_path: Path) -> None:
    """Whatever else was measured."""
    report = compared(tmp_path)
    (view,) = report.comparisons
    broken = replace(view, runs=changed(view.runs, 1, clean=False, violations=2))
    sentences = choice(replace(report, comparisons=(broken,)))
    assert sentences[0] == "hybrid-sps broke a promise here, so do not rely on it."
    (comparison,) = shown_comparisons(replace(report, comparisons=(broken,)))
    assert not comparison.sides[1].good
    assert comparison.sides[1].verdict.startswith("2 of 3 deliveries out of causal order")


def test_nothing_to_choose_from_gives_no_advice() -> None:
    """An empty report recommends nothing."""
    assert choice(ReportView("empty", Provenance(""))) == []


def test_costs_that_were_not_measured_say_so(tmp_path: Path) -> None:
    """Also where there was no incident, and thus no picture."""
    report = compared(tmp_path)
    (view,) = report.comparisons
    quiet = replace(view, incident=None, runs=changed(view.runs, 0, latency_p99_ns=None))
    (comparison,) = shown_comparisons(replace(report, comparisons=(quiet,)))
    assert comparison.sentence == "A group chat: nothing went wrong for a user this time."
    assert [side.svg for side in comparison.sides] == ["", ""]
    assert comparison.costs[1][:2] == ("p99 latency", "not measured")
    assert "not measured" not in comparison.costs[0]


def test_absent_values_are_explained_by_their_column() -> None:
    """Figures are not measured, runs are not audited, and an absent text is just absent."""
    assert absent(integer("violations")) == "not audited"
    assert absent(real("latency_p99", unit="time")) == "not measured"
    assert absent(text("error")) == ""


def test_runs_that_did_not_complete_have_no_costs() -> None:
    """Each is named, with what it did."""
    protocols = changed(sample_report.protocols(), 5, outcome="stalled", deliveries=4)
    protocols = changed(protocols, 0, outcome="failed", error="no memory")
    rows = records(protocols)
    assert [incomplete(row) for row in rows[1:5]] == [""] * 4
    study = replace(sample_report.study(), protocols=protocols)
    assert remarks(study) == [
        "hybrid on lan: costs not measured: the run failed.",
        "fifo on mobile: costs not measured: the run stalled after 4 deliveries.",
    ]
