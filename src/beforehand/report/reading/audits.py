"""Audits: the verdict on each run, and its violations, each with its sentence and its diagram."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from beforehand.errors import ReportError
from beforehand.report.contents import Audit, Run, Table, Violation
from beforehand.report.reading import commands
from beforehand.report.reading.chains import draw, messages_of
from beforehand.report.reading.columns import VERDICTS
from beforehand.report.reading.files import Columns, read_note, read_table
from beforehand.report.reading.register import Gap, Part, Register
from beforehand.report.reading.traces import Event, Message, events_of, files_of
from beforehand.report.reading.values import made_of, table_of, texts

LISTED: Final = 2_000  # violations in a report: more than anybody reads, and few enough to draw
KINDS: Final = ("causal", "fifo", "duplicate", "invented", "lost")
NOTE: Final = "_audit.json"
_JUDGED: Final[Columns] = {
    **dict.fromkeys(("run", "verdict"), "text"),
    **dict.fromkeys(("deliveries", *KINDS), "whole"),
    "complete": "truth",
    "notes": "texts",
}
_BROKEN: Final[Columns] = {
    **dict.fromkeys(("run", "kind", "process", "sender", "sentence"), "text"),
    "seq": "whole",
    "chain": "texts",
}

Row = Mapping[str, Any]


def read_audit(
    folder: Path,
    whose: str,
    part: Part,
    runs: Iterable[Run] = (),
    traces: Sequence[Path] = (),
) -> Audit | None:
    """All of an audit; None if there is nothing to show, which is then told.

    `runs` are those that the report has, `traces` the folders with their events, if they are known.
    """
    note = part.attempt("the verdicts", partial(read_note, folder / NOTE))
    if note is None:
        return None
    verdicts = part.attempt("the verdicts", partial(_verdicts, folder, note))
    if verdicts is None:
        return None
    broken = part.attempt("the violations", partial(_violations, folder, verdicts)) or []
    known = {run.name: run for run in runs}
    name = part.register.name(part.register.label(folder))
    listed = _shares(broken)
    events, gap = _events(listed, traces or texts(note.get("sources")))
    shown, problem = _shown(listed, known, events)
    counted = sum(row[kind] for row in verdicts for kind in KINDS)
    told = [_rest(folder, len(listed), counted), gap, problem]
    return Audit(
        name,
        f"{whose}: {_counted(verdicts)}",
        str(folder),
        made_of(note),
        _judged(f"{name}-verdicts", f"verdicts on {whose}", verdicts, known),
        shown,
        counted,
        (*(each for each in told if each), *_unreadable(note)),
    )


def _judged(name: str, title: str, verdicts: Sequence[Row], known: Mapping[str, Run]) -> Table:
    """The verdicts, with what ran and where it is in the report, if that is known."""
    runs = [known.get(row["run"]) for row in verdicts]
    rows = [
        {**row, "title": run.title if run else ""} for row, run in zip(verdicts, runs, strict=True)
    ]
    columns = [each for each in VERDICTS if known or each != "title"]
    anchors = tuple(run.anchor if run else None for run in runs)
    return table_of(name, title, columns, rows, VERDICTS, runs=anchors)


def _verdicts(folder: Path, note: Row) -> list[dict[str, Any]]:
    """A row for each run, those with violations first."""
    rows = read_table(folder / "verdicts", _JUDGED).to_pylist()
    if isinstance(note.get("runs"), int) and note["runs"] != len(rows):
        raise Gap(f"{folder / 'verdicts'} holds {len(rows):,} runs of {note['runs']:,}")
    _check_rows(folder / "verdicts", rows, [name for name in _JUDGED if name != "notes"])
    return sorted(rows, key=lambda row: (row["verdict"] != "violated", row["run"]))


def _violations(folder: Path, verdicts: Sequence[Row]) -> list[dict[str, Any]]:
    """All that are listed, in the order of the verdicts and of the logs."""
    rows = read_table(folder / "violations", _BROKEN).to_pylist()
    _check_rows(
        folder / "violations", rows, [name for name in _BROKEN if name not in ("seq", "chain")]
    )
    if not rows and any(row[kind] for row in verdicts for kind in KINDS):
        raise Gap(f"{folder / 'violations'} is empty, although there are violations")
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
) -> tuple[dict[Message, list[Event]], str]:
    """What the traces have about the chains, and what is to be said if they cannot be read."""
    wanted = {message for row in rows for message in messages_of(row)}
    found: dict[Message, list[Event]] = {}
    if not wanted:
        return found, ""
    try:
        for event in events_of(files_of(sources), wanted):
            key = Message(event.run, event.sender or "", event.mid or 0)
            found.setdefault(key, []).append(event)
    except (Gap, OSError) as gap:
        return {}, f"Diagrams are drawn without the trace: {gap}."
    return found, ""


def _shown(
    rows: Sequence[Row], known: Mapping[str, Run], events: Mapping[Message, Sequence[Event]]
) -> tuple[tuple[Violation, ...], str]:
    """The violations of the report, and what is to be said if some cannot be drawn."""
    found, problems = [], []
    for row in rows:
        try:
            diagram = draw(row, events)
        except ReportError as problem:
            diagram = None
            problems.append(str(problem))
        run = known.get(row["run"])
        found.append(
            Violation(
                row["run"],
                run.anchor if run else None,
                run.title if run else row["run"],
                row["kind"],
                row["sentence"],
                diagram,
            )
        )
    told = f"{len(problems):,} violations could not be drawn: {problems[0]}." if problems else ""
    return tuple(found), told


def _rest(folder: Path, listed: int, counted: int) -> str:
    if listed >= counted:
        return ""
    return (
        f"{listed:,} of {counted:,} violations are listed here, some of each run; "
        f"all that the auditor lists are in {folder / 'violations'}."
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


def read_lone_audit(folder: Path, register: Register) -> Audit | None:
    """An audit that belongs to no study."""
    label = register.label(folder)
    again = commands.line("audit", "TRACES", "--out", str(folder))
    return read_audit(folder, label, register.part(f"the audit {label}", f"run `{again}` again"))
