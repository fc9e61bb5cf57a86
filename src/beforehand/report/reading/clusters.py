"""Clusters: what real processes did, in words, as a table, and as the beginning of a diagram."""

from collections.abc import Sequence
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
from beforehand.report.reading.values import Row, provenance_of, strings, table_view
from beforehand.results.format import counted, listed
from beforehand.results.layout import ClusterFolder
from beforehand.results.tables.cluster import PROCESSES

DRAWN: Final = 1_500  # events: enough for an impression, and few enough for a page
_CONSIDERED: Final = 4 * DRAWN  # by time, of which the first in causal order are drawn


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
    columns = [field for field in PROCESSES if any(field.name in row for row in rows)]
    files = files_of([folder])
    return ClusterView(
        name,
        f"{label}: {plan.get('protocol')}, {counted(len(rows), 'process', 'processes')}, "
        f"{counted(verdict['sends'], 'message')}",
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
    types = {"plan": dict, "verdict": dict, "processes": list}
    lacking = [name for name, type_ in types.items() if not isinstance(note.get(name), type_)]
    if not lacking:
        figures, verdict = ("sends", "deliveries", "held"), note["verdict"]
        lacking += [name for name in figures if not isinstance(verdict.get(name), int)]
        lacking += ["processes"] * any(not isinstance(row, dict) for row in note["processes"])
    if lacking:
        raise Gap(f"{folder / ClusterFolder.NOTE} lacks the {lacking[0]}")
    return note


def _sentences(note: Row) -> list[str]:
    plan, verdict, rows = note["plan"], note["verdict"], note["processes"]
    sentences = [
        _plan(plan, note),
        _faults(rows),
        f"Causal order took effect: {counted(verdict['held'], 'message')} had to wait for others, and "
        f"{_total(rows, 'reactions'):,} were sent in reaction to a delivery.",
    ]
    killed = [str(row.get("name")) for row in rows if row.get("killed")]
    if killed:
        sentences.append(f"Killed on purpose during the run: {listed(killed)}; the others went on.")
    if verdict.get("clean") is True:
        deliveries = counted(verdict["deliveries"], "delivery", "deliveries")
        sentences.append(
            f"Verdict: clean. {deliveries}, each once and in causal order, and nothing is missing."
        )
        return sentences
    kinds = verdict.get("violations")
    counts = dict(kinds) if isinstance(kinds, dict) else {}
    counts |= {name: verdict.get(name) for name in ("lost", "damaged")}
    problems = [
        f"{count:,} {kind}" for kind, count in counts.items() if isinstance(count, int) and count
    ]
    sentences.append(f"Verdict: not clean: {', '.join(problems) or 'see its trace'}.")
    return [*sentences, *strings(verdict.get("sentences"))]


def _plan(plan: Row, note: Row) -> str:
    encrypted = ", encrypted," if note.get("encrypted") is True else ""
    seconds = note.get("seconds")
    within = f" within {seconds:,.1f} s" if isinstance(seconds, (int, float)) else ""
    return (
        f"{plan.get('nodes')} processes of {plan.get('protocol')} on one machine{encrypted} sent "
        f"{counted(note['verdict']['sends'], 'message')} of {plan.get('payload')} bytes over UDP"
        f"{within}; seed {plan.get('seed')}."
    )


def _faults(rows: Sequence[Row]) -> str:
    return (
        f"The network lost {counted(_total(rows, 'lost'), 'datagram')}, duplicated "
        f"{_total(rows, 'doubled'):,}, and delayed {_total(rows, 'held_back'):,} so that others "
        f"overtook them; the processes retransmitted {counted(_total(rows, 'resent'), 'frame')}."
    )


def _total(rows: Sequence[Row], figure: str) -> int:
    return sum(value for row in rows if isinstance(value := row.get(figure), int))


def _diagram(folder: Path, files: Sequence[Path], part: PartContext, processes: int) -> Diagram:
    """The beginning of the trace."""
    if not files:
        raise Gap(f"{folder} no longer holds traces")
    trace = beginning_of(files, _CONSIDERED)
    if trace.processes < processes:
        part.miss(
            "some traces", f"{folder} has those of {trace.processes} of {processes} processes"
        )
    try:
        diagram = build(trace.events, most=DRAWN)
    except ReportError as problem:
        raise Gap(f"the trace in {folder} cannot be drawn ({problem})") from None
    shown = len(diagram.marks)
    note = f"The first {shown:,} of {trace.total:,} events." if shown < trace.total else ""
    return replace(diagram, note=note)
