"""Protocols compared on a traffic: the charts of a study, and which figures are the smallest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from beforehand.report.model import StudyView, TableView
from beforehand.report.page.axes import scale
from beforehand.report.page.charts import Chart, DotSeries, dot_chart, series_style
from beforehand.report.page.formats import shown, visible
from beforehand.report.page.tables import Record, column, distinct, records
from beforehand.results.format import counted, listed
from beforehand.results.schema import Unit

# What most people compare; the other columns are there on request.
SHOWN: Final = (
    "protocol",
    "network",
    "latency_mean",
    "latency_p99",
    "held_mean",
    "metadata_per_message",
    "control_per_message",
    "wire_per_message",
    "integers_peak",
    "waiting_peak",
    "verdict",
)
# Where less is better.
COSTS: Final = (
    "latency_mean",
    "latency_p99",
    "held_mean",
    "held_p99",
    "metadata_per_message",
    "control_per_message",
    "wire_per_message",
    "integers_peak",
    "integers_mean",
    "waiting_peak",
)


@dataclass(frozen=True)
class Quantity:
    """What a chart compares."""

    name: str
    title: str
    column: str
    end: str  # a second column, joined with the first; empty if there is none
    unit: Unit
    description: str


QUANTITIES: Final = (
    Quantity(
        "latency",
        "Latency",
        "latency_mean",
        "latency_p99",
        "time",
        "From causal-send to delivery; filled marks are means, open ones the 99th percentile.",
    ),
    Quantity(
        "held",
        "Held at the sender",
        "held_mean",
        "held_p99",
        "time",
        "How long a message waits before it goes out; filled marks are means, open ones the 99th "
        "percentile.",
    ),
    Quantity(
        "metadata",
        "Metadata per message",
        "metadata_per_message",
        "",
        "bytes",
        "Bytes that keep the order, in all frames.",
    ),
    Quantity(
        "control",
        "Control frames per message",
        "control_per_message",
        "",
        "number",
        "Frames that carry no message: acknowledgements, permits.",
    ),
    Quantity(
        "state",
        "Memory: state of a process",
        "integers_peak",
        "",
        "count",
        "The most integers that one process kept.",
    ),
    Quantity(
        "waiting",
        "Memory: messages waiting",
        "waiting_peak",
        "",
        "count",
        "The most messages that were held at senders and buffered at receivers at a time.",
    ),
)


def charts(study: StudyView) -> list[Chart]:
    """The charts of a study: each has a row for each protocol and a mark for each network."""
    rows = [row for row in records(study.protocols) if not row.text("error")]
    if not rows or study.protocols is None:
        return []
    return [
        _chart(study, rows, quantity)
        for quantity in QUANTITIES
        if column(study.protocols, quantity.column) is not None
    ]


def is_usable(row: Record) -> bool:
    """Whether a protocol promises causal order, finished, and was found clean."""
    return (
        row.values.get("causal") is True
        and row.text("verdict") == "clean"
        and row.text("outcome") == "complete"
    )


def is_control(row: Record) -> bool:
    """Whether a protocol does not even promise causal order."""
    return row.values.get("causal") is False


def only_controls(study: StudyView) -> list[str]:
    """The controls that were caught, if all others are clean: then every promise was kept."""
    rows = records(study.protocols)
    kept = all(row.text("verdict") == "clean" for row in rows if not is_control(row))
    return distinct([row for row in rows if row.violated], "protocol") if kept else []


def smallest(study: StudyView) -> set[tuple[int, str]]:
    """The cells (row, column) that no usable protocol is below, on their network."""
    rows = records(study.protocols)
    found = set()
    for network in distinct(rows, "network"):
        usable = [
            (place, row)
            for place, row in enumerate(rows)
            if row.text("network") == network and is_usable(row)
        ]
        for name in COSTS:
            known = [(v, place) for place, row in usable if (v := row.figure(name)) is not None]
            if len(known) > 1:
                least = min(known)[0]
                found |= {(place, name) for value, place in known if value == least}
    return found


def arranged(table: TableView) -> list[int]:
    """The places of the columns: those that most people compare come first."""
    names = [each.name for each in table.columns]
    first = [names.index(name) for name in SHOWN if name in names]
    return [*first, *(place for place in range(len(names)) if place not in first)]


def verdict(row: Record) -> str:
    """What the auditor said, and what else is wrong."""
    outcome = row.text("outcome")
    stopped = f"{outcome}, " if outcome not in ("complete", "failed") else ""
    if row.text("verdict") == "violated":
        return f"{stopped}{counted(row.total('violations'), 'violation')}"
    return f"{stopped}{row.text('verdict')}"


def label(row: Record) -> str:
    """The name of a protocol; that of a control in brackets."""
    name = visible(row.text("protocol"))
    return f"({name})" if is_control(row) else name


def _chart(study: StudyView, rows: list[Record], quantity: Quantity) -> Chart:
    labels = list(dict.fromkeys(label(row) for row in rows))
    networks = distinct(rows, "network")
    by_place = {(label(row), row.text("network")): row for row in rows}
    columns = [name for name in (quantity.column, quantity.end) if name]
    values = [row.figure(name) for row in rows for name in columns]
    series = []
    for place, network in enumerate(networks):
        found = [by_place.get((each, network)) for each in labels]
        series.append(
            DotSeries(
                visible(network),
                [row.figure(quantity.column) if row else None for row in found],
                [row.figure(quantity.end) if row else None for row in found]
                if quantity.end
                else (),
                series_style(place),
                [_text(row, quantity) if row else "" for row in found],
                [row.anchor if row else None for row in found],
            )
        )
    description = f"{quantity.description} {_least(rows, networks, quantity)}"
    name = f"{study.name}-{quantity.name}"
    return dot_chart(
        name, quantity.title, description, labels, series, scale(values, quantity.unit)
    )


def _text(row: Record, quantity: Quantity) -> str:
    mean = shown(row.figure(quantity.column), quantity.unit)
    what = f"{label(row)} on {visible(row.text('network'))}: "
    if not quantity.end:
        return what + mean
    return f"{what}mean {mean}, p99 {shown(row.figure(quantity.end), quantity.unit)}"


def _least(rows: list[Record], networks: list[str], quantity: Quantity) -> str:
    """The main figures in words: what is smallest, and what is largest."""
    name = quantity.end or quantity.column
    what = "p99" if quantity.end else "value"
    description = []
    for network in networks:
        known = [
            (value, label(row))
            for row in rows
            if row.text("network") == network and is_usable(row)
            if (value := row.figure(name)) is not None
        ]
        if known:
            description.append(
                f"on {visible(network)} {_named(min(known)[0], known, quantity)} to "
                f"{_named(max(known)[0], known, quantity)}"
            )
    return f"Smallest and largest {what}: {'; '.join(description)}." if description else ""


def _named(value: float, known: list[tuple[float, str]], quantity: Quantity) -> str:
    """A figure, and whose it is."""
    names = [name for other, name in known if other == value]
    return f"{shown(value, quantity.unit)} ({listed(names)})"
