"""The result of a study as a page of Markdown."""

from collections.abc import Sequence
from typing import Any, Final

from beforehand.pipeline.prose import sentences, title
from beforehand.pipeline.study.advice import Advice
from beforehand.pipeline.study.eligibility import Excluded
from beforehand.pipeline.study.figures import ProtocolFigures
from beforehand.pipeline.study.replayed_run import ReplayedRun
from beforehand.results.format import counted, duration, number

COLUMNS: Final = (
    "protocol",
    "latency",
    "p99",
    "held",
    "metadata",
    "control",
    "on the wire",
    "state",
    "waiting",
    "audit",
)
LEGEND: Final = (
    "latency and p99: from causal-send to delivery; held: mean time at the sender before release; "
    "metadata and on the wire: bytes per message; control: frames without a message, per message; "
    "state: peak integers of one process; waiting: peak of messages held and buffered, all processes"
)


def by_network(figures: Sequence[ProtocolFigures]) -> dict[str, list[ProtocolFigures]]:
    """The figures of each network."""
    groups: dict[str, list[ProtocolFigures]] = {}
    for row in figures:
        groups.setdefault(row.network, []).append(row)
    return groups


def line(figures: ProtocolFigures) -> tuple[str, ...]:
    """The cells of `COLUMNS`."""
    name = figures.protocol if figures.causal else f"({figures.protocol})"
    if figures.error:
        return (name, *["-"] * (len(COLUMNS) - 2), "failed")
    return (
        name,
        duration(figures.latency_mean),
        duration(figures.latency_p99),
        duration(figures.held_mean),
        number(round(figures.metadata_per_message, 1)),
        number(round(figures.control_per_message, 2)),
        f"{figures.wire_per_message:,.0f}",
        f"{figures.integers_peak:,}",
        f"{figures.waiting_peak:,}",
        verdict(figures),
    )


def verdict(figures: ProtocolFigures) -> str:
    """The verdict of the audit in a word or two."""
    text = figures.verdict
    if figures.violations:
        text = counted(figures.violations, "violation")
    return text if figures.outcome == "complete" else f"{figures.outcome}, {text}"


def recommendation(
    replayed: ReplayedRun,
    run: dict[str, Any],
    flags: Sequence[dict[str, Any]],
    figures: Sequence[ProtocolFigures],
    advice: Sequence[Advice],
    excluded: Sequence[Excluded],
) -> str:
    """The whole page."""
    lines = ["# What causal delivery costs on this workload", "", f"{title(run)}.", ""]
    lines += [f"- {sentence}" for sentence in sentences(run, flags)]
    lines += ["", f"Replayed: {replayed.describe()}.", "", "## What to choose", ""]
    lines += [f"- **{rule.situation}**: {rule.sentence}" for rule in advice]
    for network, rows in by_network(figures).items():
        lines += ["", f"## On {network}", "", _row(COLUMNS), _row(["---"] * len(COLUMNS))]
        lines += [_row(line(row)) for row in rows]
    lines += ["", f"In parentheses: controls, which don't keep causal order. {LEGEND}.", ""]
    if excluded:
        lines += ["## Not replayed", ""]
        lines += [f"- {', '.join(group.protocols)}: {group.reason}" for group in excluded]
        lines.append("")
    return "\n".join(lines)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
