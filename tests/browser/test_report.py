"""The report in a real browser: drawing, sorting, saving, opening and printing.

Every test here also fails if the page logs an error to its console or makes a network request.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from beforehand.report.model import ReportView
from tests.browser.conftest import Pages, open_sections
from tests.report.page import sample_report

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

Open = Callable[..., "Page"]

TABLE = 'table[data-table="shop-protocols"]'
POISON = "<b>\"'><script>window.bad = 1</script><img src=x onerror='window.bad = 2'>\u202ertl"


def write_page(contents: ReportView, folder: Path) -> Path:
    """Write the page of a report."""
    html = pytest.importorskip("beforehand.report.page", reason="pip install '.[report]'").html
    file = folder / "index.html"
    file.write_text(html(contents), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with one part of every kind, and 120 violations."""
    many = tuple(sample_report.violation(number, "causal") for number in range(1, 119))
    others = (
        sample_report.violation(119, "fifo"),
        sample_report.violation(120, "lost", drawn=False),
    )
    study = replace(sample_report.study(), audit=sample_report.audit((*many, *others)))
    contents = replace(sample_report.everything(), studies=(study,))
    return write_page(contents, tmp_path_factory.mktemp("report"))


@pytest.fixture(scope="module")
def page(browser: Browser, report: Path) -> Iterator[Page]:
    """The report, opened once for all tests that don't depend on its state."""
    pages = Pages(browser)
    yield open_sections(pages(report))
    pages.close()
    assert pages.problems == [], "the page had problems"


def shown_protocols(page: Page) -> list[str]:
    """Return the visible first column of the table of protocols."""
    cells = page.locator(f"{TABLE} tbody tr:not([hidden]) th").all()
    return [str(cell.get_attribute("data-value")) for cell in cells]


def header(page: Page, column: str) -> Locator:
    """Return a column header of the table of protocols."""
    return page.locator(f'{TABLE} thead th[data-column="{column}"]')


def test_charts_are_drawn_when_they_come_into_view(open_page: Open, report: Path) -> None:
    """Not earlier, and with a mark for each figure."""
    page = open_sections(open_page(report))
    plot = page.locator('[data-chart="growth-metadata"]')
    assert plot.locator("svg").count() == 0
    plot.scroll_into_view_if_needed()
    plot.locator("svg .point").first.wait_for()
    assert plot.locator("svg .point").count() == 6
    assert "rst 66 B to 1,026 B" in str(plot.get_attribute("aria-label"))
    latency = page.locator('[data-chart="shop-latency"]')
    latency.scroll_into_view_if_needed()
    latency.locator("svg .point").first.wait_for()
    assert latency.locator("svg .point").count() == 12
    assert latency.locator("svg .ytick").all_text_contents() == ["hybrid", "rst", "(fifo)"]
    mark = latency.locator("svg .point").nth(1)  # rst on lan
    box = mark.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_url("**#run-shop-protocols-1")
    page.locator("#run-shop-protocols-1[open]").wait_for()


def test_headers_sort_by_value(page: Page) -> None:
    """By click and by key; ascending, descending and unsorted; unknown values always come last."""
    page.get_by_role("tab").nth(0).click()
    assert shown_protocols(page) == ["hybrid", "rst", "fifo"]
    head = header(page, "metadata_per_message")
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert shown_protocols(page) == ["hybrid", "fifo", "rst"]
    head.locator("button").press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    assert shown_protocols(page) == ["rst", "fifo", "hybrid"]
    head.locator("button").press("Space")
    assert head.get_attribute("aria-sort") == "none"
    assert shown_protocols(page) == ["hybrid", "rst", "fifo"]
    for direction in ("ascending", "descending"):
        header(page, "waiting_peak").locator("button").click()
        assert header(page, "waiting_peak").get_attribute("aria-sort") == direction
        assert shown_protocols(page)[-1] == "rst"
    assert head.get_attribute("aria-sort") == "none"


def test_tabs_work_with_the_keyboard(page: Page) -> None:
    """Arrows, Home and End choose a network; only the selected tab is in the tab order."""
    tabs = page.get_by_role("tab")
    tabs.nth(0).focus()
    page.keyboard.press("ArrowRight")
    assert tabs.nth(1).get_attribute("aria-selected") == "true"
    assert tabs.nth(0).get_attribute("tabindex") == "-1"
    row = page.locator(f"{TABLE} tbody tr:not([hidden])").first
    assert row.get_attribute("data-network") == "mobile"
    page.keyboard.press("End")
    assert len(shown_protocols(page)) == 6
    page.keyboard.press("ArrowRight")  # wraps to the first
    assert tabs.nth(0).evaluate("tab => tab === document.activeElement")
    assert len(shown_protocols(page)) == 3


def test_the_theme_changes_the_page_and_its_charts(open_page: Open, report: Path) -> None:
    """The system theme first, then the one chosen with the switch."""
    page = open_sections(open_page(report, dark=True))
    plot = page.locator('[data-chart="growth-metadata"]')
    plot.scroll_into_view_if_needed()
    mark = plot.locator("svg .point").first
    mark.wait_for()
    background = "getComputedStyle(document.body).backgroundColor"
    before = page.evaluate(background), mark.evaluate("mark => mark.style.fill")
    page.locator("[data-theme-switch]").click()
    page.wait_for_function(
        "old => document.querySelector('[data-chart=growth-metadata] svg .point').style.fill !== old",
        arg=before[1],
    )
    assert page.evaluate(background) != before[0]
    assert page.evaluate("document.documentElement.dataset.theme") == "light"


def test_a_table_is_saved_with_the_values_of_the_pipeline(page: Page) -> None:
    """All rows and columns with exact values, however the page is sorted and filtered."""
    header(page, "latency_p99").locator("button").dblclick()
    with page.expect_download() as download:
        page.locator('[data-save="shop-protocols"]').click()
    assert download.value.suggested_filename == "shop-protocols.csv"
    text = Path(download.value.path()).read_bytes().decode()
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    table = sample_report.protocols()
    assert len(rows) == len(table.rows) == 6
    for row, expected in zip(rows, table.rows, strict=True):
        for column, value in zip(table.columns, expected, strict=True):
            if isinstance(value, bool):
                assert row[column.name] == str(value).lower()
            elif isinstance(value, int | float):
                assert type(value)(row[column.name]) == value
            else:
                assert row[column.name] == (value or "")


def test_no_saved_cell_is_a_formula(open_page: Open, tmp_path: Path) -> None:
    """Text that a spreadsheet would evaluate is prefixed by an apostrophe; numbers aren't."""
    rows = [("=1+1", -5), ("@sum", 2), ("-x", 3), ('a,"b"\nc', 4), ("-5", 6)]
    table = sample_report.table("shop-processes", "process sent:count", list(rows))
    study = replace(sample_report.study(), characteristics=(table,))
    contents = replace(sample_report.everything(), studies=(study,))
    page = open_sections(open_page(write_page(contents, tmp_path)))
    page.locator("details.fold summary").first.click()
    with page.expect_download() as download:
        page.locator('[data-save="shop-processes"]').click()
    text = Path(download.value.path()).read_bytes().decode()
    lines = list(csv.reader(io.StringIO(text, newline="")))
    assert [row[0] for row in lines[1:]] == ["'=1+1", "'@sum", "'-x", 'a,"b"\nc', "-5"]
    assert [row[1] for row in lines[1:]] == ["-5", "2", "3", "4", "6"]


def test_a_figure_links_to_its_run_and_back(open_page: Open, report: Path) -> None:
    """The card opens in view with all figures of the run, its scenario and its command."""
    page = open_sections(open_page(report))
    cell = page.locator(f'{TABLE} tbody tr:not([hidden]) td[data-column="latency_p99"]').nth(1)
    cell.locator("a").click()
    card = page.locator("#run-shop-protocols-1")
    assert card.evaluate("card => card.open")
    assert card.locator("summary").first.evaluate("it => it === document.activeElement")
    page.wait_for_function(
        "() => { const top = document.activeElement.getBoundingClientRect().top;"
        " return top > 0 && top < innerHeight; }"
    )
    value = card.locator('td[data-column="value"]').first
    assert value.get_attribute("data-value") == repr(sample_report.protocols().rows[1][8])
    assert value.text_content() == "223 µs"
    assert '"seed": 1' in str(card.locator("pre").text_content())
    assert "--protocol rst" in str(card.locator("code").all_text_contents())
    card.locator("[data-back]").click()
    assert page.url.endswith("#protocols-shop")
    page.locator('#growth a[href="#table-growth-results"]').click()
    assert page.locator("#table-growth-results").is_visible()
    page.goto(f"{page.url.partition('#')[0]}#run-growth-results-0")
    page.reload()
    assert page.locator("#run-growth-results-0").evaluate("card => card.open")


def test_violations_are_listed_and_drawn_when_opened(page: Page) -> None:
    """Fifty at a time, by kind, each with a diagram that is removed when it is closed."""
    group = page.locator("details.group").first
    assert group.locator(".violation").count() == 0
    group.locator("summary").first.click()
    group.locator(".violation").first.wait_for()
    assert group.locator(".violation").count() == 50
    group.get_by_role("button", name="Show 50 more of 70").click()
    assert group.locator(".violation").count() == 100
    first = group.locator("details.violation").first
    assert "bob delivered alice#2 before alice#1: violation 1." in str(first.text_content())
    first.locator("summary").first.click()
    first.locator("canvas").first.wait_for()
    first.locator("summary").first.click()
    page.wait_for_function("() => !document.querySelector('.violation canvas')")
    page.locator("#kind").select_option("lost")
    page.wait_for_function("() => document.querySelectorAll('.group .violation').length === 1")
    assert "violation 120." in str(group.locator(".violation").text_content())


def test_a_cluster_has_its_diagram_and_its_command(page: Page) -> None:
    """The diagram is drawn when it comes into view; copying the command is announced."""
    figure = page.locator('[data-diagram="cluster"]')
    figure.scroll_into_view_if_needed()
    figure.locator("canvas").first.wait_for()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    button = page.locator("#run .parts [data-copy]").first
    button.click()
    page.wait_for_function("() => document.getElementById('announcement').textContent === 'Copied'")
    assert button.text_content() == "Copied"
    assert page.evaluate("navigator.clipboard.readText()") == "beforehand cluster --trace cluster"


def test_a_phone_needs_no_sideways_scrolling(open_page: Open, report: Path) -> None:
    """Tables scroll inside their own boxes; no text is too small to read."""
    page = open_sections(open_page(report, phone=True))
    for name in ("protocols", "table1", "growth", "environment"):
        page.locator(f"#{name}").scroll_into_view_if_needed()
    page.locator('[data-chart="growth-metadata"] svg .point').first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    box = page.locator(f"div:has(> {TABLE})")
    assert box.evaluate("box => box.scrollWidth > box.clientWidth")
    small = page.evaluate(
        "() => [...document.querySelectorAll('main *')].filter(e => e.checkVisibility() &&"
        " [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()) &&"
        " parseFloat(getComputedStyle(e).fontSize) < 12).map(e => e.outerHTML.slice(0, 80))"
    )
    assert small == []
    page.locator("#menu summary").click()
    page.locator("#menu a", has_text="Every run").click()
    assert page.url.endswith("#runs") and not page.locator("#menu").evaluate("it => it.open")


def test_printing_shows_everything(open_page: Open, report: Path, tmp_path: Path) -> None:
    """All networks, some sentences, commands, charts in light colours; then the page is restored."""
    page = open_page(report, dark=True)
    page.evaluate("addEventListener('beforeprint', () => window.printed = snapshot())")
    page.evaluate(
        "window.snapshot = () => ({"
        " theme: document.documentElement.dataset.theme,"
        " undrawn: document.querySelectorAll('[data-chart]:not(:has(svg))').length,"
        " closed: document.querySelectorAll('.run:not([open])').length })"
    )
    file = tmp_path / "report.pdf"
    page.pdf(path=str(file))
    assert file.read_bytes().startswith(b"%PDF")
    assert page.evaluate("window.printed") == {"theme": "light", "undrawn": 0, "closed": 0}
    page.wait_for_function("() => document.documentElement.dataset.theme === 'dark'")
    assert page.locator(".run[open]").count() == 0
    open_sections(page)
    page.emulate_media(media="print")
    assert page.locator(f"{TABLE} tbody tr").last.is_visible()
    assert page.locator(".paper", has_text="violation 1.").is_visible()
    assert page.locator("button:visible:not(thead button)").count() == 0


def test_untrusted_text_never_runs(open_page: Open, tmp_path: Path) -> None:
    """In every text field, wherever it is shown: tables, charts, cards and diagrams."""
    contents = sample_report.poisoned(sample_report.everything(), POISON)
    page = open_page(write_page(contents, tmp_path))
    page.evaluate("document.querySelectorAll('details').forEach(details => details.open = true)")
    page.locator(".violation").first.wait_for()
    page.evaluate(
        "document.querySelectorAll('details.violation').forEach(details => details.open = true)"
    )
    page.evaluate("Report.drawAll()")
    page.locator("svg .point").first.wait_for()
    assert page.evaluate("window.bad") is None
    assert page.locator("main img").count() == 0 and page.locator("main script").count() == 0
    assert POISON[:30] in str(page.locator("#advice h3").first.text_content())
    assert POISON[:20] in str(page.locator("svg .ytick").first.text_content())
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
