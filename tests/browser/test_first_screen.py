"""The first screen of a report, and what is below it: short, collapsed, honest, and whole on paper."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from beforehand.report import Provenance, ReportView
from tests.browser.conftest import Pages, open_sections
from tests.report import folders
from tests.report.page import sample_report
from tests.report.page.test_derived_figures import changed

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytest.importorskip("jinja2", reason="pip install 'beforehand[report]'")

WINDOW = {"width": 1400, "height": 900}
# For each run, its violations on paper: the sentence, and how many pixels of the diagram aren't white.
PRINTED_VIOLATIONS = """() => addEventListener("beforeprint", () => {
  const ink = (canvas) => {
    if (!canvas) return 0;
    const copy = document.createElement("canvas");
    [copy.width, copy.height] = [canvas.width, canvas.height];
    const ctx = copy.getContext("2d", { willReadFrequently: true });
    ctx.drawImage(canvas, 0, 0);
    const pixels = new Uint32Array(ctx.getImageData(0, 0, copy.width, copy.height).data.buffer);
    return pixels.filter((pixel) => pixel !== 0xffffffff).length;
  };
  window.printed = Array.from(document.querySelectorAll("[data-printed]"), (list) =>
    Array.from(list.children, (item) => [
      item.querySelector("bdi").textContent, ink(item.querySelector("canvas")),
    ]));
})"""
BOTTOM = "element => element.getBoundingClientRect().bottom"


def write_page(contents: ReportView, file: Path) -> Path:
    """Write the page of a report."""
    from beforehand.report import page

    file.write_text(page.html(contents), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a folder with every kind of output."""
    folder = folders.write_demo(tmp_path_factory.mktemp("first") / "demo")
    return write_page(folders.read(folder), folder / "report.html")


def first_screen(open_page: Pages, file: Path) -> Page:
    """Open a page in the window of a laptop."""
    page = open_page(file)
    page.set_viewport_size(WINDOW)  # type: ignore[arg-type]
    return page


def test_the_first_screen_has_both_real_runs_the_choice_and_the_cost(
    open_page: Pages, demo: Path
) -> None:
    """All of it without scrolling, and nothing simulated next to it."""
    page = first_screen(open_page, demo)
    heading = page.locator("h1").inner_text()
    assert heading.endswith("read the answer of bob first.")
    pictures = page.locator("#headline .side-run svg")
    assert pictures.count() == 2
    labels = [str(picture.get_attribute("aria-label")) for picture in pictures.all()]
    assert labels[0].startswith("fifo: ") and labels[1].startswith("hybrid-sps: ")
    captions = page.locator("#headline .side-run figcaption").all_inner_texts()
    assert captions[0].startswith("fifo: 1 of 3 deliveries out of causal order")
    assert captions[1].startswith("hybrid-sps: 0 of 3 deliveries out of causal order")
    assert [text.endswith("Numbered as in the fifo run.") for text in captions] == [False, True]
    for selector in ("h1", "#choice", "#cost", "#headline .side-run >> nth=1"):
        box = page.locator(selector)
        assert box.is_visible() and 0 < box.evaluate(BOTTOM) <= WINDOW["height"], selector
    assert 1 <= page.locator("#choice > p:not(:has(a))").count() <= 2
    assert "Choose hybrid-sps" in page.locator("#choice").inner_text()
    rows = page.locator("#cost tbody tr")
    assert rows.count() == 4 and rows.locator("td").count() == 8
    assert page.locator("#headline .card").count() == 0


def test_nothing_on_the_first_screen_is_cut_off(open_page: Pages, demo: Path) -> None:
    """At any width: every answer shows all of its text and its table."""
    page = open_page(demo)
    answers = page.locator("#headline .answer")
    assert answers.count() == 3
    for width in (1400, 1200, 1000, 700, 420, 360):
        page.set_viewport_size({"width": width, "height": 900})
        for answer in answers.all():
            cut = answer.evaluate("it => it.scrollWidth - it.clientWidth")
            assert cut <= 0, f"{answer.locator('h2').inner_text()} at {width} pixels"


def test_the_page_is_short_until_a_section_is_opened(open_page: Pages, demo: Path) -> None:
    """Every section is closed at first; a link to something inside opens all around it."""
    page = first_screen(open_page, demo)
    assert page.locator("details.section").count() == 9
    assert page.locator("details.section[open]").count() == 0
    assert page.evaluate("document.documentElement.scrollHeight") < 2_500
    page.locator(".side a[href='#audit']").click()
    assert page.locator("#audit").evaluate("section => section.open")
    run = page.locator("details.run").first.get_attribute("id")
    page.evaluate("name => { location.hash = name; }", run)
    page.wait_for_function("name => document.getElementById(name).open", arg=run)
    assert page.locator("#runs").evaluate("section => section.open")
    open_sections(page)
    assert page.evaluate("document.documentElement.scrollHeight") > 5_000  # there was something


def test_paper_has_the_sections_and_the_diagrams(
    open_page: Pages, demo: Path, tmp_path: Path
) -> None:
    """Also those that nobody has scrolled to; afterwards the page is as it was."""
    page = first_screen(open_page, demo)
    page.evaluate(
        """() => addEventListener("beforeprint", () => { window.printed = {
          closed: document.querySelectorAll("details.section:not([open])").length,
          diagrams: document.querySelectorAll("[data-diagram]").length,
          empty: document.querySelectorAll("[data-diagram]:empty").length,
          pictures: document.querySelectorAll(".side-run svg").length,
        }; })"""
    )
    page.pdf(path=str(tmp_path / "report.pdf"))
    printed = page.evaluate("window.printed")
    assert printed["diagrams"] > 0 and printed["pictures"] >= 2
    assert printed["closed"] == printed["empty"] == 0
    page.wait_for_function("() => !document.querySelector('details.section[open]')")


def test_paper_has_diagrams_of_the_violations_of_every_run(
    open_page: Pages, tmp_path: Path
) -> None:
    """Drawn, although nobody has opened a run, and although its first violations have none."""
    lost = tuple(sample_report.violation(number, "lost", drawn=False) for number in range(1, 4))
    drawn = tuple(sample_report.violation(number) for number in range(4, 8))
    other = tuple(replace(violation, run="other", title="other") for violation in drawn[:1])
    undrawn = tuple(replace(violation, run="undrawn") for violation in lost)
    audit = sample_report.audit((*lost, *drawn, *other, *undrawn))
    contents = replace(sample_report.everything(), studies=(), audits=(audit,))
    page = first_screen(open_page, write_page(contents, tmp_path / "report.html"))
    page.evaluate(PRINTED_VIOLATIONS)
    page.pdf(path=str(tmp_path / "report.pdf"))
    printed = page.evaluate("window.printed")
    numbers = [[int(sentence.split()[-1].strip(".")) for sentence, _ in run] for run in printed]
    assert numbers == [[4, 5, 6], [4], [1, 2, 3]]
    inked = [[ink > 100 for _, ink in run] for run in printed]
    assert inked == [[True] * 3, [True], [False] * 3]
    page.wait_for_function("() => !document.querySelector('[data-printed] canvas')")


def test_a_wide_table_says_that_it_scrolls(open_page: Pages, demo: Path) -> None:
    """With a hint and a fading edge, until its end has been reached; a narrow one does not."""
    page = open_sections(open_page(demo, phone=True))
    figure = page.locator("figure.table:has(table[data-table='shop-study-protocols'])")
    hint, scroll = figure.locator(".scroll-hint"), figure.locator(".scroll")
    scroll.scroll_into_view_if_needed()
    hint.wait_for(state="visible")
    assert "gradient" in scroll.evaluate("it => getComputedStyle(it).maskImage")
    scroll.evaluate("it => { it.scrollLeft = it.scrollWidth; }")
    hint.wait_for(state="hidden")
    assert scroll.evaluate("it => getComputedStyle(it).maskImage") == "none"


def test_figures_that_are_links_look_like_links(open_page: Pages, demo: Path) -> None:
    """Underlined, and in the colour of links."""
    page = open_sections(first_screen(open_page, demo))
    styles: list[list[str]] = page.evaluate(
        """() => Array.from(document.querySelectorAll("td a"), (link) => {
          const style = getComputedStyle(link);
          return [style.textDecorationLine, style.color];
        })"""
    )
    link = page.locator(".nothing, #choice a").first
    assert link.count() and len(styles) > 20
    assert {line for line, _ in styles} == {"underline"}
    text = page.evaluate("getComputedStyle(document.body).color")
    assert text not in {colour for _, colour in styles}


def test_axes_have_titles_with_units_and_say_if_they_are_logarithmic(
    open_page: Pages, demo: Path
) -> None:
    """Every axis of every chart, as drawn."""
    page = open_sections(first_screen(open_page, demo))
    page.evaluate("Report.drawAll()")
    page.wait_for_function("() => !document.querySelector('[data-chart]:not(:has(svg))')")
    charts: list[dict[str, Any]] = page.evaluate(
        """() => Array.from(document.querySelectorAll("[data-chart]"), (element) => ({
          x: element.querySelector(".xtitle")?.textContent ?? "",
          y: element.querySelector(".ytitle")?.textContent ?? "",
          log: {
            x: element._fullLayout.xaxis.type === "log",
            y: element._fullLayout.yaxis.type === "log",
          },
        }))"""
    )
    assert len(charts) >= 8
    for axis in ("x", "y"):
        assert {chart["log"][axis] for chart in charts} == {True, False}, axis
        for chart in charts:
            assert chart[axis]
            assert ("log scale" in chart[axis]) is chart["log"][axis], chart[axis]
            assert "us" not in chart[axis].replace("(", " ").replace(",", " ").split()
        assert any("µs" in chart[axis] for chart in charts), axis


def test_figures_of_a_run_that_did_not_do_the_work_are_not_shown(
    open_page: Pages, tmp_path: Path
) -> None:
    """A stalled control has no costs, in the table and in the charts; its exact figures can be saved."""
    stalled = changed(sample_report.protocols(), 5, outcome="stalled", deliveries=4)
    study = replace(sample_report.study(), protocols=stalled)
    contents = replace(sample_report.everything(), studies=(study,))
    page = open_sections(open_page(write_page(contents, tmp_path / "report.html")))
    page.get_by_role("tab", name="mobile").click()
    row = page.locator("[data-table=shop-protocols] tbody tr:not([hidden])").nth(2)
    cell = row.locator("[data-column=metadata_per_message]")
    assert cell.inner_text() == "not measured" and cell.get_attribute("data-value") == "8.63"
    remark = page.locator("#protocols .fine").first.inner_text()
    assert remark == "fifo on mobile: costs not measured: the run stalled after 4 deliveries."
    page.evaluate("Report.drawAll()")
    marks = page.locator("[data-chart=shop-metadata] svg .point")
    marks.first.wait_for()
    assert marks.count() == 5


def test_a_study_alone_shows_what_there_is(open_page: Pages, tmp_path: Path) -> None:
    """Cards and the choice, and no comparison of real runs, of which there are none."""
    contents = ReportView("study", Provenance(""), studies=(sample_report.study(),))
    page = first_screen(open_page, write_page(contents, tmp_path / "report.html"))
    assert page.locator("#headline .card").count() == 3
    assert page.locator("#headline .side-run").count() == 0
    choice = page.locator("#choice")
    assert choice.evaluate(BOTTOM) <= WINDOW["height"]
    assert choice.inner_text().startswith(
        "What to choose\n\nSimulated replays of the run shop favour hybrid"
    )
