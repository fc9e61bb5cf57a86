"""The first screen: what really went wrong, what to choose and why, and what it costs.

Both sides of a comparison are runs of real processes on the same faults. Simulated figures are never put
next to them: they have their own place, with the protocols compared.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from beforehand.report.model import ComparisonView, ReportView
from beforehand.report.page.formats import shown, visible
from beforehand.report.page.tables import Record, fields, records
from beforehand.results.format import counted, listed

SENTENCES: Final = 2  # of advice
UNMEASURED: Final = "not measured"
# Columns of the runs, and what to call them in a narrow table under "What a message costs".
COSTS: Final = {
    "latency_p50_ns": "median latency",
    "latency_p99_ns": "p99 latency",
    "meta_bytes_per_message": "metadata",
    "wire_bytes_per_message": "on the wire",
}
# Beginnings of the situations of a study that are quoted.
IN_GENERAL: Final = "in general"
MANY: Final = "many processes"


@dataclass(frozen=True)
class Side:
    """One run of a comparison."""

    protocol: str
    verdict: str  # a sentence
    good: bool
    svg: str  # trusted: drawn by us; empty if there is nothing to draw


@dataclass(frozen=True)
class Shown:
    """A comparison on the first screen."""

    view: ComparisonView
    sentence: str  # what a user saw
    sides: tuple[Side, ...]
    costs: tuple[tuple[str, ...], ...]  # a title, and a value for each side


def shown_comparisons(report: ReportView) -> list[Shown]:
    """All of them; those in which something went wrong come first."""
    every = [_shown(view) for view in report.comparisons]
    return sorted(every, key=lambda comparison: comparison.view.incident is None)


def choice(report: ReportView) -> list[str]:
    """What to choose and why, in at most two sentences."""
    sentences = [*_from_real_runs(report), *_from_studies(report)]
    if len(sentences) == 1 and report.comparisons:
        sentences += _without_dependencies(report)
    return sentences[:SENTENCES]


def _shown(view: ComparisonView) -> Shown:
    rows = records(view.runs)
    pictures = view.incident.pictures if view.incident else None
    drawn = (pictures.left.svg, pictures.right.svg) if pictures else ()
    sides = tuple(
        Side(
            visible(row.text("protocol")),
            _verdict(view, row),
            row.values.get("clean") is True,
            drawn[index] if index < len(drawn) else "",
        )
        for index, row in enumerate(rows)
    )
    sentence = visible(view.incident.sentence) if view.incident else ""
    if not sentence:
        sentence = f"{visible(view.program)}: nothing went wrong for a user this time."
    return Shown(view, f"{sentence[:1].upper()}{sentence[1:]}", sides, _costs(view, rows))


def _verdict(view: ComparisonView, row: Record) -> str:
    deliveries = row.total("deliveries")
    if row.values.get("clean") is True:
        return f"0 of {deliveries:,} deliveries out of causal order; 0 {visible(view.harm)}."
    least = "" if row.values.get("complete") is True else "at least "
    return (
        f"{least}{row.total('violations'):,} of {deliveries:,} deliveries out of causal order; "
        f"{row.total('harm'):,} {visible(view.harm)}."
    )


def _costs(view: ComparisonView, rows: Sequence[Record]) -> tuple[tuple[str, ...], ...]:
    return tuple(
        (title, *(_figure(row, name, view) for row in rows)) for name, title in COSTS.items()
    )


def _figure(row: Record, name: str, view: ComparisonView) -> str:
    value = row.figure(name)
    return UNMEASURED if value is None else shown(value, fields(view.runs)[name].unit)


def _from_real_runs(report: ReportView) -> list[str]:
    """Which protocol kept its promise where another broke the order."""
    rows = [row for view in report.comparisons for row in records(view.runs)]
    causal = [row for row in rows if row.values.get("causal") is True]
    controls = [row for row in rows if row.values.get("causal") is False]
    broken = sorted({row.text("protocol") for row in causal if row.values.get("clean") is not True})
    if broken:
        return [f"{visible(listed(broken))} broke a promise here, so do not rely on it."]
    if not causal:
        return []
    name = visible(causal[0].text("protocol"))
    kept = counted(sum(row.total("deliveries") for row in causal), "delivery", "deliveries")
    late = sum(row.total("violations") for row in controls)
    times = counted(late, "time")
    against = f", where {visible(controls[0].text('protocol'))} broke it {times}" if late else ""
    return [
        f"Choose {name} where a message may depend on another: it kept all {kept} in order{against}."
    ]


def _without_dependencies(report: ReportView) -> list[str]:
    rows = [row for view in report.comparisons for row in records(view.runs)]
    names = [visible(row.text("protocol")) for row in rows if row.values.get("causal") is False]
    if not names:
        return []
    return [f"{names[0]} is enough if no message depends on one from another sender."]


def _from_studies(report: ReportView) -> list[str]:
    """What simulated replays favour, and why."""
    for study in report.studies:
        by_situation = {advice.situation: advice for advice in study.advice if advice.protocols}
        general = [a for s, a in by_situation.items() if s.startswith(IN_GENERAL)]
        many = [a for s, a in by_situation.items() if s.startswith(MANY)]
        if not general:
            continue
        name = visible(study.title.partition(":")[0])
        favourite = general[0].protocols[0]
        reason = general[0].sentence.removeprefix(f"{favourite}: ").rstrip(".")
        sentence = f"Simulated replays of the run {name} favour {visible(favourite)} at this size: "
        sentence += visible(reason)
        if many and many[0].protocols[0] != general[0].protocols[0]:
            sentence += f"; for many processes, {visible(many[0].protocols[0])}"
        return [f"{sentence}."]
    return []
