"""The page that compares two runs: synchronised selection, marked differences, narrow screens."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from beforehand.cli.diagram.judge import DeliveryJudge
from beforehand.report.diagram.build import build
from beforehand.report.diagram.compare import RunComparison, compare
from beforehand.report.diagram.page import comparison_html
from tests.browser.conftest import Pages
from tests.browser.diagrams import DRAWN, message_index, plain
from tests.browser.test_access import LOW_CONTRAST, NAMELESS, OBSTACLES
from tests.simulator.traced_run import traced


@pytest.fixture(scope="module")
def comparison() -> RunComparison:
    """The same workload under `fifo`, which breaks causal order, and `hybrid-sps`."""
    fields: dict[str, Any] = {"processes": 4, "messages": 120, "interval": "5ms", "seed": 3}
    runs = []
    for protocol in ("fifo", "hybrid-sps"):
        events = traced(protocol=protocol, fifo=False, **fields)[1]
        runs.append(replace(build(events, judge=DeliveryJudge()), protocol=protocol))
    both = compare(*runs)
    assert both.moved and both.left.flags and not both.right.flags
    return both


@pytest.fixture
def file(comparison: RunComparison, tmp_path: Path) -> Path:
    """The page of it."""
    page = tmp_path / "comparison.html"
    page.write_text(comparison_html(comparison), encoding="utf-8")
    return page


def status(page: Page, side: str) -> str:
    """Return the status line of a side."""
    return plain(page.locator(f"#{side} .diagram-status").inner_text())


def test_the_same_message_is_selected_on_both_sides(
    open_page: Pages, file: Path, comparison: RunComparison
) -> None:
    """By name, in both directions, also when the selection ends; the view follows."""
    page = open_page(file)
    for chosen, other, sides in (
        (0, 1, (comparison.left, comparison.right)),
        (1, 0, (comparison.right, comparison.left)),
    ):
        one, two = (message_index(diagram, "p2", 50 + chosen) for diagram in sides)
        page.evaluate("([side, message]) => diagrams[side].select(message)", [chosen, one])
        selections = page.evaluate("diagrams.map(diagram => diagram.selection().message)")
        assert selections[chosen] == one and selections[other] == two
        view = page.evaluate("side => diagrams[side].view()", other)
        send = sides[1].messages[two].send
        assert send is not None and view["low"] <= sides[1].marks[send].time_ns <= view["high"]
        page.evaluate("side => diagrams[side].select(null)", chosen)
        assert page.evaluate("diagrams.map(diagram => diagram.selection().message)") == [-1, -1]


def test_a_violation_is_shown_on_both_sides(
    open_page: Pages, file: Path, comparison: RunComparison
) -> None:
    """At first the first one: wrong on the left, and the order of the same messages on the right."""
    page = open_page(file)
    flags = sorted(comparison.left.flags, key=lambda f: comparison.left.marks[f.mark].time_ns)
    assert status(page, "left") == plain(flags[0].sentence)
    late = comparison.left.messages[flags[0].chain[0]]
    early = comparison.left.messages[flags[0].chain[-1]]
    process = comparison.left.labels[comparison.left.marks[flags[0].mark].process]
    names = [f"p{message.sender}#{message.mid}" for message in (late, early)]
    assert status(page, "right") == f"Here, {process} delivered {names[0]}, then {names[1]}."
    first = status(page, "right")
    page.locator("#left canvas[role=application]").focus()
    page.keyboard.press("v")
    assert status(page, "left") == plain(flags[1].sentence) != plain(flags[0].sentence)
    assert status(page, "right").startswith("Here, ") and status(page, "right") != first


def test_differences_are_counted_and_marked(
    open_page: Pages, file: Path, comparison: RunComparison
) -> None:
    """A sentence at the top, marks on both sides, and a button that goes from one to the next."""
    page = open_page(file)
    assert page.locator("header p").inner_text() == comparison.summary
    page.evaluate("diagrams.forEach(diagram => diagram.fit())")
    page.evaluate(DRAWN)
    assert all(page.evaluate("diagrams.map(diagram => diagram.stats().differs)"))
    page.locator("#right").get_by_role("button", name="next delivery in another order").click()
    marks = comparison.right.marks
    first = min(comparison.right.differs, key=lambda mark: marks[mark].time_ns)
    assert page.evaluate("document.getElementById('right').dataset.current") == str(first)


@pytest.mark.parametrize("phone", [False, True], ids=["a light desktop", "a dark phone"])
def test_the_page_is_accessible(open_page: Pages, file: Path, phone: bool) -> None:
    """Side by side on a desktop and stacked on a phone; texts are readable and controls have names."""
    page = open_page(file, phone=phone, dark=phone)
    for button in page.locator(".diagram-bar button", has_text="Log").all():
        button.click()
    for summary in page.locator(".diagram-processes summary").all():
        summary.click()
    boxes = [page.locator(f"#{side}").bounding_box() for side in ("left", "right")]
    left, right = boxes
    assert left and right
    assert (right["y"] > left["y"] + 200) if phone else (right["x"] > left["x"] + 400)
    texts = page.evaluate(LOW_CONTRAST)
    assert texts["faint"] == [] and texts["checked"] > 60
    assert page.evaluate(OBSTACLES) == []
    assert page.evaluate(NAMELESS) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= (390 if phone else 1280)


def test_tab_reaches_every_control_with_a_visible_focus(open_page: Pages, file: Path) -> None:
    """Without a trap."""
    page = open_page(file)
    reached = []
    for _ in range(120):
        page.keyboard.press("Tab")
        tag, visible, label = page.evaluate("""() => {
          const element = document.activeElement;
          const style = getComputedStyle(element);
          const isOutlined = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
          const label = element.getAttribute("aria-label") || element.textContent;
          return [element.tagName, isOutlined, label];
        }""")
        if tag == "BODY":
            break
        assert visible, label
        reached.append(label)
    else:
        raise AssertionError("Tab never reaches the end of the page")
    for label in ("Processes", "List the keys", "Next match", "Go to the next wrong delivery"):
        assert label in reached
