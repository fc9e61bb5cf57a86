"""Accessibility of the report: contrast in both themes, keyboard, screen readers and phones."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser.conftest import Pages
from tests.browser.test_whole import demo, open_report

__all__ = ["demo"]  # a fixture

# Texts that are too small, or whose contrast is below the minimum of WCAG 2.
LOW_CONTRAST = """() => {
  const parse = (colour) => (colour.match(/[\\d.]+/g) || []).map(Number);
  const luminance = (rgb) => rgb.slice(0, 3).map((channel) => {
    const part = channel / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }).reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
  const over = (above, below) => {
    const alpha = above.length > 3 ? above[3] : 1;
    return [0, 1, 2].map((at) => above[at] * alpha + below[at] * (1 - alpha));
  };
  const behind = (element) => {
    const own = parse(getComputedStyle(element).backgroundColor);
    const below = element.parentElement ? behind(element.parentElement) : [255, 255, 255];
    return own.length ? over(own, below) : below;
  };
  const faint = new Set();
  let checked = 0;
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const element = walk.currentNode.parentElement;
    const text = walk.currentNode.data.trim();
    const hidden = element.closest("script, svg, .visually-hidden");
    if (!text || hidden || !element.checkVisibility()) continue;
    checked += 1;
    const style = getComputedStyle(element);
    const background = behind(element);
    const [one, two] = [luminance(over(parse(style.color), background)), luminance(background)];
    const contrast = (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const decoration = element.getAttribute("aria-hidden") === "true";
    if (contrast < (large ? 3 : 4.5) && !decoration) {
      faint.add(`${element.tagName}.${element.className} ${contrast.toFixed(2)}: ${text.slice(0, 40)}`);
    }
    if (size < 12) faint.add(`${element.tagName}.${element.className} is ${size} px`);
  }
  return { faint: Array.from(faint), checked };
}"""
# Problems for screen readers: ids, headings, descriptions, references, landmarks and language.
OBSTACLES = """() => {
  const problems = [];
  const ids = Array.from(document.querySelectorAll("[id]"), (element) => element.id);
  for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) problems.push(`id ${id} twice`);
  let level = 0;
  for (const { tagName, textContent } of document.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
    const own = Number(tagName[1]);
    if (own > level + 1) problems.push(`${tagName} after h${level}: ${textContent.trim()}`);
    level = own;
  }
  for (const element of document.querySelectorAll("canvas, [role=img], svg:not(svg svg)")) {
    const described = element.closest("[aria-label], [aria-labelledby], [aria-hidden=true]");
    if (!described) problems.push(`no text for ${element.outerHTML.slice(0, 80)}`);
  }
  for (const name of ["aria-controls", "aria-labelledby", "aria-describedby", "for"]) {
    for (const element of document.querySelectorAll(`[${name}]`)) {
      for (const id of (element.getAttribute(name) || "").split(/\\s+/).filter(Boolean)) {
        if (!document.getElementById(id)) problems.push(`${name} of nothing: ${id}`);
      }
    }
  }
  for (const { hash } of document.querySelectorAll("a[href^='#']")) {
    if (!document.getElementById(hash.slice(1))) problems.push(`a link to nothing: ${hash}`);
  }
  const heads = document.querySelectorAll("th:not([scope])");
  for (const element of heads) problems.push(`a header of what? ${element.textContent}`);
  if (document.querySelectorAll("h1").length !== 1) problems.push("not one h1");
  if (!document.querySelector("main")) problems.push("no main");
  if (!document.documentElement.lang) problems.push("no language");
  return Array.from(new Set(problems));
}"""
NAMELESS = """() => Array
  .from(document.querySelectorAll("button, a[href], input, select, summary, [tabindex]"))
  .filter((element) => element.checkVisibility() && !element.closest("svg"))
  .filter((element) => {
    const label = element.getAttribute("aria-label") || element.textContent || element.title;
    const by = element.getAttribute("aria-labelledby");
    return !label.trim() && !(by && document.getElementById(by)) && !element.labels?.length;
  })
  .map((element) => element.outerHTML.slice(0, 100))"""


@pytest.mark.parametrize("phone", [False, True], ids=["a light desktop", "a dark phone"])
def test_the_report_is_accessible(open_page: Pages, demo: Path, phone: bool) -> None:
    """Contrast and size of texts, descriptions of images, order of headings, names of controls."""
    page = open_report(demo, open_page, phone=phone, dark=phone)
    page.evaluate(
        "() => { for (const element of document.querySelectorAll('details')) element.open = true; }"
    )
    page.locator("details.violation").first.wait_for()
    page.evaluate("() => { document.querySelector('details.violation').open = true; }")
    page.locator(".violation canvas").first.wait_for()
    texts = page.evaluate(LOW_CONTRAST)
    assert texts["faint"] == [] and texts["checked"] > 500
    assert page.evaluate(OBSTACLES) == []
    assert page.evaluate(NAMELESS) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= (390 if phone else 1280)


def test_tab_reaches_every_section(open_page: Pages, demo: Path) -> None:
    """From the first link to the last button, without a trap and with a visible focus."""
    page = open_report(demo, open_page)
    visited: list[str] = []
    for _ in range(400):
        page.keyboard.press("Tab")
        state = page.evaluate("""() => {
          const element = document.activeElement;
          const style = getComputedStyle(element);
          const visible = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
          const section = element.closest("main > section, main > .section");
          return [element.tagName, visible, section ? section.id : ""];
        }""")
        if state[0] == "BODY":
            break
        assert state[1], f"the focus on {state} isn't visible"
        visited.append(state[2])
    else:
        raise AssertionError("Tab never reaches the end of the page")
    sections = [name for name in dict.fromkeys(visited) if name]
    assert sections == [
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
    ]
