"""The findings of a study as a page of Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from beforehand.pipeline.prose import sentences, title
from beforehand.pipeline.study.advice import Advice
from beforehand.pipeline.study.eligibility import Excluded
from beforehand.pipeline.study.figures import ProtocolFigures
from beforehand.pipeline.study.replayed_run import ReplayedRun
from beforehand.results.format import duration, number

COLUMNS: Final = (
    *("protocol", "latency", "p99", "held", "metadata", "control", "on the wire"),
    *("state", "waiting", "audit"),
)
LEGEND: Final = (
    "latency and p99: from causal-send to delivery; held: mean time at the sender before it goes out; "
    "metadata and on the wire: bytes per message; control: frames without a message, per message; "
    "state: integers of one process at most; waiting: messages held and buffered at most, all together"
)


def by_network(figures: Sequence[ProtocolFigures]) -> dict[str, list[ProtocolFigures]]:
    """The figures of each network."""
    found: dict[str, list[ProtocolFigures]] = {}
    for each in figures:
        found.setdefault(each.network, []).append(each)
    return found


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
    """The judgement of the audit in a word or two."""
    found = figures.verdict
    if figures.violations:
        found = f"{figures.violations:,} violation{'s' if figures.violations > 1 else ''}"
    return found if figures.outcome == "complete" else f"{figures.outcome}, {found}"


def recommendation(
    traffic: ReplayedRun,
    run: dict[str, Any],
    flags: Sequence[dict[str, Any]],
    figures: Sequence[ProtocolFigures],
    advice: Sequence[Advice],
    left_out: Sequence[Excluded],
) -> str:
    """The whole page."""
    lines = ["# What causal delivery costs on this traffic", "", f"{title(run)}.", ""]
    lines += [f"- {each}" for each in sentences(run, flags)]
    lines += ["", f"Replayed: {traffic.told()}.", "", "## What to choose", ""]
    lines += [f"- **{each.situation}**: {each.sentence}" for each in advice]
    for network, some in by_network(figures).items():
        lines += ["", f"## On {network}", "", _row(COLUMNS), _row(["---"] * len(COLUMNS))]
        lines += [_row(line(each)) for each in some]
    lines += ["", f"In brackets: controls, which do not keep causal order. {LEGEND}.", ""]
    if left_out:
        lines += ["## Left out", ""]
        lines += [f"- {', '.join(each.protocols)}: {each.reason}" for each in left_out]
        lines.append("")
    return "\n".join(lines)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
