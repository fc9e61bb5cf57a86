"""A diagram as an SVG picture, for documents.

Plain shapes with plain attributes, no script, style or font of its own, so that every viewer, GitHub and
converters for LaTeX show the same. All text goes through `text_metrics.clean` and an XML writer.

From back to front: lines, bars, arrows, marks, names, and the legend below. Above a line are bars of
messages that are held there, below it those of messages that are buffered.
"""

from collections import defaultdict
from itertools import pairwise
from math import hypot
from typing import Final, Literal
from xml.etree.ElementTree import Element, SubElement, tostring

from beforehand.report.diagram import legend, shapes
from beforehand.report.diagram.layout import APART, across, ticks, tracks
from beforehand.report.diagram.model import Arrow, Bar, Diagram
from beforehand.report.diagram.names import message_name
from beforehand.report.diagram.shapes import add_text, number
from beforehand.report.diagram.text_metrics import clean, fitting, isolated, width
from beforehand.results.format import elapsed

NARROWEST: Final = 320  # pixels; below that nothing is legible
SIZE: Final = 12.0  # pixels of letters
SMALL: Final = 10.0
TOP: Final = 12.0
HEADING: Final = 22.0  # pixels
MARGIN: Final = 16.0
LONG: Final = 200  # characters of a name that are measured
NAMES: Final = 0.2  # of the width, for the names of processes at most
ROOMY: Final = 66.0  # pixels between the lines of a few processes
TIGHT: Final = 34.0  # and of many
MANY: Final = 12
TRACKS: Final = 3  # bars side by side
BAR: Final = 4.0  # pixels
BAR_SPACING: Final = 5.5  # pixels
OFF: Final = 8.0  # pixels from a line to its bars and names
SMALLEST: Final = 1.3  # radius of marks, in pixels
LARGEST: Final = 4.6
TICKS: Final = 8


def svg(diagram: Diagram, *, width: int = 960) -> str:
    """The picture, this wide in pixels, and as high as the number of processes requires."""
    return tostring(_Picture(diagram, max(width, NARROWEST)).draw(), "unicode") + "\n"


def heading(diagram: Diagram) -> str:
    """The run, its protocol and the verdict, as far as the latter are known; otherwise nothing."""
    about = ": ".join(filter(None, (diagram.protocol, diagram.verdict)))
    return clean(f"{diagram.run} \u00b7 {about}" if about else "")


class _Picture:
    """One picture of a diagram."""

    def __init__(self, diagram: Diagram, wide: int) -> None:
        self._diagram = diagram
        self._wide = wide
        longest = max(
            (width(clean(label[:LONG]), SIZE, bold=True) for label in diagram.labels), default=0.0
        )
        self._names = min(longest, NAMES * wide)
        self._left = MARGIN + self._names + 12
        self._right = wide - MARGIN
        layout = across(diagram, self._right - self._left - 20)
        self._layout = layout
        self._x = [self._left + 10 + x for x in layout.x]
        self._apart = ROOMY if len(diagram.processes) <= MANY else TIGHT
        self._heading = heading(diagram)
        self._top = TOP + (HEADING if self._heading else 0)
        self._bottom = self._top + self._apart * len(diagram.processes)
        self._radius = self._mark_size()
        self._above: dict[int, int] = defaultdict(int)  # tracks of bars above each line

    def _mark_size(self) -> float:
        """As large as the usual distance between two marks of a line allows."""
        marks = self._diagram.marks
        gaps = sorted(
            self._x[after] - self._x[before]
            for before, after in pairwise(range(len(marks)))
            if marks[before].process == marks[after].process
        )
        usual = gaps[len(gaps) // 4] if gaps else APART
        return min(LARGEST, max(SMALLEST, usual * 0.45))

    def _y(self, process: int) -> float:
        return self._top + self._apart * (process + 0.5)

    def _point(self, mark: int) -> tuple[float, float]:
        return self._x[mark], self._y(self._diagram.marks[mark].process)

    def draw(self) -> Element:
        """All of it."""
        root = shapes.page()
        legend.describe(root, self._diagram)
        paper = SubElement(root, "rect", {"fill": "#ffffff"})
        if self._heading:
            text = fitting(self._heading, self._wide - 2 * MARGIN, SIZE + 1, bold=True)
            add_text(
                root,
                MARGIN,
                TOP + SIZE,
                text,
                SIZE + 1,
                colour=shapes.TEXT,
                anchor="start",
                weight="bold",
            )
        self._lines(root)
        self._bars(root)
        self._arrows(root)
        self._marks(root)
        self._message_names(root)
        self._flags(root)
        self._axis(root)
        high = legend.below(root, self._diagram, MARGIN, self._bottom + 44, self._wide - MARGIN)
        size = {"width": number(self._wide), "height": number(high)}
        paper.attrib.update(size)
        root.attrib.update(size, viewBox=f"0 0 {number(self._wide)} {number(high)}")
        return root

    def _lines(self, root: Element) -> None:
        for process, label in enumerate(self._diagram.labels):
            y = self._y(process)
            shapes.line(root, self._left, y, self._right, y, shapes.LINE, 1.2)
            name = isolated(fitting(label, self._names + 1, SIZE, bold=True))
            text = add_text(root, self._left - 8, y + 4, name, SIZE, anchor="end", weight="bold")
            SubElement(text, "title").text = clean(self._diagram.processes[process])

    def _bars(self, root: Element) -> None:
        rows: dict[tuple[int, str], dict[int, Bar]] = defaultdict(dict)
        for bar in self._diagram.bars:
            # Of a multicast that is released to one after the other, the longest suffices.
            row = rows[self._diagram.marks[bar.start].process, bar.kind]
            if bar.start not in row or self._end(bar) > self._end(row[bar.start]):
                row[bar.start] = bar
        most = TRACKS if self._apart == ROOMY else 1
        for (process, kind), by_start in rows.items():
            bars = list(by_start.values())
            chosen = tracks([(self._x[bar.start], self._end(bar)) for bar in bars], most)
            if kind == "held":
                self._above[process] = max(chosen) + 1
            for bar, track in zip(bars, chosen, strict=True):
                away = OFF + track * BAR_SPACING
                y = self._y(process) + (-away if kind == "held" else away) - BAR / 2
                self._bar(root, bar, y)

    def _end(self, bar: Bar) -> float:
        return self._right if bar.end is None else self._x[bar.end]

    def _bar(self, root: Element, bar: Bar, y: float) -> None:
        message = self._diagram.messages[bar.message]
        start = self._x[bar.start]
        long = max(1.0, self._end(bar) - start)
        drawn = shapes.bar(root, start, y, long, BAR, shapes.BARS[bar.kind])
        name = message_name(self._diagram.labels[message.sender], message.mid)
        where = self._diagram.labels[self._diagram.marks[bar.start].process]
        SubElement(drawn, "title").text = clean(f"{name}: {bar.kind} at {where}")

    def _arrows(self, root: Element) -> None:
        # Thin ones first, and the message that all is about on top.
        rank = {"control": 0, "relay": 1, "message": 2}
        for arrow in sorted(self._diagram.arrows, key=lambda arrow: rank[arrow.kind]):
            self._arrow(root, arrow)
        if self._diagram.selected is not None:
            for arrow in self._diagram.arrows:
                if arrow.message == self._diagram.selected:
                    self._arrow(root, arrow, selected=True)

    def _arrow(self, root: Element, arrow: Arrow, selected: bool = False) -> None:
        x1, y1 = self._point(arrow.start)
        if arrow.end is None:
            peer = self._diagram.marks[arrow.start].peer
            here = self._diagram.marks[arrow.start].process
            up = peer is not None and peer < here
            x2, y2 = min(x1 + 12, self._right), y1 + (-0.36 if up else 0.36) * self._apart
        else:
            x2, y2 = self._point(arrow.end)
        length = hypot(x2 - x1, y2 - y1)
        if not length:
            return
        dx, dy = (x2 - x1) / length, (y2 - y1) / length
        back = 0 if arrow.end is None else self._radius + 1
        x2, y2 = x2 - dx * back, y2 - dy * back
        look = shapes.ARROWS["selected" if selected else arrow.kind]
        shapes.line(root, x1, y1, x2, y2, look.colour, look.width, look.dashes)
        if arrow.end is None:
            shapes.lost(root, x2, y2, 3.0, look.colour)
        else:
            shapes.head(root, x2, y2, dx, dy, look)

    def _marks(self, root: Element) -> None:
        for index, mark in enumerate(self._diagram.marks):
            if mark.kind != "hold":  # shown as bars
                x, y = self._point(index)
                shapes.draw(root, mark.kind, x, y, self._radius)

    def _message_names(self, root: Element) -> None:
        """Names of messages over their sends, where there is room: else the number, else nothing."""
        taken: dict[int, list[tuple[float, float]]] = defaultdict(list)  # of each process
        # In the order of sends, except that the message that all is about comes first.
        numbers = range(len(self._diagram.messages))
        for index in sorted(numbers, key=lambda index: index != self._diagram.selected):
            message = self._diagram.messages[index]
            if message.send is None:
                continue
            x, y = self._point(message.send)
            label = self._diagram.labels[message.sender]
            row = taken[message.sender]
            whole = message_name(isolated(clean(label, LONG)), message.mid)
            for name in (whole, f"#{message.mid}"):
                half = width(name, SMALL) / 2 + 2
                middle = max(x, self._left + half)  # not over the name of the process
                low, high = middle - half, middle + half
                # Only the first and the last can be in the way.
                free = all(high < start or low > end for start, end in (row[:1] + row[-1:]))
                if free and half < NAMES * self._wide / 2:
                    self._message_name(root, name, middle, y, message.sender, index)
                    row.append((low, high))
                    break

    def _message_name(
        self, root: Element, name: str, x: float, y: float, process: int, message: int
    ) -> None:
        over = y - OFF - self._above[process] * BAR_SPACING
        chosen = message == self._diagram.selected
        weight: Literal["bold", "normal"] = "bold" if chosen else "normal"
        # A white edge keeps it readable over arrows.
        edge = add_text(root, x, over, name, SMALL, colour="#ffffff", weight=weight)
        edge.attrib.update({"stroke": "#ffffff", "stroke-width": "3", "stroke-linejoin": "round"})
        colour = shapes.SELECTED if chosen else shapes.QUIET
        add_text(root, x, over, name, SMALL, colour=colour, weight=weight)

    def _flags(self, root: Element) -> None:
        for flag in self._diagram.flags:
            x, y = self._point(flag.mark)
            drawn = shapes.flag(root, x, y, self._radius + 4)
            SubElement(drawn, "title").text = clean(flag.sentence)

    def _axis(self, root: Element) -> None:
        y = self._bottom + 4
        _, first, last, scale = self._layout
        if not scale:
            text = "in order, not to scale \u2192"
            add_text(root, self._left, y + 13, text, SMALL, anchor="start")
            return
        shapes.line(root, self._left, y, self._right, y, shapes.LINE, 0.8)
        free = 0.0
        for time in ticks(first, last, TICKS):
            x = self._left + 10 + (time - first) * scale
            shapes.line(root, x, y, x, y + 4, shapes.QUIET, 0.8)
            name = elapsed(time)
            half = width(name, SMALL) / 2
            if x - half > free:
                add_text(root, x, y + 15, name, SMALL)
                free = x + half + 8
