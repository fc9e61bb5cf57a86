"""Charts as plain values: the input for Plotly, and a description for readers who do not see it.

Colours are names of the style sheet, such as `var(--series-1)`: the page resolves them, so that charts
follow the theme. No two series differ by colour alone.
"""

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

NAME: Final = 28  # characters of a name next to a chart or in its legend
TEXT: Final = 120  # characters of a tooltip
ROW: Final = 26  # pixels that a row of a dot chart needs
FRAME: Final = 120  # pixels for the legend, the axis and its title
LINE_CHART: Final = 340  # pixels: its height


@dataclass(frozen=True)
class Quantity:
    """A column of a table that a chart shows, perhaps together with a second one."""

    name: str  # of the chart, after that of its part of the report
    title: str
    column: str
    axis: str  # what its axis measures
    end: str = ""  # the second column: open marks, joined with those of the first


@dataclass(frozen=True)
class Chart:
    """A chart in the page."""

    name: str  # unique in the page
    title: str
    description: str  # of its main figures
    height: int
    data: list[dict[str, Any]]
    layout: dict[str, Any]

    def plotly(self) -> dict[str, Any]:
        """The input of the script that draws it."""
        return {"data": self.data, "layout": self.layout, "height": self.height}


@dataclass(frozen=True)
class SeriesStyle:
    """How a series looks."""

    colour: str
    symbol: str
    dash: str

    @property
    def marker(self) -> dict[str, Any]:
        """Its marks, for Plotly."""
        return {"color": self.colour, "symbol": self.symbol, "size": 9}


def series_style(index: int) -> SeriesStyle:
    """The style of the n-th series of a chart."""
    colour = f"var(--series-{index % COLOURS + 1})"
    return SeriesStyle(colour, SYMBOLS[index % len(SYMBOLS)], DASHES[index % len(DASHES)])


def protocol_styles(names: Sequence[str]) -> dict[str, SeriesStyle]:
    """The style of each protocol, in the order in which they are drawn.

    A protocol looks the same in every chart if its registration reserves a style; others follow.
    """
    registered = {name: protocols.find(name) for name in [*protocols.names(), *names]}
    indices = {
        name: protocol.series
        for name, protocol in registered.items()
        if protocol is not None and protocol.series is not None
    }
    others = [name for name in names if name not in indices]
    indices |= {name: index for index, name in enumerate(others, 1 + max(indices.values()))}
    return {name: series_style(index) for index, name in sorted((indices[n], n) for n in names)}


@dataclass(frozen=True)
class DotSeries:
    """A series of a dot chart: a value in each row, or two of them, joined."""

    name: str
    values: Sequence[float | None]
    ends: Sequence[float | None]  # the second value of each row; or empty
    style: SeriesStyle
    texts: Sequence[str]  # the tooltip of each row
    anchors: Sequence[str | None] = ()  # of the runs that the marks lead to; or empty


def dot_chart(
    part: str,
    quantity: Quantity,
    description: str,
    rows: Sequence[str],
    series: Sequence[DotSeries],
    scale: Scale,
) -> Chart:
    """Rows from top to bottom, and a mark for each series in every row."""
    data = [trace for dots in series for trace in _dots(dots, scale)]
    layout = {
        "xaxis": scale.axis(quantity.axis) | {"showgrid": True},
        "yaxis": {
            "title": {"text": "protocol", "standoff": 12},
            "tickvals": list(range(len(rows))),
            "ticktext": [plain(label, NAME) for label in rows],
            "range": [len(rows) - 0.5, -0.5],  # the first row is on top
            "showgrid": True,
        },
    }
    height = FRAME + ROW * max(len(rows), 3)
    return Chart(f"{part}-{quantity.name}", quantity.title, description, height, data, layout)


def plain(text: str, most: int) -> str:
    """Text that Plotly shows literally: it interprets some tags, and does not wrap long lines."""
    return escape(shortened(text, most), quote=False)


def _dots(series: DotSeries, scale: Scale) -> list[dict[str, Any]]:
    common = {
        "type": "scatter",
        "y": list(range(len(series.values))),
        "legendgroup": series.name,
        "hoverinfo": "text",
        "text": [plain(text, TEXT) for text in series.texts],
        "customdata": list(series.anchors),
        "mode": "markers",
    }
    values = [scale.position(value) for value in series.values]
    marker = series.style.marker
    dots = common | {"x": values, "name": plain(series.name, NAME), "marker": marker}
    if not series.ends:
        return [dots]
    ends = [scale.position(end) for end in series.ends]
    hollow = {"marker": marker | {"symbol": f"{series.style.symbol}-open"}, "showlegend": False}
    # Thin lines from each value to its end; None interrupts them.
    joined = {
        "type": "scatter",
        "x": [x for pair in zip(values, ends, strict=True) for x in (*pair, None)],
        "y": [y for row in range(len(values)) for y in (row, row, None)],
        "mode": "lines",
        "line": {"color": series.style.colour, "width": 1.5},
        "hoverinfo": "skip",
        "legendgroup": series.name,
        "showlegend": False,
    }
    return [joined, dots, common | {"x": ends} | hollow]


@dataclass(frozen=True)
class LineSeries:
    """A series of a line chart."""

    name: str
    points: Sequence[tuple[float, float]]
    style: SeriesStyle
    texts: Sequence[str]


def line_chart(
    part: str,
    quantity: Quantity,
    description: str,
    series: Sequence[LineSeries],
    x: Scale,
    y: Scale,
) -> Chart:
    """Lines through the points of each series, against the number of processes."""
    data = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": plain(line.name, NAME),
            "x": [x for x, _ in line.points],
            "y": [y for _, y in line.points],
            "text": [plain(text, TEXT) for text in line.texts],
            "hoverinfo": "text",
            "line": {"color": line.style.colour, "width": 2, "dash": line.style.dash},
            "marker": line.style.marker | {"size": 8},
        }
        for line in series
    ]
    layout = {
        "xaxis": x.axis("processes") | {"showgrid": False},
        "yaxis": y.axis(quantity.axis) | {"showgrid": True},
    }
    name = f"{part}-{quantity.name}"
    return Chart(name, quantity.title, description, LINE_CHART, data, layout)
