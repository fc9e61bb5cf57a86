"""Diagrams of simulated runs in a browser, with helpers to query what they show."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from beforehand.causality.ids import MessageId
from beforehand.report.diagram.build import build
from beforehand.report.diagram.model import Diagram
from beforehand.report.diagram.page import html
from beforehand.trace import Event
from tests.browser.conftest import Pages
from tests.simulator.traced_run import traced

if TYPE_CHECKING:
    from playwright.sync_api import Page

# Pixels are read from a copy: frequent reads would make the visible canvas slow.
PIXELS = """points => {
  const base = document.querySelector(".diagram-stage canvas");
  const box = base.getBoundingClientRect();
  const copy = document.createElement("canvas");
  [copy.width, copy.height] = [base.width, base.height];
  const ctx = copy.getContext("2d", { willReadFrequently: true });
  ctx.drawImage(base, 0, 0);
  const { data } = ctx.getImageData(0, 0, copy.width, copy.height);
  const scale = base.width / box.width;
  return points.map(({ x, y }) => {
    const [column, row] = [Math.floor((x - box.left) * scale), Math.floor((y - box.top) * scale)];
    const start = (row * copy.width + column) * 4;
    return [...data.slice(start, start + 3)];
  });
}"""
# Pending redraws are finished by the second animation frame from now.
DRAWN = (
    "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))"
)

SELECTIONS = """messages => messages.map(message => {
  diagram.select(message);
  return { ...diagram.selection(), status: document.querySelector(".diagram-status").textContent };
})"""


def plain(text: str) -> str:
    """Normalise white space and remove the marks that isolate text directions."""
    return " ".join(text.replace("\u2068", "").replace("\u2069", "").split())


class DiagramPage:
    """A diagram in a browser."""

    def __init__(self, page: Page, diagram: Diagram) -> None:
        self.page = page
        self.diagram = diagram

    def evaluate(self, expression: str, value: Any = None) -> Any:
        """Evaluate a JavaScript expression, or call a JavaScript function with a value."""
        return self.page.evaluate(expression, value)

    def select(self, message: int | None) -> None:
        """Select a message, or none, through the script API."""
        self.evaluate("message => diagram.select(message)", message)

    def selections(self) -> list[dict[str, Any]]:
        """Select each message in turn; return the selections with their status lines."""
        selections: list[dict[str, Any]] = self.evaluate(
            SELECTIONS, list(range(len(self.diagram.messages)))
        )
        return [selection | {"status": plain(selection["status"])} for selection in selections]

    def settle(self) -> None:
        """Wait until everything is drawn."""
        self.evaluate(DRAWN)

    def where(self, mark: int) -> dict[str, float]:
        """Return the position of a mark in the window."""
        point: dict[str, float] = self.evaluate("mark => diagram.where(mark)", mark)
        return point

    def pixels(self, *points: dict[str, float]) -> list[tuple[int, int, int]]:
        """Return the colours at some points of the window."""
        self.settle()
        return [(r, g, b) for r, g, b in self.evaluate(PIXELS, list(points))]

    def colour_count(self) -> int:
        """Count the distinct colours at a grid of points on the canvas."""
        grid = [{"x": 120.0 + 17 * x, "y": 140.0 + 13 * y} for x in range(60) for y in range(40)]
        return len(set(self.pixels(*grid)))

    def view(self) -> tuple[float, float]:
        """Return the visible part of the axis."""
        view = self.evaluate("diagram.view()")
        return view["low"], view["high"]

    def status(self) -> str:
        """Return the status line."""
        return plain(self.page.locator(".diagram-status").inner_text())

    def tip(self) -> str:
        """Return the text of the tooltip."""
        return plain(self.page.locator(".diagram-tip").inner_text())

    def click(self, mark: int) -> None:
        """Click a mark."""
        point = self.where(mark)
        self.page.mouse.click(point["x"], point["y"])


def show(open_page: Pages, folder: Path, diagram: Diagram, **window: bool) -> DiagramPage:
    """Write the page of a diagram and open it."""
    file = folder / "diagram.html"
    file.write_text(html(diagram), encoding="utf-8")
    return DiagramPage(open_page(file, **window), diagram)


def simulated(**fields: Any) -> tuple[list[Event], Diagram]:
    """Simulate a run; return its trace and its complete diagram."""
    defaults: dict[str, Any] = {"processes": 4, "interval": "3ms", "fifo": False}
    events = traced(**defaults | fields)[1]
    return events, build(events)


def message_ids(diagram: Diagram, numbers: list[int]) -> set[MessageId]:
    """Return the ids of some messages of a diagram."""
    selected = (diagram.messages[number] for number in numbers)
    return {MessageId(diagram.processes[message.sender], message.mid) for message in selected}


def message_index(diagram: Diagram, sender: str, mid: int) -> int:
    """Return the index of a message in a diagram."""
    key = (diagram.processes.index(sender), mid)
    return [(message.sender, message.mid) for message in diagram.messages].index(key)
