"""How cost grows with the number of processes: means of the runs of a sweep, and their charts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from beforehand.report.model import SweepView
from beforehand.report.page.axes import Scale, scale
from beforehand.report.page.charts import Chart, LineSeries, line_chart, protocol_styles
from beforehand.report.page.formats import shown, visible
from beforehand.report.page.tables import Record, distinct, records
from beforehand.results.schema import Unit

LEAST_SIZES: Final = 2  # fewer make no line


@dataclass(frozen=True)
class Cost:
    """What is drawn against the number of processes."""

    name: str  # as the table of exponents calls it
    title: str
    value: Callable[[Record], float | None]
    unit: Unit
    description: str


def _work(row: Record) -> float | None:
    """Wall-clock nanoseconds per message."""
    seconds = row.figure("seconds_per_message")
    return None if seconds is None else 1e9 * seconds


COSTS: Final = (
    Cost(
        "metadata",
        "Metadata per message",
        lambda row: row.figure("metadata_bytes_per_message"),
        "bytes",
        "Bytes that keep the order, of every message.",
    ),
    Cost(
        "state",
        "State of a process",
        lambda row: row.figure("integers_mean"),
        "count",
        "Integers that a process keeps, on average.",
    ),
    Cost(
        "latency",
        "Latency",
        lambda row: row.figure("latency_mean"),
        "time",
        "From causal-send to delivery, on average.",
    ),
    Cost(
        "work",
        "Work per message",
        _work,
        "time",
        "Wall-clock time of the simulator: good for large differences only.",
    ),
)

Points = list[tuple[float, float]]


def charts(sweep: SweepView) -> list[Chart]:
    """A chart for each cost that was measured at two sizes or more."""
    rows = [row for row in records(sweep.results) if not row.text("error")]
    sizes = sorted({n for row in rows if (n := row.figure("processes"))})
    if len(sizes) < LEAST_SIZES:
        return []
    return [chart for cost in COSTS if (chart := _chart(sweep, rows, sizes, cost)) is not None]


def means(rows: list[Record], cost: Cost) -> dict[str, Points]:
    """For each protocol the mean over its runs of each size; zeros have no place on these axes."""
    found: dict[str, Points] = {}
    for protocol in protocol_styles(distinct(rows, "protocol")):
        by_size: dict[float, list[float]] = {}
        for row in rows:
            size, value = row.figure("processes"), cost.value(row)
            if row.text("protocol") == protocol and size and value is not None:
                by_size.setdefault(size, []).append(value)
        points = [(size, fmean(values)) for size, values in sorted(by_size.items())]
        found[protocol] = [point for point in points if point[1] > 0]
    return {protocol: points for protocol, points in found.items() if points}


def _chart(sweep: SweepView, rows: list[Record], sizes: list[float], cost: Cost) -> Chart | None:
    found = means(rows, cost)
    if not found:
        return None
    styles = protocol_styles(distinct(rows, "protocol"))
    series = [
        LineSeries(
            visible(protocol),
            points,
            styles[protocol],
            [f"{visible(protocol)}, n = {n:,.0f}: {shown(y, cost.unit)}" for n, y in points],
        )
        for protocol, points in found.items()
    ]
    heights: list[float | None] = [y for points in found.values() for _, y in points]
    description = f"{cost.description} {_ends(found, cost)}"
    y = scale(heights, cost.unit, log=True)
    return line_chart(
        f"{sweep.name}-{cost.name}", cost.title, description, series, _sizes(sizes), y, "processes"
    )


def _sizes(sizes: list[float]) -> Scale:
    """A logarithmic axis with the sizes that were run as its ticks."""
    return Scale(True, sizes[0], sizes[-1], None, "count", tuple(sizes))


def _ends(found: dict[str, Points], cost: Cost) -> str:
    """The main figures in words: where each line begins and ends."""
    description = [
        f"{visible(protocol)} {shown(points[0][1], cost.unit)} to {shown(points[-1][1], cost.unit)}"
        for protocol, points in found.items()
    ]
    low = min(points[0][0] for points in found.values())
    high = max(points[-1][0] for points in found.values())
    return f"From {low:,.0f} to {high:,.0f} processes: {'; '.join(description)}."
