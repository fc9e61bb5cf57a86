"""Comparisons: one program under several protocols, and what first went wrong in one of them."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from beforehand.errors import ReportError
from beforehand.report.commands import instruction
from beforehand.report.diagram.side_by_side import Run, SideBySide, side_by_side
from beforehand.report.model import ComparisonView, IncidentView
from beforehand.report.reading.context import Gap, ReadingContext
from beforehand.report.reading.files import read_note
from beforehand.report.reading.traces import TraceRow, beginning_of, files_of
from beforehand.report.reading.values import Row, provenance_of, string, strings, table_view
from beforehand.results.format import counted, listed, percent
from beforehand.results.layout import ComparisonFolder
from beforehand.results.tables.comparison import RUNS

EVENTS: Final = 100_000  # of a run, in which its messages are searched
PICTURE: Final = 500  # pixels of each side: two fit next to the table of contents
SIDES: Final = 2

Name = tuple[str, int]  # of a message: sender and number


class _Chain:
    """Two runs, and the same messages in each: from the late one to the early one."""

    def __init__(self, folder: Path, incident: Row) -> None:
        self.process = string(incident.get("process"))
        recorded = incident.get("runs")
        runs: dict[str, Any] = recorded if isinstance(recorded, dict) else {}
        self.protocols = list(runs)[:SIDES]
        if len(self.protocols) < SIDES:
            raise Gap(f"{folder / ComparisonFolder.NOTE} does not name two runs")
        texts = strings(incident.get("texts"))
        chains = [_names(folder, runs[protocol]) for protocol in self.protocols]
        if {len(chain) for chain in chains} != {len(texts)}:
            raise Gap(f"{folder / ComparisonFolder.NOTE} does not name the same messages in both")
        self.chain, self._other = chains
        self.texts = {
            f"{sender}#{mid}": text for (sender, mid), text in zip(self.chain, texts, strict=True)
        }

    def renamed(self, events: Sequence[TraceRow]) -> list[TraceRow]:
        """The messages of the chain in the second run, under their names in the first.

        A process numbers its messages as it sends them, so that a line of a program has another number
        in each run.
        """
        numbers = {right: left[1] for left, right in zip(self.chain, self._other, strict=True)}
        renamed = []
        for event in events:
            sender = (event.sender or "").partition("@")[0]
            if event.mid is not None and (sender, event.mid) in numbers:
                renamed.append(event._replace(mid=numbers[sender, event.mid]))
        return renamed


def read_comparison(folder: Path, context: ReadingContext) -> ComparisonView | None:
    """Read a comparison; None if its note is unusable, which is then listed as missing."""
    label = context.label(folder)
    again = instruction(context.commands.demo(folder.parent), "run the demo")
    part = context.part(f"the comparison {label}", f"{again} again")
    note = part.attempt("the verdicts", partial(_note, folder))
    if note is None:
        return None
    name = context.name(label)
    rows: list[dict[str, Any]] = note["runs"]
    incident = note.get("incident")
    return ComparisonView(
        name,
        f"{label}: {listed([str(row['protocol']) for row in rows])}, "
        f"{counted(rows[0]['sends'], 'message')} each",
        str(folder),
        provenance_of(note),
        string(note.get("title")) or label,
        string(note.get("harm")) or "messages that came too early",
        _setting(note),
        table_view(f"{name}-runs", f"runs of {label}", RUNS, rows),
        part.attempt(
            "the diagram", partial(_incident, folder, incident, len(strings(note.get("names"))))
        )
        if isinstance(incident, dict)
        else None,
        tuple(
            (row["protocol"], context.commands.diagram(folder / row["protocol"], ""))
            for row in rows
        ),
    )


def _note(folder: Path) -> dict[str, Any]:
    path = folder / ComparisonFolder.NOTE
    note = read_note(path)
    rows = note.get("runs")
    if not isinstance(rows, list) or not rows:
        raise Gap(f"{path} lacks the runs")
    for row in rows:
        for field in RUNS:
            value = row.get(field.name) if isinstance(row, dict) else None
            if field.name == "protocol" and not isinstance(value, str):
                raise Gap(f"{path} lacks the protocol of a run")
            if field.type == "integer" and not field.nullable and not isinstance(value, int):
                raise Gap(f"{path} lacks the {field.name} of a run")
    return note


def _setting(note: Row) -> str:
    """Who took part, and what the network did."""
    rates = [note.get(name) for name in ("loss", "duplicate", "reorder")]
    known = [rate for rate in rates if isinstance(rate, (int, float))]
    names = listed(strings(note.get("names")))
    network = ""
    if len(known) == len(rates):
        lost, doubled, late = map(percent, known)
        network = f" {lost} of all datagrams were lost, {doubled} duplicated and {late} delayed"
        network += f", with seed {note.get('seed')} for both."
    return f"{names}, as real processes on one machine, over encrypted UDP.{network}"


def _incident(folder: Path, incident: Row, processes: int) -> IncidentView:
    chain = _Chain(folder, incident)
    pictures = _pictures(folder, chain, processes)
    return IncidentView(chain.process, string(incident.get("sentence")), pictures)


def _pictures(folder: Path, chain: _Chain, processes: int) -> SideBySide:
    events = []
    for protocol in chain.protocols:
        files = files_of([folder / protocol])
        if not files:
            raise Gap(f"{folder / protocol} no longer holds traces")
        trace = beginning_of(files, EVENTS)
        if trace.processes < processes:
            raise Gap(
                f"{folder / protocol} has traces of {trace.processes} of {processes} processes"
            )
        events.append(trace.events)
    left, right = chain.protocols
    try:
        return side_by_side(
            Run(left, events[0]),
            Run(right, chain.renamed(events[1])),
            chain,
            texts=chain.texts,
            width=PICTURE,
            themed=True,
        )
    except ReportError as problem:
        raise Gap(f"the traces in {folder} cannot be drawn ({problem})") from None


def _names(folder: Path, run: Any) -> list[Name]:
    names = []
    for text in strings(run.get("chain") if isinstance(run, dict) else None):
        sender, _, number = text.rpartition("#")
        if not number.isdecimal():
            raise Gap(f"{folder / ComparisonFolder.NOTE} has no message {text!r}")
        names.append((sender, int(number)))
    return names
