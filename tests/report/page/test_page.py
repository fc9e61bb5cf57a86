"""The complete page: all sections, exact figures, and no scripts but our own."""

from __future__ import annotations

import json
import zlib
from base64 import b64decode, b64encode
from dataclasses import astuple, replace
from hashlib import sha256

import pytest

from beforehand.cli.report_commands import report_commands
from beforehand.report.commands import Suggestions
from beforehand.report.model import Provenance, ReportView, TableView
from beforehand.report.page import html
from beforehand.report.page.formats import raw
from tests.report.page import sample_report
from tests.report.page.page_parser import Page, read

SECTIONS = (
    "headline",
    "real",
    "advice",
    "protocols",
    "table1",
    "audit",
    "growth",
    "runs",
    "run",
    "environment",
)


@pytest.fixture(scope="module")
def contents() -> ReportView:
    """A report with one part of every kind."""
    return sample_report.everything()


@pytest.fixture(scope="module")
def source(contents: ReportView) -> str:
    """Its page as HTML."""
    return html(contents)


@pytest.fixture(scope="module")
def page(source: str) -> Page:
    """Its page, parsed."""
    return read(source)


def tables_of(contents: ReportView) -> list[TableView]:
    """Return all tables in the page itself; those of runs are built by a script."""
    tables: list[TableView | None] = [cluster.processes for cluster in contents.clusters]
    for study in contents.studies:
        tables += [study.protocols, *study.characteristics]
        tables += [study.audit.verdicts] if study.audit else []
    for sweep in contents.sweeps:
        tables += [sweep.results, sweep.table1, sweep.exponents]
    tables += [audit.verdicts for audit in contents.audits]
    return [table for table in tables if table is not None]


def test_every_figure_is_read_back_exactly(contents: ReportView, page: Page) -> None:
    """Each cell of each table has the original value, to the last digit."""
    tables = tables_of(contents)
    assert len(tables) == 8
    for table in tables:
        names = [column.name for column in table.columns]
        expected = [
            {n: None if v is None else raw(v) for n, v in zip(names, row, strict=True)}
            for row in table.rows
        ]
        assert page.tables[table.name] == expected
    assert page.tables["shop-protocols"][0]["latency_mean"] == "223389.89596015494"
    assert page.tables["shop-protocols"][1]["waiting_peak"] is None


def test_figures_of_runs_are_exact(contents: ReportView, page: Page) -> None:
    """The data from which a script fills the card of a run has the same values."""
    data = json.loads(page.by_id("data-runs").text)
    runs = [run for study in contents.studies for run in study.runs]
    assert len(runs) == 6
    for run in runs:
        card = data["runs"][run.anchor]
        figures = {data["names"][index][0]: value for index, value, _ in card["figures"]}
        assert figures == {str(row[0]): raw(row[1]) for row in run.figures.rows}


def test_every_figure_links_to_its_run(page: Page) -> None:
    """Every row has a link, and every link has a target."""
    ids = [element.attributes["id"] for element in page.elements if "id" in element.attributes]
    assert len(ids) == len(set(ids))
    links = [str(link.attributes.get("href")) for link in page.all("a")]
    assert all(link.startswith("#") and link[1:] in ids for link in links)
    for row in range(6):
        assert links.count(f"#run-shop-protocols-{row}") > 8
    assert f"#run-{sample_report.sweep().results.runs[0]}" in links  # type: ignore[union-attr]


def test_all_sections_are_present(page: Page) -> None:
    """In order, each with a heading and an entry in the table of contents."""
    parts = [*page.all("section"), *page.all("details")]
    ids = [element.attributes.get("id") for element in parts]
    assert [name for name in ids if name in SECTIONS] == list(SECTIONS)
    links = {link.attributes.get("href") for link in page.all("a")}
    assert {f"#{name}" for name in SECTIONS[1:]} <= links
    assert "missing" in ids and "#missing" in links


def test_an_empty_section_names_the_command_that_fills_it() -> None:
    """Without command lines, the section has only its sentence."""
    for suggestions in (report_commands().suggestions, Suggestions()):
        page = read(html(ReportView("empty", Provenance(""), suggestions=suggestions)))
        empty = [div for div in page.all("div") if div.attributes.get("class") == "nothing"]
        assert len(empty) == 8 and page.tables == {}
        codes = [code.text for code in page.all("code")]
        assert set(codes) == {line for line in astuple(suggestions) if line}
        assert all((":" in div.text) == bool(codes) for div in empty)


@pytest.mark.parametrize(
    "changed",
    [
        {"protocols": None, "advice": (), "runs": ()},
        {"audit": None, "characteristics": (), "sentences": (), "skipped": ()},
        {"protocols": replace(sample_report.protocols(), rows=(), runs=())},
    ],
    ids=["protocols", "audit", "rows"],
)
def test_an_incomplete_study_is_shown(changed: dict[str, object]) -> None:
    """Whatever a study lacks, the rest of it is shown."""
    study = replace(sample_report.study(), **changed)  # type: ignore[arg-type]
    page = read(html(ReportView("half", Provenance(""), studies=(study,))))
    assert study.title in "".join(element.text for element in page.all("h3"))
    assert ("shop-protocols" in page.tables) == bool(study.protocols and study.protocols.rows)


def test_a_workload_that_was_only_ingested_suggests_a_replay() -> None:
    """It suggests a study; a study that was stopped suggests its own command."""
    made = replace(sample_report.MADE, command="beforehand ingest 'a b' --out in")
    half = replace(sample_report.study(), protocols=None, advice=(), runs=(), audit=None, made=made)
    half = replace(half, command="beforehand study TRACES --out DIR")
    codes = [
        e.text for e in read(html(ReportView("h", Provenance(""), studies=(half,)))).all("code")
    ]
    assert codes.count("beforehand study TRACES --out DIR") == 2
    assert "beforehand ingest 'a b' --out in" in codes
    own = "beforehand study 'a b' --out s"
    stopped = replace(half, command=own, made=replace(made, command=own))
    codes = [
        e.text for e in read(html(ReportView("h", Provenance(""), studies=(stopped,)))).all("code")
    ]
    assert "beforehand study TRACES --out DIR" not in codes
    assert codes.count(own) >= 3


def test_an_incomplete_sweep_is_shown() -> None:
    """A sweep may have results and no tables, or tables and no results."""
    sweep = sample_report.sweep()
    without = replace(sweep, table1=None, exponents=None)
    assert "growth-results" in read(html(ReportView("h", Provenance(""), sweeps=(without,)))).tables
    without = replace(sweep, results=None, runs=())
    tables = read(html(ReportView("h", Provenance(""), sweeps=(without,)))).tables
    assert "growth-table1" in tables and "growth-results" not in tables


def test_the_audit_reports_whether_promises_were_kept(contents: ReportView, page: Page) -> None:
    """Violations by controls don't break a promise; those by other protocols do."""
    text = "".join(e.text for e in page.all("p") if "audit-shop-audit" in e.inside)
    assert "promises kept" in text and "all of them with fifo: controls" in text
    study = contents.studies[0]
    assert study.protocols is not None
    rows = tuple(tuple(True if v is False else v for v in row) for row in study.protocols.rows)
    causal = replace(study, protocols=replace(study.protocols, rows=rows))
    page = read(html(ReportView("broken", Provenance(""), studies=(causal,))))
    text = "".join(e.text for e in page.all("p") if "audit-shop-audit" in e.inside)
    assert "promises kept" not in text and "violated" in text


def test_missing_parts_are_announced_and_listed(page: Page) -> None:
    """There is a notice in the first section, and the remedy in the last."""
    [notice] = [element for element in page.all("p") if element.attributes.get("role") == "note"]
    assert "1 part is missing" in notice.text and "headline" in notice.inside
    assert "run it again" in "".join(e.text for e in page.all("li") if "missing" in e.inside)


def test_the_same_contents_give_the_same_bytes(contents: ReportView, source: str) -> None:
    """Nothing depends on the clock, on randomness or on earlier pages."""
    html(ReportView("other", Provenance("")))
    assert html(sample_report.everything()) == source


def test_only_our_scripts_may_run(page: Page, source: str) -> None:
    """The policy lists exactly the scripts of the page, and nothing can be loaded."""
    [policy] = [
        str(element.attributes["content"])
        for element in page.all("meta")
        if element.attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    scripts = [script for script in page.all("script") if "type" not in script.attributes]
    assert len(scripts) == 3
    for script in scripts:
        assert b64encode(sha256(script.text.encode()).digest()).decode() in policy
    assert policy.startswith("default-src 'none'") and "unsafe-eval" not in policy
    loading = {"src", "srcset", "action", "poster", "data", "ping", "background"}
    for element in page.elements:
        assert not loading & set(element.attributes)
        assert not any(name.startswith("on") or name == "style" for name in element.attributes)


POISON = (
    "</script><script>alert(1)</script>\"'><img src=x onerror=alert(2)> "
    "\u202eright to left\x00\ud800"
)


def test_untrusted_text_stays_text(contents: ReportView, page: Page) -> None:
    """In every text field: it creates no elements or attributes, and stays readable."""
    poisoned = read(html(sample_report.poisoned(contents, POISON)))
    shape = {(element.tag, *sorted(element.attributes)) for element in page.elements}
    poisoned_shape = {(element.tag, *sorted(element.attributes)) for element in poisoned.elements}
    # Long texts get a title or a disclosure element, and nothing else is new.
    assert poisoned_shape - shape <= {("bdi", "title"), ("details", "class"), ("summary",)}
    assert len(poisoned.all("script")) == len(page.all("script"))
    assert any("<script>alert(1)</script>" in element.text for element in poisoned.all("bdi"))
    assert any("\u2400\\ud800" in element.text for element in poisoned.all("bdi"))


def test_right_to_left_text_is_isolated(contents: ReportView) -> None:
    """Text that may run from right to left is inside an element that isolates it."""
    mark = "\u05d0\u05d1"
    page = read(html(sample_report.poisoned(contents, mark)))
    enclosing = {tag for tag, text in page.texts if mark in text}
    # The other elements contain nothing else that could be reordered.
    assert "bdi" in enclosing and enclosing <= {"bdi", "title", "option", "button", "script"}


def test_long_names_are_shortened_on_screen_only() -> None:
    """A name of 10 kB doesn't break a table, and its value is complete."""
    long = "n" * 10_000
    study = sample_report.study()
    table = study.characteristics[0]
    study = replace(study, characteristics=(replace(table, rows=((long, 1),)),))
    page = read(html(ReportView("long", Provenance(""), studies=(study,))))
    assert page.tables[table.name][0]["process"] == long
    summaries = [element.text for element in page.all("summary") if element.text.startswith("nnn")]
    assert summaries and all(len(text) <= 60 for text in summaries)


def test_violations_are_compressed_with_their_diagrams(page: Page) -> None:
    """All of them, by run; each sentence with full names and with short ones."""
    packed = page.by_id("data-violations").text
    [[causal, fifo, lost]] = json.loads(zlib.decompress(b64decode(packed)))
    assert [causal["kind"], fifo["kind"], lost["kind"]] == ["causal", "fifo", "lost"]
    assert causal["sentence"] == "bob@00bb delivered alice@00aa#2 before alice@00aa#1: violation 1."
    assert causal["short"] == "bob delivered alice#2 before alice#1: violation 1."
    assert causal["diagram"]["labels"] == ["alice", "bob"] and lost["diagram"] is None


def test_thousands_of_violations_stay_small() -> None:
    """They compress well, so a page with 2,000 isn't much larger than one with three."""
    many = tuple(sample_report.violation(number) for number in range(2000))
    study = replace(sample_report.study(), audit=sample_report.audit(many))
    few = html(ReportView("few", Provenance(""), studies=(sample_report.study(),)))
    assert len(html(ReportView("many", Provenance(""), studies=(study,)))) < len(few) + 100_000
