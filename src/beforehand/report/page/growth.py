"""How cost grows with the number of processes: means of the runs of a sweep, and their charts."""

from statistics import fmean
from typing import Final

from beforehand.report.model import SweepView
from beforehand.report.page.axes import Scale, scale
from beforehand.report.page.charts import Chart, LineSeries, Quantity, line_chart, protocol_styles
from beforehand.report.page.formats import shown, visible
from beforehand.report.page.tables import Record, distinct, fields, records
from beforehand.results.schema import Unit

LEAST_SIZES: Final = 2  # a line needs two points
# Named as in the table of exponents.
METADATA: Final = Quantity(
    "metadata", "Metadata per message", "metadata_bytes_per_message", "metadata per message"
)
COSTS: Final = (
    METADATA,
    Quantity("state", "State of a process", "integers_mean", "integers"),
    Quantity("latency", "Latency", "latency_mean", "latency"),
    Quantity("work", "Work per message", "seconds_per_message", "work per message"),
)

Points = list[tuple[float, float]]


def charts(sweep: SweepView) -> list[Chart]:
    """A chart for each cost that was measured at two sizes or more."""
    rows = [row for row in records(sweep.results) if not row.text("error")]
    sizes = sorted({n for row in rows if (n := row.figure("processes"))})
    if len(sizes) < LEAST_SIZES:
        return []
    by_cost = {cost: means(rows, cost) for cost in COSTS}
    return [_chart(sweep, sizes, cost, lines) for cost, lines in by_cost.items() if lines]


def means(rows: list[Record], cost: Quantity) -> dict[str, Points]:
    """For each protocol the mean over its runs of each size; logarithmic axes have no zeros."""
    lines: dict[str, Points] = {}
    for protocol in protocol_styles(distinct(rows, "protocol")):
        by_size: dict[float, list[float]] = {}
        for row in rows:
            size, value = row.figure("processes"), row.figure(cost.column)
            if row.text("protocol") == protocol and size and value is not None:
                by_size.setdefault(size, []).append(value)
        points = [(size, fmean(values)) for size, values in sorted(by_size.items())]
        lines[protocol] = [(size, mean) for size, mean in points if mean > 0]
    return {protocol: points for protocol, points in lines.items() if points}


def _chart(sweep: SweepView, sizes: list[float], cost: Quantity, lines: dict[str, Points]) -> Chart:
    field = fields(sweep.results)[cost.column]
    styles = protocol_styles(distinct(records(sweep.results), "protocol"))
    series = [
        LineSeries(
            visible(protocol),
            points,
            styles[protocol],
            [f"{visible(protocol)}, n = {n:,.0f}: {shown(y, field.unit)}" for n, y in points],
        )
        for protocol, points in lines.items()
    ]
    heights: list[float | None] = [y for points in lines.values() for _, y in points]
    description = f"{visible(field.meaning)} {_ends(lines, field.unit)}"
    x = Scale(True, sizes[0], sizes[-1], None, "count", tuple(sizes))  # sizes that were run
    y = scale(heights, field.unit, log=True)
    return line_chart(sweep.name, cost, description, series, x, y)


def _ends(lines: dict[str, Points], unit: Unit) -> str:
    """The main figures in words: where each line begins and ends."""
    ranges = [
        f"{visible(protocol)} {shown(points[0][1], unit)} to {shown(points[-1][1], unit)}"
        for protocol, points in lines.items()
    ]
    low = min(points[0][0] for points in lines.values())
    high = max(points[-1][0] for points in lines.values())
    return f"From {low:,.0f} to {high:,.0f} processes: {'; '.join(ranges)}."
