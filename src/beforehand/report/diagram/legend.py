"""Text for a picture: a description for readers who do not see it, and a legend of its shapes."""

from collections.abc import Callable, Iterator
from functools import partial
from textwrap import wrap
from typing import Final
from xml.etree.ElementTree import Element, SubElement

from beforehand.report.diagram import shapes
from beforehand.report.diagram.model import Diagram, MarkKind
from beforehand.report.diagram.shapes import add_text
from beforehand.report.diagram.text_metrics import clean, width
from beforehand.results.format import elapsed

SIZE: Final = 11.0  # pixels of letters
LINE: Final = 17.0  # pixels from line to line
SAMPLE: Final = 22.0  # pixels for a sample
BETWEEN: Final = 16.0  # pixels between two entries
SENTENCES: Final = 3  # of violations below the picture
LONGEST: Final = 600  # characters of a sentence there
NAMED: Final = 12  # processes in the description

_ARROWS: Final = {
    "message": "message",
    "relay": "passed on",
    "control": "ack, permit or other control",
}
_BARS: Final = {"held": "held at the sender", "buffered": "buffered at the receiver"}
_MARKS: Final[dict[MarkKind, str]] = {
    "send": "causal-send",
    "release": "release",
    "receive": "receive",
    "deliver": "deliver",
    "evict": "gives up on a peer",
}

Draw = Callable[[Element, float, float], object]


def describe(root: Element, diagram: Diagram) -> None:
    """The text alternative."""
    run = clean(diagram.run, LONGEST) or "a run"
    SubElement(root, "title", {"id": "title"}).text = f"Space-time diagram of {run}"
    named = ", ".join(clean(label, 40) for label in diagram.labels[:NAMED])
    more = len(diagram.labels) - NAMED
    delivered = sum(mark.kind == "deliver" for mark in diagram.marks)
    last = max((mark.time_ns for mark in diagram.marks), default=0)
    parts = [
        f"{len(diagram.labels)} processes as lines from left to right: {named}"
        + (f" and {more} more." if more > 0 else "."),
        f"{len(diagram.messages):,} messages as arrows, {delivered:,} deliveries"
        + (f", within {elapsed(last)}." if last else "."),
        *(clean(flag.sentence, LONGEST) for flag in diagram.flags[:SENTENCES]),
        clean(diagram.note),
    ]
    description = SubElement(root, "desc", {"id": "description"})
    description.text = " ".join(filter(None, parts))


def below(root: Element, diagram: Diagram, left: float, top: float, right: float) -> float:
    """The legend, problems and the note, from `top` on; returns where they end."""
    x, y = left, top
    for words, draw in _entries(diagram):
        wide = SAMPLE + width(words, SIZE)
        if x + wide > right and x > left:
            x, y = left, y + LINE
        draw(root, x + SAMPLE / 2 - 2, y - 4)
        add_text(root, x + SAMPLE, y, words, SIZE, colour=shapes.TEXT, anchor="start")
        x += wide + BETWEEN
    y += LINE + 4
    for words, colour in _sentences(diagram):
        for text in wrap(words, max(20, int((right - left) / SIZE / 0.52))):
            add_text(root, left, y, text, SIZE, colour=colour, anchor="start")
            y += LINE - 2
    return y


def _sentences(diagram: Diagram) -> Iterator[tuple[str, str]]:
    for flag in diagram.flags[:SENTENCES]:
        yield f"! {clean(flag.sentence, LONGEST)}", shapes.BAD
    if (more := len(diagram.flags) - SENTENCES) > 0:
        yield f"! and {more:,} more", shapes.BAD
    if diagram.note:
        yield clean(diagram.note), shapes.QUIET


def _entries(diagram: Diagram) -> Iterator[tuple[str, Draw]]:
    """What occurs in the picture, with a function that draws a sample of it."""
    kinds = {mark.kind for mark in diagram.marks}
    for kind, words in _MARKS.items():
        if kind in kinds:
            yield words, partial(_mark, kind)
    if kinds & {"start", "stop"}:
        yield "start, stop", partial(_mark, "start")
    arrows = {arrow.kind for arrow in diagram.arrows}
    for arrow, words in _ARROWS.items():
        if arrow in arrows:
            yield words, partial(_arrow, arrow)
    if any(arrow.end is None for arrow in diagram.arrows):
        yield "not seen to arrive", _lost
    bars = {bar.kind for bar in diagram.bars}
    for bar, words in _BARS.items():
        if bar in bars:
            yield words, partial(_bar, shapes.BARS[bar])
    if diagram.flags:
        yield "broken promise", lambda root, x, y: shapes.flag(root, x - 3, y, 5)


def _mark(kind: MarkKind, root: Element, x: float, y: float) -> None:
    shapes.draw(root, kind, x, y, 4.2)


def _arrow(kind: str, root: Element, x: float, y: float) -> None:
    look = shapes.ARROWS[kind]
    shapes.line(root, x - 9, y, x + 7, y, look.colour, look.width, look.dashes)
    shapes.head(root, x + 8, y, 1, 0, look)


def _lost(root: Element, x: float, y: float) -> None:
    colour = shapes.ARROWS["message"].colour
    shapes.line(root, x - 9, y, x + 3, y, colour, 1)
    shapes.lost(root, x + 3, y, 3, colour)


def _bar(colour: str, root: Element, x: float, y: float) -> None:
    shapes.bar(root, x - 8, y - 2, 15, 4, colour)
