"""Untrusted text stays text, from traces and results to the page in a browser."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from tests.browser.conftest import Pages, open_sections
from tests.browser.diagrams import plain
from tests.browser.hostile import (
    BACKWARDS,
    FOLDER,
    IMAGE,
    LINK,
    LONG,
    NAMES,
    RAN,
    SCRIPT,
    TAIL,
    write_hostile_demo,
)
from tests.report.folders import write_cluster

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytest.importorskip("jinja2", reason="pip install 'beforehand[report]'")

# Elements and attributes that an injection could have created.
SUSPECTS = """() => {
  const problems = [];
  for (const element of document.querySelectorAll("*")) {
    const names = element.getAttributeNames();
    const link = element.getAttribute("href") || element.getAttribute("xlink:href") || "#";
    if (names.some((name) => name.startsWith("on"))) problems.push(element.outerHTML.slice(0, 80));
    const tag = element.tagName;
    if (/^(img|iframe|object|embed|base|form|link)$/i.test(tag)) problems.push(tag);
    if (!link.startsWith("#")) problems.push(link);
  }
  return problems;
}"""
# Right-to-left names outside an element that isolates them.
NOT_ISOLATED = """() => {
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const problems = [];
  while (walk.nextNode()) {
    const { data, parentElement } = walk.currentNode;
    const inside = parentElement.closest("bdi, script, option");
    if (data.includes("\\u202e") && !inside) problems.push(data.slice(0, 60));
  }
  return problems;
}"""
# Called twice: opening the outer elements creates the inner ones.
OPEN_ALL = """() => {
  for (const element of document.querySelectorAll("details:not([open])")) {
    if (element.id !== "menu") element.open = true;
  }
}"""


def run_command(*arguments: str) -> None:
    """Run a command that must succeed."""
    from beforehand.cli import app

    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 0, result.output
    assert "Traceback" not in result.output


def check_harmless(page: Page, width: int) -> None:
    """Check that no injected code ran or could run, and that nothing is too wide."""
    assert page.evaluate("window.ran") is None
    assert page.evaluate(SUSPECTS) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


# ---- reports ----


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report on results in which every text is hostile."""
    parent = tmp_path_factory.mktemp("hostile")
    folder = write_hostile_demo(parent)
    file = parent / "index.html"
    run_command("report", str(folder), "--out", str(file))
    return file


@pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])
def test_a_report_shows_hostile_texts(open_page: Pages, report: Path, phone: bool) -> None:
    """With everything opened, drawn and filtered, every section shows them as text."""
    width = 390 if phone else 1280
    page = open_page(report, phone=phone)
    page.on("dialog", lambda dialog: open_page.problems.append(f"dialog: {dialog.message}"))
    check_harmless(page, width)
    open_sections(page)
    page.locator("#kind").select_option("causal")
    for _ in range(2):
        page.evaluate(OPEN_ALL)
        page.locator("details.violation").first.wait_for()
    page.locator(".violation canvas").first.wait_for()
    for chart in page.locator("[data-chart]").all():
        chart.scroll_into_view_if_needed()
    page.locator(".plot svg .point").first.wait_for()
    check_harmless(page, width)
    for section in ("run", "advice", "protocols", "table1", "audit", "growth", "runs"):
        assert IMAGE in plain(page.locator(f"#{section}").inner_text()), section
    assert "49" not in plain(page.locator("#advice h3").first.inner_text())
    assert LONG[:40] in page.locator(".violation").first.inner_text()
    assert FOLDER in page.locator("#headline").inner_text()
    assert page.evaluate(NOT_ISOLATED) == []
    assert page.locator("bdi", has_text=BACKWARDS[1:]).count() > 0


# ---- diagrams ----

WIDE = "x" * 250  # close to the limit for process names in a trace; other texts may have any length
PROCESSES = (
    *NAMES[:2],
    WIDE,
    LINK,
    "${" + RAN + "}",
    "__proto__",
    "<!-- ]]> --",
    "&lt;i&gt;",
    " \t ",
)


def rows() -> list[dict[str, Any]]:
    """Return a trace in which each process sends to the next, and every text is hostile."""
    events: list[dict[str, Any]] = []
    counts = dict.fromkeys(PROCESSES, 0)
    for index, name in enumerate(PROCESSES):
        receiver = PROCESSES[(index + 1) % len(PROCESSES)]
        steps: list[tuple[str, str, list[str] | None]]
        steps = [("send", name, [receiver]), ("release", name, [receiver])]
        steps += [("receive", receiver, None), ("deliver", receiver, None)]
        steps += [("control", receiver, [name])]
        for kind, process, to in steps:
            counts[process] += 1
            sender = process if kind == "control" else name
            row = {
                "run": f"run{TAIL}{LONG}",
                "process": process,
                "seq": counts[process],
                "kind": kind,
            }
            row |= {"sender": sender, "mid": 1, "to": to, "time_ns": 1000 * len(events)}
            events.append(row | {"payload_bytes": 1, "meta_bytes": 1, "detail": f"{SCRIPT}{LONG}"})
    return events


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trace in JSON lines, as another program might write it."""
    file = tmp_path_factory.mktemp("trace") / "trace.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows()))
    return file


def test_a_diagram_page_of_a_hostile_trace(open_page: Pages, trace: Path) -> None:
    """Each message is selected, and its names appear in the text description."""
    file = trace.with_name("diagram.html")
    run_command("diagram", str(trace), "--out", str(file))
    page = open_page(file)
    page.locator("summary", has_text="As text").click()
    selected = page.evaluate("() => { diagram.fit(); return diagram.selection().message; }")
    assert selected == -1
    description = ""
    for message in range(len(PROCESSES)):
        page.evaluate("message => diagram.select(message)", message)
        description += plain(page.locator(".diagram-text").inner_text())
    check_harmless(page, 1280)
    for name in (SCRIPT, LINK, WIDE, "${" + RAN + "}", "__proto__", "<!-- ]]> --", "&lt;i&gt;"):
        assert name[:20] in description
    assert page.title().startswith(f"run{TAIL}")


def test_an_svg_of_a_hostile_trace(open_page: Pages, trace: Path) -> None:
    """It is XML without scripts and links, and runs nothing in a browser."""
    file = trace.with_name("diagram.svg")
    run_command("diagram", str(trace), "--out", str(file))
    root = ElementTree.parse(file).getroot()
    tags = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert "path" in tags and not tags & {"script", "image", "a", "foreignObject", "iframe"}
    assert not [name for element in root.iter() for name in element.attrib if name.startswith("on")]
    texts = " ".join(root.itertext())
    for name in (SCRIPT, LINK, "__proto__", WIDE):
        assert name in texts
    page = open_page(file)
    assert page.evaluate("window.ran") is None


def test_a_diagram_page_of_hostile_parquet_files(open_page: Pages, tmp_path: Path) -> None:
    """As nodes write them, found in a folder with a hostile name."""
    write_cluster(tmp_path / FOLDER / "cluster", PROCESSES[:3])
    file = tmp_path / "diagram.html"
    run_command("diagram", str(tmp_path / FOLDER), "--out", str(file), "--around", f"{NAMES[0]}#1")
    page = open_page(file, phone=True)
    check_harmless(page, 390)
    assert page.evaluate("diagram.selection().message") >= 0
    assert SCRIPT[:20] in plain(page.locator(".diagram-status").inner_text())


def test_a_name_that_is_too_long_is_rejected_briefly(tmp_path: Path) -> None:
    """The message doesn't repeat its 10 kB."""
    from beforehand.cli import app

    write_cluster(tmp_path / "cluster", NAMES)
    result = CliRunner().invoke(app, ["diagram", str(tmp_path / "cluster")])
    assert result.exit_code == 2 and "more than 255" in result.output
    assert len(result.output) < 1000 and result.output.count("\n") <= 2
