"""The most telling findings, worked out from what is there: each is a figure, a sentence and a place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from beforehand import protocols
from beforehand.report.model import ReportView, StudyView
from beforehand.report.page import growth
from beforehand.report.page.comparison import is_control, is_usable
from beforehand.report.page.formats import shown, visible
from beforehand.report.page.tables import Record, records
from beforehand.results.format import counted, number, size

MOST: Final = 3  # cards side by side
# What protocols say that they represent (`protocols.Protocol`).
HYBRID: Final = "hybrid buffering"
MATRIX: Final = "matrix clocks"


@dataclass(frozen=True)
class Headline:
    """A card at the top of the page."""

    figure: str
    sentence: str
    link: str  # an anchor of the page
    good: bool = True


def findings(contents: ReportView) -> list[Headline]:
    """At most three, the most telling first, no two of the same kind."""
    found = [next(rule(contents), None) for rule in RULES]
    return [each for each in found if each is not None][:MOST]


def on_a_bad_network(contents: ReportView) -> Iterator[Headline]:
    """Real processes, and what their network did to them."""
    for cluster in contents.clusters:
        rows = records(cluster.processes)
        delivered = sum(row.total("delivered") for row in rows)
        lost = sum(row.total("lost") for row in rows)
        if not delivered:
            continue
        network = f"a network that lost {counted(lost, 'datagram')}" if lost else "loopback"
        link = f"cluster-{cluster.name}"
        who = f"{counted(len(rows), 'real process', 'real processes')} on {network}"
        if cluster.clean:
            yield Headline(f"0 of {delivered:,}", f"deliveries out of causal order: {who}.", link)
        else:
            yield Headline("broken", f"causal order did not hold: {who}.", link, good=False)


def _represents(name: str) -> str:
    """The approach that a protocol stands for; empty for one that isn't registered here."""
    protocol = protocols.find(name)
    return "" if protocol is None else protocol.represents


def without_order(contents: ReportView) -> Iterator[Headline]:
    """What goes wrong on this very traffic where nobody keeps causal order."""
    best: tuple[float, StudyView, Record] | None = None
    for study in contents.studies:
        for row in filter(is_control, records(study.protocols)):
            # Where messages got lost as well, the share of those out of order says less.
            if row.text("outcome") != "complete" or not row.total("deliveries"):
                continue
            share = row.total("causal_violations") / row.total("deliveries")
            # Order per sender is what most systems have, so it says more than no order at all.
            weight = share + (1.0 if share and _represents(row.text("protocol")) else 0.0)
            if share and (best is None or weight > best[0]):
                best = (weight, study, row)
    if best is not None:
        _, study, row = best
        protocol = visible(row.text("protocol"))
        kept_order = _represents(row.text("protocol"))
        keeps = f"with {kept_order} ({protocol})" if kept_order else f"with {protocol}"
        name, network = study.title.partition(":")[0], row.text("network")
        others = [each for each in records(study.protocols) if each.text("network") == network]
        kept = all(is_usable(each) for each in others if not is_control(each))
        yield Headline(
            f"{row.total('causal_violations'):,} of {row.total('deliveries'):,}",
            f"deliveries out of causal order {keeps}: {visible(name)} on {visible(network)}."
            + (" With causal delivery: none." if kept and len(others) > 1 else ""),
            f"protocols-{study.name}",
            good=False,
        )


def metadata_grown(contents: ReportView) -> Iterator[Headline]:
    """How metadata grows with the number of processes, for hybrid buffering and matrix clocks."""
    for sweep in contents.sweeps:
        found = growth.means(records(sweep.results), growth.COSTS[0])
        own = next((found[name] for name in found if _represents(name) == HYBRID), None)
        theirs = next((found[name] for name in found if _represents(name) == MATRIX), None)
        if own and theirs and own[-1][0] == theirs[-1][0] > own[0][0]:
            yield Headline(
                size(own[-1][1]),
                f"of metadata per message at {own[-1][0]:,.0f} processes; at {own[0][0]:,.0f} it is "
                f"{size(own[0][1])}. Matrix clocks: from {size(theirs[0][1])} to {size(theirs[-1][1])}.",
                f"growth-{sweep.name}",
            )


def metadata_small(contents: ReportView) -> Iterator[Headline]:
    """The same on a traffic, where there is no sweep over sizes."""
    for study in contents.studies:
        rows = [row for row in records(study.protocols) if is_usable(row)]
        own = [row for row in rows if _represents(row.text("protocol")) == HYBRID]
        theirs = [row for row in rows if _represents(row.text("protocol")) == MATRIX]
        known = [v for row in own if (v := row.figure("metadata_per_message")) is not None]
        others = [v for row in theirs if (v := row.figure("metadata_per_message")) is not None]
        if known and others:
            yield Headline(
                size(max(known)),
                "of metadata per message with hybrid buffering, on the network where it needs most. "
                f"Matrix clocks: up to {size(max(others))}.",
                f"protocols-{study.name}",
            )


def all_clean(contents: ReportView) -> Iterator[Headline]:
    """How many replays of causal protocols the auditor judged, and how they did."""
    rows = [row for study in contents.studies for row in records(study.protocols)]
    causal = [row for row in rows if row.values.get("causal") is True]
    clean = [row for row in causal if row.text("verdict") == "clean"]
    if causal:
        deliveries = sum(row.total("deliveries") for row in clean)
        yield Headline(
            f"{len(clean):,} of {len(causal):,}",
            f"replays of causal protocols found clean by the auditor: {deliveries:,} deliveries, "
            "each judged.",
            "audit",
            good=len(clean) == len(causal),
        )


def price(contents: ReportView) -> Iterator[Headline]:
    """How fast causal delivery was at best."""
    for study in contents.studies:
        rows = [row for row in records(study.protocols) if is_usable(row)]
        known = [(v, row) for row in rows if (v := row.figure("latency_p99")) is not None]
        if known:
            value, row = min(known, key=lambda each: each[0])
            yield Headline(
                shown(value, "time"),
                f"p99 latency of {visible(row.text('protocol'))} on {visible(row.text('network'))}, "
                "in causal order.",
                f"protocols-{study.name}",
            )


def judged(contents: ReportView) -> Iterator[Headline]:
    """What the auditor says of traces from elsewhere."""
    for audit in contents.audits:
        rows = records(audit.verdicts)
        if rows:
            events = sum(row.total("events") for row in rows)
            yield Headline(
                number(audit.counted),
                f"{'violation' if audit.counted == 1 else 'violations'} of causal delivery in "
                f"{counted(len(rows), 'run')} with {events:,} events.",
                f"audit-{audit.name}",
                good=not audit.counted,
            )


def grown(contents: ReportView) -> Iterator[Headline]:
    """At least how much was simulated."""
    for sweep in contents.sweeps:
        if rows := records(sweep.results):
            yield Headline(
                f"{len(rows):,}", "simulated runs, each a click away.", f"growth-{sweep.name}"
            )


Rule = Callable[[ReportView], Iterator[Headline]]
RULES: Final[tuple[Rule, ...]] = (
    on_a_bad_network,
    without_order,
    metadata_grown,
    metadata_small,
    all_clean,
    price,
    judged,
    grown,
)
