"""Printing a diagram: it is drawn for paper, light and as wide as the page, and restored afterwards."""

from __future__ import annotations

import re
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.browser.conftest import Pages
from tests.browser.diagrams import DiagramPage, show, simulated

# The share of pixels of the canvas that are not white, and its size on the page.
INK = """() => {
  const base = document.querySelector(".diagram-stage canvas");
  const copy = document.createElement("canvas");
  [copy.width, copy.height] = [base.width, base.height];
  const ctx = copy.getContext("2d", { willReadFrequently: true });
  ctx.drawImage(base, 0, 0);
  const { data } = ctx.getImageData(0, 0, copy.width, copy.height);
  let dark = 0;
  for (let i = 0; i < data.length; i += 4) dark += data[i] + data[i + 1] + data[i + 2] < 600;
  const box = base.getBoundingClientRect();
  return {
    share: dark / (copy.width * copy.height), width: box.width, height: box.height,
    ratio: base.width / base.height, body: document.querySelector("#diagram").clientWidth,
    stage: document.querySelector(".diagram-stage").clientHeight,
  };
}"""


def opened(open_page: Pages, folder: Path, **window: bool) -> DiagramPage:
    """A small run."""
    page = show(open_page, folder, simulated(protocol="hybrid", messages=6, seed=4)[1], **window)
    page.settle()
    return page


def strokes(pdf: bytes) -> int:
    """Count the lines that are drawn in a PDF."""
    streams = re.findall(rb"stream\r?\n(.*?)endstream", pdf, re.DOTALL)
    drawn = 0
    for stream in streams:
        with suppress(zlib.error):  # fonts and images are encoded otherwise
            drawn += len(re.findall(rb"[0-9] l\n", zlib.decompress(stream.rstrip())))
    return drawn


def test_a_diagram_is_drawn_for_paper(open_page: Pages, tmp_path: Path) -> None:
    """In light colours on a dark page too, at the width of the page, and not stretched."""
    page = opened(open_page, tmp_path, dark=True)
    page.page.emulate_media(media="print")
    page.settle()
    ink: dict[str, Any] = page.evaluate(INK)
    assert 0.005 < ink["share"] < 0.3
    assert abs(ink["width"] - ink["body"]) < 4
    assert abs(ink["width"] / ink["height"] - ink["ratio"]) < 0.02
    assert abs(ink["stage"] - ink["height"]) < 4, "no empty space below"
    hidden = page.page.locator(".diagram-bar, .diagram-log, .diagram-overview, .diagram-text")
    assert not any(hidden.nth(n).is_visible() for n in range(hidden.count()))
    assert page.page.locator(".diagram-legend").is_visible()
    page.page.emulate_media(media="screen")
    page.settle()
    assert page.page.locator(".diagram-bar").is_visible()
    assert page.evaluate(INK)["share"] > 0.9, "dark again"


def test_a_pdf_contains_the_picture(open_page: Pages, tmp_path: Path) -> None:
    """Chromium keeps the lines and shapes of a canvas: about as many as the diagram has are there."""
    page = opened(open_page, tmp_path)
    with_diagram = strokes(page.page.pdf(format="A4"))
    page.evaluate("document.querySelector('.diagram-stage').remove()")
    assert with_diagram > strokes(page.page.pdf(format="A4")) + len(page.diagram.arrows) > 60


def test_a_diagram_in_a_closed_element_is_drawn_when_printing_begins(
    open_page: Pages, tmp_path: Path
) -> None:
    """A page that opens its parts for paper needn't wait for a frame."""
    page = opened(open_page, tmp_path)
    page.evaluate("""() => {
      const data = JSON.parse(document.getElementById("diagram-data").textContent);
      const section = document.createElement("section");
      section.hidden = true;
      section.append(document.createElement("div"));
      document.body.append(section);
      window.second = BeforehandDiagram.mount(section.firstChild, data);
      addEventListener("beforeprint", () => { section.hidden = false; });
    }""")
    assert page.evaluate("second.stats()")["drawn"] == 0
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("second.stats()")["drawn"] > 50


def test_a_diagram_that_is_mounted_when_printing_begins_is_drawn_for_paper(
    open_page: Pages, tmp_path: Path
) -> None:
    """A page that creates its diagrams when they are opened can create them for paper, too."""
    page = opened(open_page, tmp_path, dark=True)
    page.evaluate("""() => {
      const data = JSON.parse(document.getElementById("diagram-data").textContent);
      addEventListener("beforeprint", () => {
        const element = document.createElement("div");
        element.id = "late";
        document.body.append(element);
        window.late = BeforehandDiagram.mount(element, data);
      });
    }""")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("late.stats()")["drawn"] > 50
    corner = """() => {
      const copy = document.createElement("canvas");
      const ctx = copy.getContext("2d", { willReadFrequently: true });
      ctx.drawImage(document.querySelector("#late .diagram-stage canvas"), 0, 0);
      return [...ctx.getImageData(5, 5, 1, 1).data];
    }"""
    assert page.evaluate(corner) == [255, 255, 255, 255], "light"
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.settle()
    assert max(page.evaluate(corner)[:3]) < 60, "dark again"
