"""Shapes and colours of a picture: a shape for each kind, so that nothing depends on colour alone.

The colours are those of our pages on a light background (`assets/theme.css`), the shapes those of the
page that shows diagrams.
"""

from typing import Final, Literal, NamedTuple
from xml.etree.ElementTree import Element, SubElement

from beforehand.report.diagram.model import MarkKind

TEXT: Final = "#1b2330"
QUIET: Final = "#5a6577"
LINE: Final = "#b9c0cb"
HELD: Final = "#e69f00"
BUFFERED: Final = "#b56a9c"
BAD: Final = "#c43c00"
SELECTED: Final = "#d55e00"
_ARROW: Final = "#555f6e"
_CONTROL: Final = "#8a7a4a"
_SEND: Final = "#0072b2"
_ARRIVE: Final = "#00875f"
_FONT: Final = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"


class Stroke(NamedTuple):
    """How a kind of arrows looks."""

    colour: str
    width: float
    dashes: str = ""


ARROWS: Final = {
    "message": Stroke(_ARROW, 1.0),
    "relay": Stroke(_ARROW, 1.0, "6 2"),
    "control": Stroke(_CONTROL, 0.7, "2 2.5"),
    "selected": Stroke(SELECTED, 2.0),
}

BARS: Final = {"held": HELD, "buffered": BUFFERED}

COLOURS: Final[dict[MarkKind, str]] = {
    "send": _SEND,
    "release": _SEND,
    "receive": _ARRIVE,
    "deliver": _ARRIVE,
    "control": _CONTROL,
    "hold": HELD,
    "evict": BAD,
    "start": QUIET,
    "stop": QUIET,
}

_GATE: Final = ((-0.3, -1.7), (0.3, -1.7), (0.3, 1.7), (-0.3, 1.7))
_CORNERS: Final[dict[MarkKind, tuple[tuple[float, float], ...]]] = {
    "release": ((1.2, 0), (-0.8, -1), (-0.8, 1)),
    "deliver": ((-0.85, -0.85), (0.85, -0.85), (0.85, 0.85), (-0.85, 0.85)),
    "hold": ((0, -1), (0.7, 0), (0, 1), (-0.7, 0)),
    "start": _GATE,
    "stop": _GATE,
    "evict": (
        (-1, -0.7),
        (-0.7, -1),
        (0, -0.3),
        (0.7, -1),
        (1, -0.7),
        (0.3, 0),
        (1, 0.7),
        (0.7, 1),
        (0, 0.3),
        (-0.7, 1),
        (-1, 0.7),
        (-0.3, 0),
    ),
}


def number(value: float) -> str:
    """A number of pixels, as short as it gets."""
    return f"{value:.1f}".removesuffix(".0")


def page() -> Element:
    """An empty picture; `title` and `description` are for readers who do not see it."""
    described = {"role": "img", "aria-labelledby": "title description"}
    look = {"xmlns": "http://www.w3.org/2000/svg", "font-family": _FONT}
    return Element("svg", look | described)


def draw(parent: Element, kind: MarkKind, x: float, y: float, r: float) -> Element:
    """A mark of about radius `r`."""
    colour = COLOURS[kind]
    if kind in _CORNERS:
        return SubElement(parent, "path", {"d": _polygon(x, y, r, _CORNERS[kind]), "fill": colour})
    if kind == "receive":
        edge = {"stroke": colour, "stroke-width": number(max(0.8, r * 0.4))}
        return _circle(parent, x, y, r * 0.82, {"fill": "#ffffff"} | edge)
    return _circle(parent, x, y, r * 0.5 if kind == "control" else r, {"fill": colour})


def _circle(parent: Element, x: float, y: float, r: float, look: dict[str, str]) -> Element:
    return SubElement(parent, "circle", {"cx": number(x), "cy": number(y), "r": number(r)} | look)


def _polygon(x: float, y: float, size: float, corners: tuple[tuple[float, float], ...]) -> str:
    points = [f"{number(x + size * dx)} {number(y + size * dy)}" for dx, dy in corners]
    return "M" + "L".join(points) + "Z"


def line(
    parent: Element,
    x1: float,
    y1: float,
    x2: float,
    y2: float,
    colour: str,
    wide: float,
    dashes: str = "",
) -> Element:
    """A straight line."""
    look = {"stroke": colour, "stroke-width": number(wide)}
    if dashes:
        look["stroke-dasharray"] = dashes
    ends = {"x1": number(x1), "y1": number(y1), "x2": number(x2), "y2": number(y2)}
    return SubElement(parent, "line", ends | look)


def head(parent: Element, x: float, y: float, dx: float, dy: float, look: Stroke) -> None:
    """The head of an arrow that comes from the direction (dx, dy) and ends here."""
    long, half = 4.0 + 2 * look.width, 1.4 + look.width
    back = (x - dx * long, y - dy * long)
    corners = (
        (x, y),
        (back[0] - dy * half, back[1] + dx * half),
        (back[0] + dy * half, back[1] - dx * half),
    )
    SubElement(parent, "path", {"d": _polygon(0, 0, 1, corners), "fill": look.colour})


def lost(parent: Element, x: float, y: float, r: float, colour: str) -> None:
    """The end of an arrow that arrives nowhere."""
    line(parent, x - r, y - r, x + r, y + r, colour, 1.2)
    line(parent, x - r, y + r, x + r, y - r, colour, 1.2)


def bar(parent: Element, x: float, y: float, wide: float, high: float, colour: str) -> Element:
    """A bar along a line."""
    area = {"x": number(x), "y": number(y), "width": number(wide), "height": number(high)}
    return SubElement(parent, "rect", area | {"fill": colour, "rx": "1.5"})


def flag(parent: Element, x: float, y: float, r: float) -> Element:
    """Marks a violation."""
    group = SubElement(parent, "g")
    _circle(group, x, y, r, {"fill": "none", "stroke": BAD, "stroke-width": "2"})
    add_text(group, x + r + 1, y - r + 2, "!", 15.0, colour=BAD, anchor="start", weight="bold")
    return group


def add_text(
    parent: Element,
    x: float,
    y: float,
    text: str,
    size: float,
    *,
    colour: str = QUIET,
    anchor: Literal["start", "middle", "end"] = "middle",
    weight: Literal["normal", "bold"] = "normal",
) -> Element:
    """Text, which must be clean."""
    look = {"x": number(x), "y": number(y), "font-size": number(size), "fill": colour}
    look["text-anchor"] = anchor
    if weight != "normal":
        look["font-weight"] = weight
    element = SubElement(parent, "text", look)
    element.text = text
    return element
