"""Protocols compared on a workload: the charts of a study, and which figures are the smallest."""

from typing import Final

from beforehand.report.model import StudyView, TableView
from beforehand.report.page.axes import scale
from beforehand.report.page.charts import Chart, DotSeries, Quantity, dot_chart, series_style
from beforehand.report.page.formats import shown, visible
from beforehand.report.page.tables import Record, distinct, fields, records
from beforehand.report.page.unmeasured import incomplete
from beforehand.results.format import counted, listed
from beforehand.results.schema import Unit
from beforehand.results.tables import study as tables

COSTS: Final = tables.COSTS.names
# What most people compare; the other columns are shown on request.
SHOWN: Final = (
    "protocol",
    "network",
    *tables.COSTS.without("held_p99", "integers_mean").names,
    "verdict",
)
QUANTITIES: Final = (
    Quantity("latency", "Latency", "latency_mean", "latency", "latency_p99"),
    Quantity("held", "Held at the sender", "held_mean", "time held", "held_p99"),
    Quantity("metadata", "Metadata per message", "metadata_per_message", "metadata"),
    Quantity("control", "Control frames per message", "control_per_message", "frames"),
    Quantity("state", "Memory: state of a process", "integers_peak", "integers"),
    Quantity("waiting", "Memory: messages waiting", "waiting_peak", "messages"),
)


def charts(study: StudyView) -> list[Chart]:
    """The charts of a study: each has a row for each protocol and a mark for each network.

    Runs that did not do all the work have none: their figures are not comparable.
    """
    rows = [row for row in records(study.protocols) if not incomplete(row)]
    columns = fields(study.protocols)
    return [
        _chart(study, rows, quantity)
        for quantity in QUANTITIES
        if rows and quantity.column in columns
    ]


def is_usable(row: Record) -> bool:
    """Whether a protocol promises causal order, finished, and was clean."""
    return (
        row.values.get("causal") is True
        and row.text("verdict") == "clean"
        and row.text("outcome") == "complete"
    )


def is_control(row: Record) -> bool:
    """Whether a protocol does not even promise causal order."""
    return row.values.get("causal") is False


def only_controls(study: StudyView) -> list[str]:
    """The controls with violations, if all others are clean: then every promise was kept."""
    rows = records(study.protocols)
    kept = all(row.text("verdict") == "clean" for row in rows if not is_control(row))
    return distinct([row for row in rows if row.violated], "protocol") if kept else []


def smallest(study: StudyView) -> set[tuple[int, str]]:
    """The cells (row, column) that no usable protocol is below, on their network."""
    rows = records(study.protocols)
    cells = set()
    for network in distinct(rows, "network"):
        usable = [
            (index, row)
            for index, row in enumerate(rows)
            if row.text("network") == network and is_usable(row)
        ]
        for name in COSTS:
            known = [(v, index) for index, row in usable if (v := row.figure(name)) is not None]
            if len(known) > 1:
                least = min(known)[0]
                cells |= {(index, name) for value, index in known if value == least}
    return cells


def arranged(table: TableView) -> list[int]:
    """The indices of the columns: those that most people compare come first."""
    names = [column.name for column in table.columns]
    first = [names.index(name) for name in SHOWN if name in names]
    return [*first, *(index for index in range(len(names)) if index not in first)]


def verdict(row: Record) -> str:
    """The verdict of the auditor, after the outcome of a run that did not complete."""
    outcome = row.text("outcome")
    stopped = f"{outcome}, " if outcome not in ("complete", "failed") else ""
    if row.violated:
        return f"{stopped}{counted(row.total('violations'), 'violation')}"
    return f"{stopped}{row.text('verdict')}"


def label(row: Record) -> str:
    """The name of a protocol; that of a control in brackets."""
    name = visible(row.text("protocol"))
    return f"({name})" if is_control(row) else name


def _chart(study: StudyView, rows: list[Record], quantity: Quantity) -> Chart:
    labels = list(dict.fromkeys(label(row) for row in rows))
    networks = distinct(rows, "network")
    by_cell = {(label(row), row.text("network")): row for row in rows}
    columns = [name for name in (quantity.column, quantity.end) if name]
    values = [row.figure(name) for row in rows for name in columns]
    field = fields(study.protocols)[quantity.column]
    series = []
    for index, network in enumerate(networks):
        runs = [by_cell.get((protocol, network)) for protocol in labels]
        marks, *ends = [[run.figure(name) if run else None for run in runs] for name in columns]
        series.append(
            DotSeries(
                visible(network),
                marks,
                ends[0] if ends else (),
                series_style(index),
                [_text(run, quantity, field.unit) if run else "" for run in runs],
                [run.anchor if run else None for run in runs],
            )
        )
    legend = " Filled marks are means, open ones the 99th percentile." if quantity.end else ""
    extremes = _extremes(rows, networks, quantity, field.unit)
    description = f"{visible(field.meaning)}{legend} {extremes}"
    return dot_chart(study.name, quantity, description, labels, series, scale(values, field.unit))


def _text(row: Record, quantity: Quantity, unit: Unit) -> str:
    value = shown(row.figure(quantity.column), unit)
    if quantity.end:
        value = f"mean {value}, p99 {shown(row.figure(quantity.end), unit)}"
    return f"{label(row)} on {visible(row.text('network'))}: {value}"


def _extremes(rows: list[Record], networks: list[str], quantity: Quantity, unit: Unit) -> str:
    """The main figures in words: the smallest and the largest of usable protocols."""
    ranges = []
    for network in networks:
        known: dict[float, list[str]] = {}
        for row in rows:
            value = row.figure(quantity.end or quantity.column)
            if value is not None and row.text("network") == network and is_usable(row):
                known.setdefault(value, []).append(label(row))
        if known:
            low, high = (f"{shown(v, unit)} ({listed(known[v])})" for v in (min(known), max(known)))
            ranges.append(f"on {visible(network)} {low} to {high}")
    what = "p99" if quantity.end else "value"
    return f"Smallest and largest {what}: {'; '.join(ranges)}." if ranges else ""
