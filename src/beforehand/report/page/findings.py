"""The main findings, derived from the results: each is a figure, a sentence and a link."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter
from typing import Final

from beforehand import protocols
from beforehand.report.model import ReportView, StudyView
from beforehand.report.page import growth
from beforehand.report.page.comparison import is_control, is_usable
from beforehand.report.page.formats import shown, visible
from beforehand.report.page.tables import Record, records
from beforehand.results.format import counted, number, size

MOST: Final = 3  # cards side by side
# Approaches that protocols represent (`protocols.Protocol`).
HYBRID: Final = "hybrid buffering"
MATRIX: Final = "matrix clocks"


@dataclass(frozen=True)
class Headline:
    """A card at the top of the page."""

    figure: str
    sentence: str
    link: str  # an anchor of the page
    good: bool = True


def findings(report: ReportView) -> dict[str, list[Headline]]:
    """Cards for the first screen and, apart from those, cards of simulated runs.

    Figures of real processes and simulated ones are never put side by side: a page that has real ones
    shows the others with the protocols compared.
    """
    real, simulated = _first(report, REAL), _first(report, SIMULATED)
    if real or report.comparisons:
        return {"findings": real, "simulated": simulated}
    return {"findings": simulated, "simulated": []}


def _first(report: ReportView, rules: "tuple[Rule, ...]") -> list[Headline]:
    """At most three, the most important first, no two of the same kind."""
    headlines = (next(rule(report), None) for rule in rules)
    return list(islice(filter(None, headlines), MOST))


def on_a_bad_network(report: ReportView) -> Iterator[Headline]:
    """Real processes, and what their network did to them."""
    for cluster in report.clusters:
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


def without_order(report: ReportView) -> Iterator[Headline]:
    """What goes wrong on the same workload without causal order."""
    best: tuple[float, StudyView, Record] | None = None
    for study in report.studies:
        for row in filter(is_control, records(study.protocols)):
            # Where messages were lost as well, the share of those out of order means less.
            if row.text("outcome") != "complete" or not row.total("deliveries"):
                continue
            share = row.total("causal_violations") / row.total("deliveries")
            # Order per sender is what most systems have, so it is a better example than no order at all.
            weight = share + (1.0 if share and _represents(row.text("protocol")) else 0.0)
            if share and (best is None or weight > best[0]):
                best = (weight, study, row)
    if best is not None:
        _, study, row = best
        protocol = visible(row.text("protocol"))
        kept_order = _represents(row.text("protocol"))
        keeps = f"with {kept_order} ({protocol})" if kept_order else f"with {protocol}"
        name, network = study.title.partition(":")[0], row.text("network")
        others = [other for other in records(study.protocols) if other.text("network") == network]
        kept = all(is_usable(other) for other in others if not is_control(other))
        yield Headline(
            f"{row.total('causal_violations'):,} of {row.total('deliveries'):,}",
            f"deliveries out of causal order {keeps}: {visible(name)} on {visible(network)}."
            + (" With causal delivery: none." if kept and len(others) > 1 else ""),
            f"protocols-{study.name}",
            good=False,
        )


def metadata_grown(report: ReportView) -> Iterator[Headline]:
    """How metadata grows with the number of processes, for hybrid buffering and matrix clocks."""
    for sweep in report.sweeps:
        means = growth.means(records(sweep.results), growth.METADATA)
        lines = {_represents(name): points for name, points in reversed(means.items())}
        if HYBRID not in lines or MATRIX not in lines:
            continue
        (least, low), (most, high) = lines[HYBRID][0], lines[HYBRID][-1]
        matrix = lines[MATRIX]
        if most == matrix[-1][0] and most > least:
            yield Headline(
                size(high),
                f"of metadata per message at {most:,.0f} processes; at {least:,.0f} it is "
                f"{size(low)}. Matrix clocks: from {size(matrix[0][1])} to {size(matrix[-1][1])}.",
                f"growth-{sweep.name}",
            )


def metadata_small(report: ReportView) -> Iterator[Headline]:
    """The same on one workload, where there is no sweep over sizes."""
    for study in report.studies:
        most: dict[str, float] = {}
        for row in filter(is_usable, records(study.protocols)):
            if (value := row.figure("metadata_per_message")) is not None:
                approach = _represents(row.text("protocol"))
                most[approach] = max(value, most.get(approach, value))
        if HYBRID in most and MATRIX in most:
            yield Headline(
                size(most[HYBRID]),
                "of metadata per message with hybrid buffering, on the network where it needs most. "
                f"Matrix clocks: up to {size(most[MATRIX])}.",
                f"protocols-{study.name}",
            )


def all_clean(report: ReportView) -> Iterator[Headline]:
    """How many replays of causal protocols the auditor judged, and how they did."""
    rows = [row for study in report.studies for row in records(study.protocols)]
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


def price(report: ReportView) -> Iterator[Headline]:
    """How fast causal delivery was at best."""
    for study in report.studies:
        rows = filter(is_usable, records(study.protocols))
        known = [(v, row) for row in rows if (v := row.figure("latency_p99")) is not None]
        if known:
            value, row = min(known, key=itemgetter(0))
            yield Headline(
                shown(value, "time"),
                f"p99 latency of {visible(row.text('protocol'))} on {visible(row.text('network'))}, "
                "in causal order.",
                f"protocols-{study.name}",
            )


def judged(report: ReportView) -> Iterator[Headline]:
    """The verdict of the auditor on traces from elsewhere."""
    for audit in report.audits:
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


def grown(report: ReportView) -> Iterator[Headline]:
    """At least how much was simulated."""
    for sweep in report.sweeps:
        if rows := records(sweep.results):
            yield Headline(
                f"{len(rows):,}", "simulated runs, each a click away.", f"growth-{sweep.name}"
            )


Rule = Callable[[ReportView], Iterator[Headline]]
REAL: Final[tuple[Rule, ...]] = (on_a_bad_network, judged)
SIMULATED: Final[tuple[Rule, ...]] = (
    without_order,
    metadata_grown,
    metadata_small,
    all_clean,
    price,
    grown,
)
