"""Diagrams in a browser: made from simulated runs, opened, and asked what they show."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from beforehand.causality.ids import MessageId
from beforehand.report.diagram.build import build
from beforehand.report.diagram.model import Diagram
from beforehand.report.diagram.page import html
from beforehand.trace import Event
from tests.browser.conftest import Pages
from tests.simulator.kept import traced

if TYPE_CHECKING:
    from playwright.sync_api import Page

# Colours are read from a copy of the canvas: reading often from one that is drawn on makes it slow.
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
# All that was asked for is drawn by the second frame from now.
DRAWN = (
    "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))"
)

SELECTIONS = """messages => messages.map(message => {
  diagram.select(message);
  return { ...diagram.selection(), status: document.querySelector(".diagram-status").textContent };
})"""


def plain(text: str) -> str:
    """A text as it reads, without the marks that keep directions of text apart."""
    return " ".join(text.replace("\u2068", "").replace("\u2069", "").split())


class Shown:
    """A diagram that a browser shows."""

    def __init__(self, page: Page, diagram: Diagram) -> None:
        self.page = page
        self.diagram = diagram

    def ask(self, expression: str, value: Any = None) -> Any:
        """What an expression of JavaScript gives, or a function of it for a value."""
        return self.page.evaluate(expression, value)

    def select(self, message: int | None) -> None:
        """Select a message as a program does, or none."""
        self.ask("message => diagram.select(message)", message)

    def selections(self) -> list[dict[str, Any]]:
        """Selection and status line after selecting each message in turn."""
        selections: list[dict[str, Any]] = self.ask(
            SELECTIONS, list(range(len(self.diagram.messages)))
        )
        return [selection | {"status": plain(selection["status"])} for selection in selections]

    def settle(self) -> None:
        """Wait until all is drawn."""
        self.ask(DRAWN)

    def where(self, mark: int) -> dict[str, float]:
        """Where in the window a mark is seen."""
        point: dict[str, float] = self.ask("mark => diagram.where(mark)", mark)
        return point

    def pixels(self, *points: dict[str, float]) -> list[tuple[int, int, int]]:
        """The colours at some points of the window."""
        self.settle()
        return [(r, g, b) for r, g, b in self.ask(PIXELS, list(points))]

    def ink(self) -> int:
        """How many different colours a grid over the canvas meets."""
        grid = [{"x": 120.0 + 17 * x, "y": 140.0 + 13 * y} for x in range(60) for y in range(40)]
        return len(set(self.pixels(*grid)))

    def view(self) -> tuple[float, float]:
        """The part of the axis that is seen."""
        seen = self.ask("diagram.view()")
        return seen["low"], seen["high"]

    def status(self) -> str:
        """The line above the diagram."""
        return plain(self.page.locator(".diagram-status").inner_text())

    def tip(self) -> str:
        """The text of the tooltip."""
        return plain(self.page.locator(".diagram-tip").inner_text())

    def click(self, mark: int) -> None:
        """Click at a mark with the mouse."""
        point = self.where(mark)
        self.page.mouse.click(point["x"], point["y"])


def show(open_page: Pages, folder: Path, diagram: Diagram, **window: bool) -> Shown:
    """Write the page of a diagram and open it."""
    file = folder / "diagram.html"
    file.write_text(html(diagram), encoding="utf-8")
    return Shown(open_page(file, **window), diagram)


def simulated(**fields: Any) -> tuple[list[Event], Diagram]:
    """The trace of a run and all of its diagram."""
    usual: dict[str, Any] = {"processes": 4, "interval": "3ms", "fifo": False}
    events = traced(**usual | fields)[1]
    return events, build(events)


def messages(diagram: Diagram, numbers: list[int]) -> set[MessageId]:
    """Messages of a diagram by their names."""
    chosen = (diagram.messages[number] for number in numbers)
    return {MessageId(diagram.processes[message.sender], message.mid) for message in chosen}


def named(diagram: Diagram, sender: str, mid: int) -> int:
    """The number of a message in a diagram."""
    wanted = (diagram.processes.index(sender), mid)
    return [(message.sender, message.mid) for message in diagram.messages].index(wanted)
