"""Charts as plain values: what Plotly is given, and the sentence for those who do not see it.

Colours are names of the style sheet, such as `var(--series-1)`: the page puts in what they stand for,
and so charts follow the theme. No series is description from another by its colour alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Final

from beforehand import protocols
from beforehand.report.page.axes import Scale
from beforehand.results.format import shortened

COLOURS: Final = 8  # that theme.css has for series
SYMBOLS: Final = (
    "circle",
    "diamond",
    "square",
    "triangle-up",
    "x",
    "star",
    "triangle-down",
    "cross",
    "hexagon",
    "pentagon",
    "bowtie",
    "hourglass",
    "star-diamond",
    "star-square",
    "hexagram",
)
DASHES: Final = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")

NAME: Final = 28  # characters of a name beside a chart or in its legend
TEXT: Final = 120  # characters of what is shown when a mark is pointed at
ROW: Final = 26  # pixels that a row of a dot chart needs
FRAME: Final = 96  # pixels for the legend and the axis


@dataclass(frozen=True)
class Chart:
    """A chart in the page."""

    name: str  # one of its kind
    title: str
    description: str  # what it shows, with the main figures
    height: int
    data: list[dict[str, Any]]
    layout: dict[str, Any]

    def plotly(self) -> dict[str, Any]:
        """What the script of the page draws."""
        return {"data": self.data, "layout": self.layout, "height": self.height}


@dataclass(frozen=True)
class SeriesStyle:
    """How a series is description from the others."""

    colour: str
    symbol: str
    dash: str


def series_style(place: int) -> SeriesStyle:
    """The series_style of a series, by its place."""
    return SeriesStyle(
        f"var(--series-{place % COLOURS + 1})",
        SYMBOLS[place % len(SYMBOLS)],
        DASHES[place % len(DASHES)],
    )


def protocol_styles(names: Sequence[str]) -> dict[str, SeriesStyle]:
    """The style of each protocol, in the order in which they are drawn.

    A protocol looks the same in every chart if its registration says how; others come after these.
    """
    known = {name: protocols.find(name) for name in [*protocols.names(), *names]}
    fixed = {name: found.series for name, found in known.items() if found is not None}
    places = {name: series for name, series in fixed.items() if series is not None}
    first_free = 1 + max(places.values())
    free = [name for name in names if name not in places]
    places |= {name: first_free + position for position, name in enumerate(free)}
    ordered = sorted((places[name], name) for name in names)
    return {name: series_style(place) for place, name in ordered}


@dataclass(frozen=True)
class DotSeries:
    """A series of a dot chart: a value in each row, or two of them, joined."""

    name: str
    values: Sequence[float | None]
    ends: Sequence[float | None]  # where each value stretches to; or empty
    style: SeriesStyle
    texts: Sequence[str]  # one for each row, shown when it is pointed at
    anchors: Sequence[str | None] = ()  # of the runs that the marks lead to; or empty


def dot_chart(
    name: str,
    title: str,
    description: str,
    rows: Sequence[str],
    series: Sequence[DotSeries],
    scale: Scale,
) -> Chart:
    """Rows from top to bottom, and a mark for each series in every row."""
    data: list[dict[str, Any]] = []
    for each in series:
        data += _dots(each, scale)
    layout = {
        "xaxis": scale.axis() | {"showgrid": True},
        "yaxis": {
            "tickvals": list(range(len(rows))),
            "ticktext": [plain(each, NAME) for each in rows],
            "range": [len(rows) - 0.5, -0.5],  # the first row is on top
            "showgrid": True,
        },
    }
    return Chart(name, title, description, FRAME + ROW * max(len(rows), 3), data, layout)


def plain(text: str, most: int) -> str:
    """A text that Plotly takes as it is: it knows some tags, and cannot break lines that are long."""
    return escape(shortened(text, most), quote=False)


def _dots(series: DotSeries, scale: Scale) -> list[dict[str, Any]]:
    common = {
        "type": "scatter",
        "y": list(range(len(series.values))),
        "legendgroup": series.name,
        "hoverinfo": "text",
        "text": [plain(each, TEXT) for each in series.texts],
        "customdata": list(series.anchors),
    }
    marker = {"color": series.style.colour, "symbol": series.style.symbol, "size": 9}
    dots = common | {
        "x": [scale.place(each) for each in series.values],
        "mode": "markers",
        "name": plain(series.name, NAME),
        "marker": marker,
    }
    if not series.ends:
        return [dots]
    ends = common | {
        "x": [scale.place(each) for each in series.ends],
        "mode": "markers",
        "showlegend": False,
        "marker": marker | {"symbol": f"{series.style.symbol}-open"},
    }
    return [_joined(series, scale), dots, ends]


def _joined(series: DotSeries, scale: Scale) -> dict[str, Any]:
    """Thin lines from each value to its end; a gap after each."""
    xs: list[float | None] = []
    ys: list[int | None] = []
    for row, (value, end) in enumerate(zip(series.values, series.ends, strict=True)):
        xs += [scale.place(value), scale.place(end), None]
        ys += [row, row, None]
    return {
        "type": "scatter",
        "x": xs,
        "y": ys,
        "mode": "lines",
        "line": {"color": series.style.colour, "width": 1.5},
        "hoverinfo": "skip",
        "legendgroup": series.name,
        "showlegend": False,
    }


@dataclass(frozen=True)
class LineSeries:
    """A series of a line chart."""

    name: str
    points: Sequence[tuple[float, float]]
    style: SeriesStyle
    texts: Sequence[str]


def line_chart(
    name: str,
    title: str,
    description: str,
    series: Sequence[LineSeries],
    x: Scale,
    y: Scale,
    x_title: str,
) -> Chart:
    """Lines through the points of each series."""
    data = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": plain(each.name, NAME),
            "x": [place for place, _ in each.points],
            "y": [value for _, value in each.points],
            "text": [plain(text, TEXT) for text in each.texts],
            "hoverinfo": "text",
            "line": {"color": each.style.colour, "width": 2, "dash": each.style.dash},
            "marker": {"color": each.style.colour, "symbol": each.style.symbol, "size": 8},
        }
        for each in series
    ]
    layout = {
        "xaxis": x.axis() | {"title": {"text": x_title}, "showgrid": False},
        "yaxis": y.axis() | {"showgrid": True},
    }
    return Chart(name, title, description, 340, data, layout)
