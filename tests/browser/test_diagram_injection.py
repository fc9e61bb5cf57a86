"""Hostile process names are shown as text: they run no code and don't break the layout."""

from __future__ import annotations

from pathlib import Path

import pytest

from beforehand.report.diagram.build import build
from beforehand.report.diagram.model import Diagram
from beforehand.trace import Event
from tests.browser.conftest import Pages
from tests.browser.diagrams import DiagramPage, plain, show

SCRIPT = "</script><script>window.ran = 1</script>"
IMAGE = "\"'><img src=x onerror='window.ran = 2'>"
HEBREW = "\u202e\u05e9\u05dc\u05d5\u05dd"  # after an override that reverses the text
LONG = "x" * 10_000
CONTROL = "a\x00b\x1bc\ud800"


def hostile(receiver: str) -> Diagram:
    """Build a diagram with one message, in which every text is hostile."""
    rows = [
        (SCRIPT, 1, "send", 1, (receiver,), ""),
        (SCRIPT, 2, "release", 1, (receiver,), IMAGE),
        (receiver, 1, "receive", 1, None, SCRIPT),
        (receiver, 2, "deliver", 1, None, SCRIPT),
    ]
    events = [
        Event(IMAGE, process, seq, kind, SCRIPT, mid, to, 1000 * n, 5, 1, detail)
        for n, (process, seq, kind, mid, to, detail) in enumerate(rows)
    ]
    return build(events, flags={(receiver, 2): f"{IMAGE} is wrong {LONG}"})


def check_harmless(diagram_page: DiagramPage) -> None:
    """Use everything that shows text; check that no code ran and nothing is too wide."""
    page = diagram_page.page
    page.locator("summary", has_text="As text").click()
    page.get_by_role("button", name="Go to the next wrong delivery").click()
    page.locator("canvas[role=application]").focus()
    page.keyboard.press("n")
    assert diagram_page.evaluate("window.ran") is None
    # Only our script and the data.
    assert diagram_page.evaluate("document.querySelectorAll('img, script').length") == 2
    assert diagram_page.evaluate("document.documentElement.scrollWidth") <= 1280


@pytest.mark.parametrize(
    ("receiver", "displayed"),
    [
        (IMAGE, IMAGE[:23] + "…"),
        (HEBREW, "\ufffd\u05e9\u05dc\u05d5\u05dd"),
        (LONG, "x" * 23 + "…"),
        (CONTROL, "a\u2400b\u241bc\ufffd"),
    ],
    ids=["image", "right to left", "10 kB", "control characters"],
)
def test_names_are_text(open_page: Pages, tmp_path: Path, receiver: str, displayed: str) -> None:
    """Tooltip and table show names shortened, with placeholders for invisible characters."""
    diagram_page = show(open_page, tmp_path, hostile(receiver))
    check_harmless(diagram_page)
    assert SCRIPT[:20] in diagram_page.tip()
    assert displayed in plain(diagram_page.page.locator(".diagram-tip td").first.inner_text())
    table = plain(diagram_page.page.locator(".diagram-text table").inner_text())
    assert f"causal-sends {SCRIPT[:20]}" in table and IMAGE[:20] in table
    assert diagram_page.page.title().startswith(IMAGE)


def test_the_content_security_policy_blocks_injected_elements(
    open_page: Pages, tmp_path: Path
) -> None:
    """A script that is added to the page doesn't run, and an image isn't requested."""
    diagram_page = show(open_page, tmp_path, hostile("b"))
    diagram_page.evaluate("""() => {
      const script = document.createElement("script");
      script.textContent = "window.ran = 3";
      const image = document.createElement("img");
      image.src = "http://127.0.0.1/x.png";
      document.body.append(script, image);
    }""")
    diagram_page.settle()
    assert diagram_page.evaluate("window.ran") is None
    # Playwright also reports a request for the image, although it never leaves the browser.
    blocked = [problem for problem in open_page.problems if "Content Security Policy" in problem]
    assert ["script" in blocked[0], "image" in blocked[1], len(blocked)] == [True, True, 2]
    open_page.problems.clear()
