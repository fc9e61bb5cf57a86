"""The cost of a diagram in a browser: loading it, panning in it, selecting a message, scrolling the log.

    make bench-diagrams
    python benchmarks/diagrams.py [--quick] [--out FILE.json]

The same events at several sizes, on a page of `beforehand diagram`, compared with SVG
elements, the usual way to draw diagrams in a browser: all elements always exist, and the browser
determines which are visible. Both are panned in the same way, a hundredth of the axis in view, one
step per frame, so the minimum is the duration of a frame on this machine.

Needs Chromium. Exit code 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # a script sees its own folder only

from beforehand.report.diagram.build import build  # noqa: E402
from beforehand.report.diagram.page import html  # noqa: E402
from beforehand.report.diagram.svg import svg  # noqa: E402
from benchmarks.bars import Verdict, at_least, at_most, present, table  # noqa: E402
from tests.browser.conftest import CHROMIUM, CHROMIUM_FLAGS  # noqa: E402
from tests.browser.test_diagram_large import large_trace  # noqa: E402

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from beforehand.report.diagram.model import Diagram

EVENTS: Final = (2_000, 20_000, 200_000)
QUICK: Final = (2_000, 20_000)
MOST_SVG: Final = 20_000  # beyond this, SVG elements take minutes
STEPS: Final = 40  # of a movement
# Only the visible part is drawn, so ten times the events must not make a step much slower.
GROWTH_BAR: Final = 2.0
SVG_BAR: Final = 2.0

FRAME: Final = "() => new Promise(done => requestAnimationFrame(() => done()))"
# Milliseconds per step, over a number of steps of one frame each.
MOVE: Final = """steps => new Promise(done => {
  const began = performance.now();
  let step = 0;
  function frame() {
    if (step === steps) {
      done((performance.now() - began) / steps);
      return;
    }
    move(step / steps);
    step += 1;
    requestAnimationFrame(frame);
  }
  requestAnimationFrame(frame);
})"""
# Milliseconds until the past and the future are known.
SELECT: Final = """message => {
  const began = performance.now();
  diagram.select(message);
  return performance.now() - began;
}"""
# A hundredth of the axis, from the beginning to the end of it.
ON_CANVAS: Final = """() => {
  diagram.fit();
  const { low, high } = diagram.view();
  const part = (high - low) / 100;
  window.move = (share) => {
    const from = low + share * (high - low - part);
    diagram.see(from, from + part);
  };
}"""
ON_SVG: Final = """() => {
  const drawn = document.querySelector("svg");
  const [x, y, width, height] = drawn.getAttribute("viewBox").split(" ").map(Number);
  const part = width / 100;
  window.move = (share) => {
    const from = x + share * (width - part);
    drawn.setAttribute("viewBox", [from, y, part, height].join(" "));
  };
}"""


# The log, from its first line to its last.
ON_LOG: Final = """() => {
  const lines = document.querySelector(".diagram-lines");
  window.move = (share) => { lines.scrollTop = share * (lines.scrollHeight - lines.clientHeight); };
}"""


def main() -> int:
    """Measure, show, and report whether the bars are met."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="without the largest size")
    parser.add_argument("--out", type=Path, default=ROOT / "build/benchmarks/diagrams.json")
    options = parser.parse_args()
    sizes = QUICK if options.quick else EVENTS
    with sync_playwright() as playwright, TemporaryDirectory() as scratch:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_FLAGS)
        rows = [measure(browser, Path(scratch), size) for size in sizes]
        browser.close()
    return present({"diagrams": rows}, verdicts(rows), options.out, [draw])


def measure(browser: Browser, folder: Path, events: int) -> dict[str, Any]:
    """One size: the page and, unless that is too large, the same diagram as SVG."""
    began = time.perf_counter()
    diagram = build(large_trace(events // 4), most=events)
    text = html(diagram)
    row: dict[str, Any] = {
        "events": events,
        "build_s": time.perf_counter() - began,
        "megabytes": len(text) / 1e6,
    }
    page, row["ready_ms"] = opened(browser, folder / "page.html", text)
    page.evaluate(ON_CANVAS)
    row["frame_ms"] = moved(page)
    page.evaluate("diagram.fit()")
    page.evaluate(FRAME)
    page.evaluate(FRAME)
    row["whole_ms"] = page.evaluate("diagram.stats().ms")
    row["select_ms"] = selected(page, diagram)
    page.evaluate(ON_LOG)
    row["log_frame_ms"] = moved(page)
    page.close()
    row["svg_frame_ms"] = svg_step(browser, folder, diagram) if events <= MOST_SVG else None
    return row


def svg_step(browser: Browser, folder: Path, diagram: Diagram) -> float:
    """Milliseconds per step if every mark and arrow is an SVG element."""
    text = f"<!doctype html><meta charset='utf-8'><body>{svg(diagram)}"
    page, _ = opened(browser, folder / "svg.html", text)
    page.evaluate(ON_SVG)
    figures = moved(page)
    page.close()
    return figures


def opened(browser: Browser, file: Path, text: str) -> tuple[Page, float]:
    """A page, and the milliseconds until its first frame."""
    file.write_text(text, encoding="utf-8")
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    began = time.perf_counter()
    page.goto(file.absolute().as_uri())
    page.evaluate(FRAME)
    return page, 1_000 * (time.perf_counter() - began)


def moved(page: Page) -> float:
    """Milliseconds per step; the first movement is a warm-up."""
    page.evaluate(MOVE, STEPS)
    return float(page.evaluate(MOVE, STEPS))


def selected(page: Page, diagram: Diagram) -> float:
    """Milliseconds to select a message and show its past and future; the median of several."""
    messages = len(diagram.messages)
    some = range(messages // 10, messages, max(1, messages // 10))
    return statistics.median(float(page.evaluate(SELECT, message)) for message in some)


def verdicts(rows: list[dict[str, Any]]) -> list[Verdict]:
    """Events outside the view must not slow a step down, and SVG elements must be slower."""
    small, large_one = rows[0], rows[1]
    return [
        at_most(
            "a step with ten times the events, over one with 2,000",
            large_one["frame_ms"] / small["frame_ms"],
            GROWTH_BAR,
        ),
        at_most(
            "a step of the log with ten times the events, over one with 2,000",
            large_one["log_frame_ms"] / small["log_frame_ms"],
            GROWTH_BAR,
        ),
        at_least(
            "a step in SVG of 20,000 events, over one of ours",
            large_one["svg_frame_ms"] / large_one["frame_ms"],
            SVG_BAR,
        ),
    ]


def draw(report: dict[str, Any]) -> Any:
    """The table of all sizes."""
    columns = (
        "events",
        "made, s",
        "MB",
        "ready, ms",
        "step, ms",
        "step in SVG, ms",
        "all of it, ms",
        "select, ms",
        "log, ms",
    )
    rows = [
        (
            f"{row['events']:,}",
            f"{row['build_s']:.2f}",
            f"{row['megabytes']:.1f}",
            f"{row['ready_ms']:.0f}",
            f"{row['frame_ms']:.1f}",
            "-" if row["svg_frame_ms"] is None else f"{row['svg_frame_ms']:.1f}",
            f"{row['whole_ms']:.1f}",
            f"{row['select_ms']:.1f}",
            f"{row['log_frame_ms']:.1f}",
        )
        for row in report["diagrams"]
    ]
    return table("Diagrams in Chromium", columns, rows)


if __name__ == "__main__":
    sys.exit(main())
