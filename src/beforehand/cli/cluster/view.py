"""The result of a cluster: what each process did, what the network did to it, and the verdict."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

import typer

from beforehand.cli.cluster.live import COLUMNS, row
from beforehand.cli.ui.output import print_table, print_text

if TYPE_CHECKING:
    from beforehand.runtime.cluster.plan import ClusterPlan
    from beforehand.runtime.cluster.supervisor import ClusterRun
    from beforehand.runtime.cluster.verdict import ClusterVerdict

SHOWN: Final = 3  # violations, and lost messages, to print in full
FAULTS: Final = (("loss", "lost"), ("duplicate", "doubled"), ("reorder", "held_back"))


def is_clean(course: ClusterRun, verdict: ClusterVerdict) -> bool:
    """Whether everything was delivered once, in causal order and undamaged."""
    return verdict.clean and not _total(course, "damaged")


def show(plan: ClusterPlan, course: ClusterRun, verdict: ClusterVerdict) -> None:
    """Print the result for people."""
    typer.echo(
        f"{plan.protocol}, {plan.nodes} processes, {verdict.sends:,} messages of {plan.payload} bytes, "
        f"seed {plan.seed}: {course.seconds:.1f} s"
    )
    print_table(COLUMNS, [row(child) for child in course.children])
    print_text(_network(plan, course))
    print_text(_cores(course, verdict))
    for line in _incidents(course):
        print_text(line)
    for line in _judgement(course, verdict):
        print_text(line)


def to_dict(plan: ClusterPlan, course: ClusterRun, verdict: ClusterVerdict) -> dict[str, Any]:
    """The result as JSON."""
    return {
        "plan": {name: getattr(plan, name) for name in plan.__dataclass_fields__},
        "seconds": round(course.seconds, 3),
        "processes": [
            {"name": child.name, "life": child.generation, "killed": child.killed}
            | asdict(child.figures)
            | {"events": [list(event) for event in child.events if event[0] != "up"]}
            for child in course.children
        ],
        "verdict": {
            "clean": is_clean(course, verdict),
            "complete": verdict.complete,
            "sends": verdict.sends,
            "deliveries": verdict.deliveries,
            "held": verdict.held,
            "violations": _kinds(verdict),
            "lost": len(verdict.lost),
            "damaged": _total(course, "damaged"),
            "sentences": [str(violation) for violation in verdict.violations[:SHOWN]],
        },
    }


def _network(plan: ClusterPlan, course: ClusterRun) -> str:
    """The injected faults; a rate that never struck weakens the run, which deserves a warning."""
    counts = []
    for rate, figure in FAULTS:
        count = _total(course, figure)
        text = f"{count:,} {figure.replace('_', ' ')}"
        if getattr(plan, rate) and not count:
            text += f" (although {rate} is {getattr(plan, rate)}: send more messages)"
        counts.append(text)
    return f"network: datagrams {', '.join(counts)}; {_total(course, 'resent'):,} frames resent"


def _cores(course: ClusterRun, verdict: ClusterVerdict) -> str:
    """How much causal order there was to preserve."""
    most = max(child.figures.most_held for child in course.children)
    return (
        f"cores: {verdict.held:,} messages were held, up to {most:,} at a time in one process; "
        f"{_total(course, 'reactions'):,} messages were reactions"
    )


def _incidents(course: ClusterRun) -> list[str]:
    """Events worth a line: killed and restarted processes, and what should not happen."""
    lines = [
        f"{child.label} was killed after about {child.figures.sent:,} of its "
        f"{child.job.messages:,} messages; the others continued"
        for child in course.killed
    ]
    for child in course.children:
        figures = child.figures
        if child.generation > 1:
            lines.append(
                f"{child.name} was restarted and took part again: "
                f"{figures.sent:,} sent, {figures.delivered:,} delivered"
            )
        expelled = sorted({peer for kind, peer, _ in child.events if kind == "expelled"})
        if expelled and not child.killed:
            lines.append(f"{child.label} is alive, but {', '.join(expelled)} gave up on it")
        if figures.misbehaved:
            lines.append(f"{child.label} got {figures.misbehaved:,} invalid frames")
    return lines


def _judgement(course: ClusterRun, verdict: ClusterVerdict) -> list[str]:
    if is_clean(course, verdict):
        return [
            f"verdict: clean. {verdict.deliveries:,} deliveries, each once and in causal order; "
            "none is missing."
        ]
    lines = [f"verdict: {_counts(course, verdict)}"]
    lines += [f"  {violation}" for violation in verdict.violations[:SHOWN]]
    lines += [f"  lost: {message} never reached {to}." for message, to in verdict.lost[:SHOWN]]
    return lines


def _counts(course: ClusterRun, verdict: ClusterVerdict) -> str:
    parts = [f"{count:,} {kind}" for kind, count in _kinds(verdict).items()]
    if verdict.lost:
        parts.append(f"{len(verdict.lost):,} lost")
    if damaged := _total(course, "damaged"):
        parts.append(f"{damaged:,} damaged")
    end = "; the first:" if verdict.complete else "; the judge stopped there. The first:"
    return ", ".join(parts) + end


def _kinds(verdict: ClusterVerdict) -> dict[str, int]:
    kinds = [violation.kind for violation in verdict.violations]
    return {kind: kinds.count(kind) for kind in sorted(set(kinds))}


def _total(course: ClusterRun, figure: str) -> int:
    return sum(getattr(child.figures, figure) for child in course.children)
