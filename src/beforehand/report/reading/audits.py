"""Audits: the verdict on each run, and its violations, each with its sentence and its diagram."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from beforehand.errors import ReportError
from beforehand.report.commands import instruction
from beforehand.report.model import AuditView, RunView, TableView, ViolationView
from beforehand.report.reading.chains import draw, messages_of
from beforehand.report.reading.context import Gap, PartContext, ReadingContext
from beforehand.report.reading.files import read_note, read_table
from beforehand.report.reading.traces import MessageKey, TraceRow, events_of, files_of
from beforehand.report.reading.values import provenance_of, strings, table_view
from beforehand.results.layout import AuditFolder
from beforehand.results.schema import text
from beforehand.results.tables.audit import VERDICTS, VIOLATIONS
from beforehand.results.violations import KINDS

LISTED: Final = 2_000  # violations in a report: more than anybody reads, and few enough to draw
_JUDGED: Final = VERDICTS.select("run", "verdict", "complete", "deliveries", *KINDS, "notes")
_BROKEN: Final = VIOLATIONS.select("run", "kind", "process", "sender", "seq", "chain", "sentence")
_TITLE: Final = text("title", "Protocol and network of the run.", "what ran")

Row = Mapping[str, Any]


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
    verdicts = part.attempt("the verdicts", partial(_verdicts, folder, note))
    if verdicts is None:
        return None
    broken = part.attempt("the violations", partial(_violations, folder, verdicts)) or []
    known = {run.name: run for run in runs}
    name = part.context.name(part.context.label(folder))
    listed = _shares(broken)
    events, gap = _events(listed, traces or strings(note.get("sources")))
    shown, problem = _shown(listed, known, events)
    counted = sum(row[kind] for row in verdicts for kind in KINDS)
    notes = [_rest(folder, len(listed), counted), gap, problem]
    return AuditView(
        name,
        f"{whose}: {_counted(verdicts)}",
        str(folder),
        provenance_of(note),
        _judged(f"{name}-verdicts", f"verdicts on {whose}", verdicts, known),
        shown,
        counted,
        (*(note for note in notes if note), *_unreadable(note)),
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


def _verdicts(folder: Path, note: Row) -> list[dict[str, Any]]:
    """A row for each run, those with violations first."""
    rows = read_table(folder / AuditFolder.VERDICTS, _JUDGED).to_pylist()
    if isinstance(note.get("runs"), int) and note["runs"] != len(rows):
        raise Gap(f"{folder / AuditFolder.VERDICTS} holds {len(rows):,} runs of {note['runs']:,}")
    _check_rows(
        folder / AuditFolder.VERDICTS, rows, [name for name in _JUDGED.names if name != "notes"]
    )
    return sorted(rows, key=lambda row: (row["verdict"] != "violated", row["run"]))


def _violations(folder: Path, verdicts: Sequence[Row]) -> list[dict[str, Any]]:
    """All that are listed, in the order of the verdicts and of the logs."""
    rows = read_table(folder / AuditFolder.VIOLATIONS, _BROKEN).to_pylist()
    _check_rows(
        folder / AuditFolder.VIOLATIONS,
        rows,
        [name for name in _BROKEN.names if name not in ("seq", "chain")],
    )
    if not rows and any(row[kind] for row in verdicts for kind in KINDS):
        raise Gap(f"{folder / AuditFolder.VIOLATIONS} is empty, although there are violations")
    places = {row["run"]: place for place, row in enumerate(verdicts)}
    known = [row for row in rows if row["run"] in places]
    return sorted(known, key=lambda row: (places[row["run"]], row["process"], row["seq"] or 0))


def _check_rows(folder: Path, rows: Iterable[Row], names: Sequence[str]) -> None:
    for row in rows:
        for name in names:
            if row[name] is None:
                raise Gap(f"{folder} has a row without {name!r}")


def _shares(rows: Sequence[Row]) -> list[Row]:
    """At most LISTED: all of runs with few, and of the others as many of each."""
    by_run: dict[str, list[Row]] = {}
    for row in rows:
        by_run.setdefault(row["run"], []).append(row)
    left, chosen = LISTED, {}
    for place, run in enumerate(sorted(by_run, key=lambda each: len(by_run[each]))):
        chosen[run] = by_run[run][: left // (len(by_run) - place)]
        left -= len(chosen[run])
    return [row for run in by_run for row in chosen[run]]


def _events(
    rows: Sequence[Row], sources: Sequence[str | Path]
) -> tuple[dict[MessageKey, list[TraceRow]], str]:
    """What the traces have about the chains, and a note if they cannot be read."""
    wanted = {message for row in rows for message in messages_of(row)}
    found: dict[MessageKey, list[TraceRow]] = {}
    if not wanted:
        return found, ""
    try:
        for event in events_of(files_of(sources), wanted):
            key = MessageKey(event.run, event.sender or "", event.mid or 0)
            found.setdefault(key, []).append(event)
    except (Gap, OSError) as gap:
        return {}, f"Diagrams are drawn without the trace: {gap}."
    return found, ""


def _shown(
    rows: Sequence[Row],
    known: Mapping[str, RunView],
    events: Mapping[MessageKey, Sequence[TraceRow]],
) -> tuple[tuple[ViolationView, ...], str]:
    """The violations of the report, and a note if some cannot be drawn."""
    found, problems = [], []
    for row in rows:
        try:
            diagram = draw(row, events)
        except ReportError as problem:
            diagram = None
            problems.append(str(problem))
        run = known.get(row["run"])
        found.append(
            ViolationView(
                row["run"],
                run.anchor if run else None,
                run.title if run else row["run"],
                row["kind"],
                row["sentence"],
                diagram,
            )
        )
    note = f"{len(problems):,} violations could not be drawn: {problems[0]}." if problems else ""
    return tuple(found), note


def _rest(folder: Path, listed: int, counted: int) -> str:
    if listed >= counted:
        return ""
    return (
        f"{listed:,} of {counted:,} violations are listed here, some of each run; "
        f"all that the auditor lists are in {folder / AuditFolder.VIOLATIONS}."
    )


def _counted(verdicts: Sequence[Row]) -> str:
    violated = sum(row["verdict"] == "violated" for row in verdicts)
    runs = "1 run" if len(verdicts) == 1 else f"{len(verdicts):,} runs"
    return f"{runs}, {violated:,} with violations" if violated else f"{runs}, no violations"


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
