"""Audits: the verdict on each run, and its violations, each with its sentence and its diagram."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from beforehand.errors import ReportError
from beforehand.report.commands import instruction
from beforehand.report.model import AuditView, RunView, TableView, ViolationView
from beforehand.report.reading.chains import draw, messages_of
from beforehand.report.reading.context import Gap, PartContext, ReadingContext
from beforehand.report.reading.files import read_note, read_rows
from beforehand.report.reading.traces import MessageKey, TraceRow, events_of, files_of
from beforehand.report.reading.values import Row, provenance_of, strings, table_view
from beforehand.results.format import counted
from beforehand.results.layout import AuditFolder
from beforehand.results.schema import text
from beforehand.results.tables.audit import VERDICTS, VIOLATIONS
from beforehand.results.violations import KINDS

LISTED: Final = 2_000  # violations in a report: more than anybody reads, and few enough to draw
_JUDGED: Final = VERDICTS.select("run", "verdict", "complete", "deliveries", *KINDS, "notes")
_BROKEN: Final = VIOLATIONS.without("mid", "early")
_TITLE: Final = text("title", "Protocol and network of the run.", "what ran")


def read_audit(
    folder: Path,
    whose: str,
    part: PartContext,
    runs: Iterable[RunView] = (),
    traces: Sequence[Path] = (),
) -> AuditView | None:
    """Read an audit; None if it has no usable verdicts, which is then listed as missing.

    `runs` are those that the report has, `traces` the folders with their events, if they are known.
    """
    note = part.attempt("the verdicts", partial(read_note, folder / AuditFolder.NOTE))
    if note is None:
        return None
    verdicts = part.attempt("the verdicts", partial(_verdicts, folder / AuditFolder.VERDICTS, note))
    if verdicts is None:
        return None
    table = folder / AuditFolder.VIOLATIONS
    violations = part.attempt("the violations", partial(_violations, table, verdicts)) or []
    known = {run.name: run for run in runs}
    name = part.context.name(part.context.label(folder))
    listed = _shares(violations)
    events, unread = _events(listed, traces or strings(note.get("sources")))
    views, undrawn = _views(listed, known, events)
    total = sum(row[kind] for row in verdicts for kind in KINDS)
    unlisted = (
        f"{len(listed):,} of {total:,} violations are listed here, some of each run; "
        f"all that the auditor lists are in {table}."
    )
    notes = [unlisted if len(listed) < total else "", unread, undrawn, *_unreadable(note)]
    violated = sum(row["verdict"] == "violated" for row in verdicts)
    outcome = f"{violated:,} with violations" if violated else "no violations"
    return AuditView(
        name,
        f"{whose}: {counted(len(verdicts), 'run')}, {outcome}",
        str(folder),
        provenance_of(note),
        _judged(f"{name}-verdicts", f"verdicts on {whose}", verdicts, known),
        views,
        total,
        tuple(filter(None, notes)),
    )


def _judged(
    name: str, title: str, verdicts: Sequence[Row], known: Mapping[str, RunView]
) -> TableView:
    """The verdicts, with what ran and where it is in the report, if that is known."""
    runs = [known.get(row["run"]) for row in verdicts]
    rows = [
        {**row, "title": run.title if run else ""} for row, run in zip(verdicts, runs, strict=True)
    ]
    run_column, *others = VERDICTS
    columns = [run_column, *((_TITLE,) if known else ()), *others]
    anchors = tuple(run.anchor if run else None for run in runs)
    return table_view(name, title, columns, rows, anchors)


def _verdicts(folder: Path, note: Row) -> list[Row]:
    """A row for each run, those with violations first."""
    rows = read_rows(folder, _JUDGED)
    if isinstance(note.get("runs"), int) and note["runs"] != len(rows):
        raise Gap(f"{folder} holds {len(rows):,} runs of {note['runs']:,}")
    return sorted(rows, key=lambda row: (row["verdict"] != "violated", row["run"]))


def _violations(folder: Path, verdicts: Sequence[Row]) -> list[Row]:
    """All violations in the table, in the order of the verdicts and of the logs."""
    rows = read_rows(folder, _BROKEN)
    if not rows and any(row[kind] for row in verdicts for kind in KINDS):
        raise Gap(f"{folder} is empty, although there are violations")
    ranks = {row["run"]: rank for rank, row in enumerate(verdicts)}
    known = [row for row in rows if row["run"] in ranks]
    return sorted(known, key=lambda row: (ranks[row["run"]], row["process"], row["seq"] or 0))


def _shares(violations: Sequence[Row]) -> list[Row]:
    """At most LISTED: all of runs with few, and an equal share of the others."""
    by_run: dict[str, list[Row]] = {}
    for row in violations:
        by_run.setdefault(row["run"], []).append(row)
    left, chosen = LISTED, {}
    for index, run in enumerate(sorted(by_run, key=lambda run: len(by_run[run]))):
        chosen[run] = by_run[run][: left // (len(by_run) - index)]
        left -= len(chosen[run])
    return [row for run in by_run for row in chosen[run]]


def _events(
    violations: Sequence[Row], sources: Sequence[str | Path]
) -> tuple[dict[MessageKey, list[TraceRow]], str]:
    """The events of the messages in all chains, and a note if the traces cannot be read."""
    wanted = {message for row in violations for message in messages_of(row)}
    events: dict[MessageKey, list[TraceRow]] = {}
    try:
        for event in events_of(files_of(sources), wanted) if wanted else ():
            key = MessageKey(event.run, event.sender or "", event.mid or 0)
            events.setdefault(key, []).append(event)
    except (Gap, OSError) as gap:
        return {}, f"Diagrams are drawn without the trace: {gap}."
    return events, ""


def _views(
    violations: Sequence[Row],
    known: Mapping[str, RunView],
    events: Mapping[MessageKey, Sequence[TraceRow]],
) -> tuple[tuple[ViolationView, ...], str]:
    """The violations of the report, and a note if some cannot be drawn."""
    views, problems = [], []
    for row in violations:
        try:
            diagram = draw(row, events)
        except ReportError as problem:
            diagram = None
            problems.append(str(problem))
        name, run = row["run"], known.get(row["run"])
        anchor, title = (run.anchor, run.title) if run else (None, name)
        views.append(ViolationView(name, anchor, title, row["kind"], row["sentence"], diagram))
    undrawn = counted(len(problems), "violation")
    return tuple(views), f"{undrawn} could not be drawn: {problems[0]}." if problems else ""


def _unreadable(note: Row) -> list[str]:
    """Files that the auditor could not read."""
    files = note.get("unreadable")
    if not isinstance(files, dict):
        return []
    return [f"{file}: not audited: {problem}" for file, problem in sorted(files.items())]


def read_lone_audit(folder: Path, context: ReadingContext) -> AuditView | None:
    """An audit that belongs to no study."""
    label = context.label(folder)
    again = instruction(context.commands.audit("TRACES", str(folder)), "run the audit")
    return read_audit(folder, label, context.part(f"the audit {label}", f"{again} again"))
