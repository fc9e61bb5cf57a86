"""Clusters: what real processes did, in words, as a table, and as the beginning of a diagram."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from beforehand.errors import ReportError
from beforehand.report.commands import instruction
from beforehand.report.diagram.build import build
from beforehand.report.diagram.model import Diagram
from beforehand.report.model import ClusterView
from beforehand.report.reading.context import Gap, PartContext, ReadingContext
from beforehand.report.reading.files import read_note
from beforehand.report.reading.traces import beginning_of, files_of
from beforehand.report.reading.values import provenance_of, strings, table_view
from beforehand.results.layout import ClusterFolder
from beforehand.results.tables.cluster import PROCESSES

DRAWN: Final = 1_500  # events: enough to see how it goes, and few enough for a page
_LOOKED_AT: Final = 4 * DRAWN  # by time, of which the first in causal order are drawn

Row = Mapping[str, Any]


def read_cluster(folder: Path, context: ReadingContext) -> ClusterView | None:
    """Read a cluster; None if its note is unusable, which is then listed as missing."""
    label = context.label(folder)
    again = instruction(context.commands.cluster("NEW"), "run a cluster")
    part = context.part(f"the cluster {label}", f"{again} to make another")
    note = part.attempt("the verdict", partial(_note, folder))
    if note is None:
        return None
    name = context.name(label)
    plan, verdict, rows = note["plan"], note["verdict"], note["processes"]
    columns = [each for each in PROCESSES if any(each.name in row for row in rows)]
    files = files_of([folder])
    return ClusterView(
        name,
        f"{label}: {plan.get('protocol')}, {len(rows):,} processes, {verdict.get('sends'):,} messages",
        str(folder),
        provenance_of(note),
        verdict.get("clean") is True,
        tuple(_sentences(note)),
        table_view(f"{name}-processes", f"processes of {label}", columns, rows),
        part.attempt("the diagram", partial(_diagram, folder, files, part, len(rows))),
        context.commands.diagram(folder, "") if files else "",
    )


def _note(folder: Path) -> dict[str, Any]:
    note = read_note(folder / ClusterFolder.NOTE)
    kinds = {"plan": dict, "verdict": dict, "processes": list}
    for name, kind in kinds.items():
        if not isinstance(note.get(name), kind):
            raise Gap(f"{folder / ClusterFolder.NOTE} lacks the {name}")
    if not all(isinstance(row, dict) for row in note["processes"]):
        raise Gap(f"{folder / ClusterFolder.NOTE} lacks the processes")
    for name in ("sends", "deliveries", "held"):
        if not isinstance(note["verdict"].get(name), int):
            raise Gap(f"{folder / ClusterFolder.NOTE} lacks the {name}")
    return note


def _sentences(note: Row) -> list[str]:
    plan, verdict, rows = note["plan"], note["verdict"], note["processes"]
    found = [_plan(plan, note), _faults(rows)]
    found.append(
        f"Order had to be kept: {verdict['held']:,} messages had to wait for others, and "
        f"{_total(rows, 'reactions'):,} were reactions to what was delivered."
    )
    killed = [str(row.get("name")) for row in rows if row.get("killed")]
    if killed:
        found.append(f"Killed on purpose in mid-run: {', '.join(killed)}; the others went on.")
    if verdict.get("clean") is True:
        found.append(
            f"Verdict: clean. {verdict['deliveries']:,} deliveries, each once and in causal order, and "
            "nothing is missing."
        )
        return found
    kinds = verdict.get("violations")
    counts = dict(kinds) if isinstance(kinds, dict) else {}
    counts |= {name: verdict.get(name) for name in ("lost", "damaged")}
    listed = ", ".join(
        f"{count:,} {kind}" for kind, count in counts.items() if isinstance(count, int) and count
    )
    found.append(f"Verdict: not clean: {listed or 'see its trace'}.")
    return [*found, *strings(verdict.get("sentences"))]


def _plan(plan: Row, note: Row) -> str:
    how = ", encrypted," if note.get("encrypted") is True else ""
    seconds = note.get("seconds")
    within = f" within {seconds:,.1f} s" if isinstance(seconds, (int, float)) else ""
    return (
        f"{plan.get('nodes')} processes of {plan.get('protocol')} on one machine{how} sent "
        f"{note['verdict']['sends']:,} messages of {plan.get('payload')} bytes over UDP{within}; "
        f"seed {plan.get('seed')}."
    )


def _faults(rows: Sequence[Row]) -> str:
    return (
        f"The network was faulty: {_total(rows, 'lost'):,} datagrams were lost, "
        f"{_total(rows, 'doubled'):,} duplicated, and {_total(rows, 'held_back'):,} held back so "
        f"that others overtook them; {_total(rows, 'resent'):,} frames were retransmitted."
    )


def _total(rows: Sequence[Row], figure: str) -> int:
    found = [row.get(figure) for row in rows]
    return sum(each for each in found if isinstance(each, int))


def _diagram(folder: Path, files: Sequence[Path], part: PartContext, processes: int) -> Diagram:
    """The beginning of the trace."""
    if not files:
        raise Gap(f"{folder} holds no traces any more")
    trace = beginning_of(files, _LOOKED_AT)
    if trace.processes < processes:
        part.miss(
            "some traces", f"{folder} has those of {trace.processes} of {processes} processes"
        )
    try:
        drawn = build(trace.events, most=DRAWN)
    except ReportError as problem:
        raise Gap(f"the trace in {folder} cannot be drawn ({problem})") from None
    shown = len(drawn.marks)
    note = f"The first {shown:,} of {trace.total:,} events." if shown < trace.total else ""
    return replace(drawn, note=note)
