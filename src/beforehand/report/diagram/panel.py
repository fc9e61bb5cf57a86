"""A few messages as a small picture: one column per event, so that names have room.

The parts are plain values, already chosen and ordered by `excerpt.py`. Several panels in one
picture stand next to each other. The message that was delivered late, the one that came too early and
those between them have a colour and a line style each.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import hypot
from textwrap import wrap
from typing import Final, Literal
from xml.etree.ElementTree import Element, SubElement, tostring

from beforehand.report.diagram import shapes
from beforehand.report.diagram.model import MarkKind
from beforehand.report.diagram.placement import Box, Placement, Position
from beforehand.report.diagram.shapes import Stroke, add_text, number
from beforehand.report.diagram.text_metrics import clean, fitting, isolated, width

NARROWEST: Final = 240  # pixels
SIZE: Final = 12.0  # pixels of letters
SMALL: Final = 11.0
MARGIN: Final = 10.0
ROW: Final = 58.0  # pixels between two processes
NAMES: Final = 0.24  # of the width, for names of processes at most
RADIUS: Final = 5.0
LINE: Final = 15.0  # pixels from line to line of text
LETTER: Final = 0.56  # of the size: the usual width of a letter, for breaking lines
BAR: Final = 5.0
OFF: Final = 9.0  # pixels from a process to its bars
DESCENT: Final = 2.0  # pixels of letters below their line
LONGEST: Final = 48  # letters of a message's name and text

Role = Literal["late", "early", "between"]

_STROKES: Final[dict[Role, Stroke]] = {
    "late": Stroke(shapes.SELECTED, 2.0),
    "early": Stroke("#0072b2", 2.0, "7 3"),
    "between": Stroke("#555f6e", 1.4, "2 3"),
}
_WAITS: Final = {"held": "held at its sender", "buffered": "buffered at its receiver"}
_SIGNS: Final = {"broken": "\u2717", "kept": "\u2713", "concurrent": "\u2013"}
_COLOURS: Final = {"broken": shapes.BAD, "kept": "#00694d", "concurrent": shapes.QUIET}

PAPER: Final = "#ffffff"
# Colours of `assets/theme.css` for pictures in our own pages, which may be dark.
_THEME: Final = {
    PAPER: "--page",
    shapes.TEXT: "--text",
    shapes.QUIET: "--quiet",
    shapes.LINE: "--line",
    shapes.BAD: "--bad",
    shapes.SELECTED: "--series-2",
    shapes.HELD: "--series-5",
    shapes.BUFFERED: "--series-4",
    "#00694d": "--good",
    "#0072b2": "--series-1",
    "#00875f": "--series-3",
    "#555f6e": "--series-8",
}


@dataclass(frozen=True)
class PanelMark:
    """An event; its column is its index."""

    kind: MarkKind
    row: int
    role: Role  # of its message
    name: str  # to write next to it; may be empty
    is_wrong: bool


@dataclass(frozen=True)
class PanelArrow:
    """A message on its way, between two columns."""

    start: int
    end: int


@dataclass(frozen=True)
class PanelWait:
    """A message waits, between two columns of the same row."""

    kind: Literal["held", "buffered"]
    start: int
    end: int


@dataclass(frozen=True)
class Panel:
    """What is drawn."""

    title: str
    sentence: str
    verdict: Literal["broken", "kept", "concurrent"]
    processes: tuple[str, ...]
    marks: tuple[PanelMark, ...]
    arrows: tuple[PanelArrow, ...]
    waits: tuple[PanelWait, ...]


def svg(panels: Sequence[Panel], wide: int, themed: bool = False) -> str:
    """Panels of the same size next to each other; `themed` takes the colours of our pages."""
    each = max(wide, NARROWEST)
    root = shapes.page()
    del root.attrib["aria-labelledby"]  # several of these are on one page, so they have no ids
    root.set("aria-label", " ".join(f"{clean(one.title)}: {clean(one.sentence)}" for one in panels))
    paper = SubElement(root, "rect", {"fill": PAPER})
    drawings = [_Drawing(root, one, index * each, each) for index, one in enumerate(panels)]
    top = max(drawing.heading() for drawing in drawings)
    high = max(drawing.draw(top) for drawing in drawings)
    for index in range(1, len(panels)):
        shapes.line(root, index * each, MARGIN, index * each, high - MARGIN, shapes.LINE, 1)
    size = {"width": number(each * len(panels)), "height": number(high)}
    paper.attrib.update(size)
    root.attrib.update(size, viewBox=f"0 0 {size['width']} {size['height']}")
    if themed:
        _follow_theme(root)
    return tostring(root, "unicode") + "\n"


def _follow_theme(root: Element) -> None:
    for element in root.iter():
        for name in ("fill", "stroke"):
            colour = element.get(name, "")
            if colour in _THEME:
                element.set(name, f"var({_THEME[colour]}, {colour})")


class _Drawing:
    """One panel in a picture."""

    def __init__(self, root: Element, panel: Panel, left: float, wide: float) -> None:
        self._root = SubElement(root, "g")
        self._panel = panel
        self._x0 = left + MARGIN
        self._x1 = left + wide - MARGIN
        longest = max(width(clean(name, LONGEST), SIZE, bold=True) for name in panel.processes)
        self._names = min(longest, NAMES * wide)
        self._top = 0.0
        self._placement = Placement()

    def heading(self) -> float:
        """The title and the sentence; returns where they end."""
        panel, y = self._panel, MARGIN + SIZE
        title = fitting(panel.title, self._x1 - self._x0, 14.0, bold=True)
        add_text(
            self._root, self._x0, y, title, 14.0, colour=shapes.TEXT, anchor="start", weight="bold"
        )
        sentence = f"{_SIGNS[panel.verdict]} {clean(panel.sentence, 200)}"
        for text in wrap(sentence, int((self._x1 - self._x0) / SIZE / LETTER)):
            y += LINE + 1
            colour = _COLOURS[panel.verdict]
            add_text(self._root, self._x0, y, text, SIZE, colour=colour, anchor="start")
        return y + 8

    def draw(self, top: float) -> float:
        """The rest, below the headings of all panels; returns where it ends."""
        self._top = top
        for row, process in enumerate(self._panel.processes):
            y = self._y(row)
            left = self._x0 + self._names + 8
            shapes.line(self._root, left, y, self._x1, y, shapes.LINE, 1.4)
            name = isolated(fitting(process, self._names + 1, SIZE, bold=True))
            text = add_text(
                self._root,
                left - 6,
                y + 4,
                name,
                SIZE,
                colour=shapes.TEXT,
                anchor="end",
                weight="bold",
            )
            SubElement(text, "title").text = clean(process)
        for wait in self._panel.waits:
            self._wait(wait)
        for arrow in self._panel.arrows:
            self._arrow(arrow)
        for column, mark in enumerate(self._panel.marks):
            self._mark(column, mark)
        for column, mark in enumerate(self._panel.marks):
            if mark.name:
                self._name(column, mark)
        return self._legend(top + ROW * len(self._panel.processes) + 10)

    def _x(self, column: int) -> float:
        left, right = self._x0 + self._names + 26, self._x1 - 26
        return left + (right - left) * column / max(1, len(self._panel.marks) - 1)

    def _y(self, row: int) -> float:
        return self._top + ROW * (row + 0.5)

    def _point(self, column: int) -> tuple[float, float]:
        return self._x(column), self._y(self._panel.marks[column].row)

    def _wait(self, wait: PanelWait) -> None:
        (x1, y), (x2, _) = self._point(wait.start), self._point(wait.end)
        away = -OFF - BAR if wait.kind == "held" else OFF
        shapes.bar(self._root, x1, y + away, x2 - x1, BAR, shapes.BARS[wait.kind])
        self._placement.add_shape(Box(x1, y + away, x2, y + away + BAR))

    def _arrow(self, arrow: PanelArrow) -> None:
        (x1, y1), (x2, y2) = self._point(arrow.start), self._point(arrow.end)
        self._placement.add_arrow(Position(x1, y1), Position(x2, y2))
        length = hypot(x2 - x1, y2 - y1) or 1.0
        dx, dy = (x2 - x1) / length, (y2 - y1) / length
        x2, y2 = x2 - dx * (RADIUS + 2), y2 - dy * (RADIUS + 2)
        look = _STROKES[self._panel.marks[arrow.start].role]
        shapes.line(
            self._root, x1, y1, x2 - dx * 5, y2 - dy * 5, look.colour, look.width, look.dashes
        )
        shapes.head(self._root, x2, y2, dx, dy, look)

    def _mark(self, column: int, mark: PanelMark) -> None:
        x, y = self._point(column)
        shapes.draw(self._root, mark.kind, x, y, RADIUS)
        self._placement.add_shape(Box(x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS))
        if mark.is_wrong:
            self._placement.add_shape(Box(x - 10, y - 20, x + 20, y + 10))
            drawn = shapes.flag(self._root, x, y, RADIUS + 5)
            SubElement(drawn, "title").text = clean(self._panel.sentence)

    def _name(self, column: int, mark: PanelMark) -> None:
        """Above the line, or below it where a process delivers, if there is room."""
        name = isolated(clean(mark.name, LONGEST))
        half = width(name, SMALL, bold=True) / 2 + 2
        box = self._placement.place(list(self._places(column, mark, half)))
        middle, at = (box.left + box.right) / 2, box.bottom - DESCENT
        colour = _STROKES[mark.role].colour
        edge = add_text(self._root, middle, at, name, SMALL, colour=PAPER, weight="bold")
        edge.attrib.update({"stroke": PAPER, "stroke-width": "3", "stroke-linejoin": "round"})
        text = add_text(self._root, middle, at, name, SMALL, colour=colour, weight="bold")
        SubElement(text, "title").text = clean(mark.name)

    def _places(self, column: int, mark: PanelMark, half: float) -> Iterator[Box]:
        """Where the name of a mark may stand, the usual place first: nearby, and not off the picture."""
        x, y = self._point(column)
        above, below = (-11.0, -18.0, -25.0), (20.0, 27.0)
        for offsets in (below, above) if mark.kind == "deliver" else (above, below):
            for offset in offsets:
                for shift in (0.0, half - RADIUS, RADIUS - half):
                    middle = min(max(x + shift, self._x0 + half), self._x1 - half)
                    bottom = y + offset + DESCENT
                    yield Box(middle - half, bottom - SMALL, middle + half, bottom)

    def _legend(self, y: float) -> float:
        x = self._x0
        entries = ["send", "deliver", *dict.fromkeys(wait.kind for wait in self._panel.waits)]
        for entry in entries:
            words = _WAITS.get(entry, entry)
            if x + 18 + width(words, SMALL) > self._x1 and x > self._x0:
                x, y = self._x0, y + LINE
            if entry == "held" or entry == "buffered":
                shapes.bar(self._root, x, y - 6, 13, BAR, shapes.BARS[entry])
            else:
                shapes.draw(self._root, "send" if entry == "send" else "deliver", x + 6, y - 4, 4.2)
            add_text(self._root, x + 17, y, words, SMALL, anchor="start")
            x += 17 + width(words, SMALL) + 14
        return y + MARGIN
