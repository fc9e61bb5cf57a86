"""Whatever a trace calls its processes is shown as text: it does not act, and it breaks no layout."""

from __future__ import annotations

from pathlib import Path

import pytest

from beforehand.report.diagram.build import build
from beforehand.report.diagram.model import Diagram
from beforehand.trace import Event
from tests.browser.conftest import Pages
from tests.browser.diagrams import Shown, plain, show

SCRIPT = "</script><script>window.ran = 1</script>"
IMAGE = "\"'><img src=x onerror='window.ran = 2'>"
HEBREW = "\u202e\u05e9\u05dc\u05d5\u05dd"  # after a mark that would turn all that follows
LONG = "x" * 10_000
CONTROL = "a\x00b\x1bc\ud800"


def hostile(receiver: str) -> Diagram:
    """A message from a script to a process with a bad name, with bad texts wherever there are any."""
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


def use(shown: Shown) -> None:
    """Use all that shows text, and check that nothing ran and nothing is too wide."""
    page = shown.page
    page.locator("summary", has_text="As text").click()
    page.get_by_role("button", name="Go to the next mark that is wrong").click()
    page.locator("canvas[role=application]").focus()
    page.keyboard.press("n")
    assert shown.ask("window.ran") is None
    assert shown.ask("document.querySelectorAll('img, script').length") == 2  # ours, and the data
    assert shown.ask("document.documentElement.scrollWidth") <= 1280


@pytest.mark.parametrize(
    ("receiver", "seen"),
    [
        (IMAGE, IMAGE[:23] + "…"),
        (HEBREW, "\ufffd\u05e9\u05dc\u05d5\u05dd"),
        (LONG, "x" * 23 + "…"),
        (CONTROL, "a\u2400b\u241bc\ufffd"),
    ],
    ids=["image", "right to left", "10 kB", "control characters"],
)
def test_names_are_text(open_page: Pages, tmp_path: Path, receiver: str, seen: str) -> None:
    """Tooltip and table show a name as it is, shortened, with signs for what cannot be seen."""
    shown = show(open_page, tmp_path, hostile(receiver))
    use(shown)
    assert SCRIPT[:20] in shown.tip()
    assert seen in plain(shown.page.locator(".diagram-tip td").first.inner_text())
    table = plain(shown.page.locator(".diagram-text table").inner_text())
    assert f"causal-sends {SCRIPT[:20]}" in table and IMAGE[:20] in table
    assert shown.page.title().startswith(IMAGE)


def test_the_policy_of_the_page_forbids_what_would_slip_through(
    open_page: Pages, tmp_path: Path
) -> None:
    """A script or an image that somehow got into the page would not run, and not be asked for."""
    shown = show(open_page, tmp_path, hostile("b"))
    shown.ask("""() => {
      const script = document.createElement("script");
      script.textContent = "window.ran = 3";
      const image = document.createElement("img");
      image.src = "http://127.0.0.1/x.png";
      document.body.append(script, image);
    }""")
    shown.settle()
    assert shown.ask("window.ran") is None
    # Playwright also lists the image as a request, which is one that never left the browser.
    refused = [problem for problem in open_page.problems if "Content Security Policy" in problem]
    assert ["script" in refused[0], "image" in refused[1], len(refused)] == [True, True, 2]
    open_page.problems.clear()
