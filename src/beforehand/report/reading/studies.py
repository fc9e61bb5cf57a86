"""Studies: what was replayed, the figures, the advice, all runs, and their audit.

What belongs together is read together: the sweep and the audit in the folder of a study are its own.
Also an ingest, and the characteristics of one, are shown as a study: one that has not been replayed.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from beforehand.report.commands import instruction
from beforehand.report.model import AdviceView, RunView, StudyView, TableView
from beforehand.report.reading.audits import read_audit
from beforehand.report.reading.context import Gap, PartContext, ReadingContext
from beforehand.report.reading.files import clear, read_note, read_rows, read_table
from beforehand.report.reading.results import read_results, run_of, with_violations
from beforehand.report.reading.values import Row, provenance_of, string, strings, whole_table
from beforehand.results.format import counted
from beforehand.results.layout import CharacteristicsFolder, IngestFolder, StudyFolder
from beforehand.results.tables.characteristics import TABLES
from beforehand.results.tables.study import PROTOCOLS, RECOMMENDATION

CHARACTERISTICS: Final = ("runs", "processes", "summaries")  # the tables that are shown
_NEEDED: Final = PROTOCOLS.without("metadata", "held_p99", "integers_mean")
MOST_ROWS: Final = 500  # of a table of characteristics; a workload may have a million processes


def read_study(folder: Path, context: ReadingContext) -> StudyView:
    """All of a study that is there."""
    label = context.label(folder)
    about = _about(folder)
    again = context.commands.study(about, folder, False)
    resume = f"{instruction(again, 'run the study')} again: it resumes where it stopped"
    afresh = instruction(context.commands.study(about, folder, True), "run the study afresh")
    part = context.part(f"the study {label}", resume, f"{afresh} to redo all of it")
    tables = context.part(f"the study {label}", resume)  # written anew whenever a study is resumed
    name = context.name(label)
    note = tables.attempt("the comparison", partial(read_note, folder / StudyFolder.NOTE)) or {}
    made = provenance_of(note)
    made = made if made.command else replace(made, command=again)
    runs, traces = _runs(folder / StudyFolder.SWEEP, context, part, made.command)
    # Without the note, the tables may be of an earlier call.
    protocols = _protocols(folder, name, runs, tables) if note else None
    if protocols is not None:
        runs = _in_order(runs, protocols)
    run = string(note.get("run"))
    audited = f"the replays of {run or label}"
    advice = tables.attempt("the advice", partial(_advice, folder)) if note else None
    skipped = note.get("left_out")
    audit = read_audit(folder / StudyFolder.AUDIT, audited, part, runs, traces)
    return StudyView(
        name,
        string(note.get("title")) or _title(label, note),
        str(folder),
        made,
        string(note.get("told")),
        strings(note.get("sentences")),
        tuple(advice or ()),
        protocols,
        _characteristics(folder / StudyFolder.CHARACTERISTICS, name, part, run),
        tuple((str(k), str(v)) for k, v in skipped.items()) if isinstance(skipped, dict) else (),
        with_violations(runs, audit.verdicts) if audit else runs,
        audit,
        made.command,
    )


def _about(folder: Path) -> dict[str, Any]:
    """The sources of the study; only needed for the command that resumes it, so it may be damaged."""
    try:
        return read_note(folder / StudyFolder.SOURCE)
    except (Gap, OSError):
        return {}


def _title(label: str, note: Row) -> str:
    messages, processes = note.get("messages"), note.get("processes")
    if not isinstance(messages, int) or not isinstance(processes, int):
        return label
    return f"{note.get('run', label)}: {processes:,} processes, {messages:,} messages"


def _runs(
    folder: Path, context: ReadingContext, part: PartContext, command: str
) -> tuple[tuple[RunView, ...], list[Path]]:
    """The replays, and where their traces are."""
    results = read_results(folder, part)
    if not results.rows:
        part.miss("the replays", f"there is no complete one in {folder}")
    runs = []
    for row in results.rows:
        protocol, network = row["protocol"], row["network"]
        again = context.commands.study_run(command, protocol, network)
        runs.append(run_of(row, f"{protocol} on {network}", again, results, context))
    return tuple(runs), sorted(set(results.traces.values()))


def _protocols(
    folder: Path, name: str, runs: Sequence[RunView], part: PartContext
) -> TableView | None:
    """The table as it is, with links to the runs."""
    where = folder / StudyFolder.TABLES / StudyFolder.PROTOCOLS
    table = part.attempt("the comparison", partial(read_table, where, _NEEDED))
    if table is None:
        return None
    anchors = {run.name: run.anchor for run in runs}
    view = whole_table(f"{name}-protocols", "protocols compared", table, PROTOCOLS)
    return replace(view, runs=tuple(anchors.get(run) for run in table["run"].to_pylist()))


def _in_order(runs: Sequence[RunView], protocols: TableView) -> tuple[RunView, ...]:
    """As in the table; runs of earlier calls, which are not in it, come last."""
    ranks = {anchor: rank for rank, anchor in enumerate(protocols.runs)}
    return tuple(sorted(runs, key=lambda run: ranks.get(run.anchor, len(ranks))))


def _advice(folder: Path) -> list[AdviceView]:
    where = folder / StudyFolder.TABLES / StudyFolder.RECOMMENDATION
    return [
        AdviceView(row["situation"], tuple(row["protocols"] or ()), row["sentence"])
        for row in sorted(read_rows(where, RECOMMENDATION), key=itemgetter("place"))
    ]


def _characteristics(folder: Path, name: str, part: PartContext, run: str) -> tuple[TableView, ...]:
    """The tables about the workload; of one run, if it is known which."""
    path = folder / CharacteristicsFolder.NOTE
    if part.attempt("the characteristics", partial(read_note, path)) is None:
        return ()
    views = []
    for table in CHARACTERISTICS:
        rows = part.attempt(f"the {table}", partial(_of_run, folder / table, run))
        if rows is None:
            continue
        title = f"{table} of the workload"
        if rows.num_rows > MOST_ROWS:
            title += f", the first {MOST_ROWS:,} of {rows.num_rows:,}; all are in {folder / table}"
        views.append(whole_table(f"{name}-{table}", title, rows[:MOST_ROWS], TABLES[table]))
    return tuple(views)


def _of_run(folder: Path, run: str) -> pa.Table:
    """The rows of a run, or of all runs, in an order that does not depend on files."""
    table = read_table(folder, TABLES[folder.name].select("run"))
    with clear(folder):
        rows = table.sort_by([(column, "ascending") for column in table.column_names[:3]])
        return rows.filter(pc.equal(rows["run"], run)) if run else rows


def read_traffic(folder: Path, context: ReadingContext) -> StudyView:
    """An ingest, or characteristics alone: a workload that has not been replayed."""
    label = context.label(folder)
    name = context.name(label)
    notes = (folder / IngestFolder.NOTE, folder / CharacteristicsFolder.NOTE)
    lone = not notes[0].exists() and notes[1].exists()
    characterise = instruction(context.commands.characterise(folder), "characterise it")
    remedy = "characterise its ingest again" if lone else characterise
    part = context.part(f"the workload {label}", remedy)
    ingest = (
        None if lone else part.attempt("the ingest", partial(read_note, folder / IngestFolder.NOTE))
    )
    note = ingest or {}
    study = context.commands.suggestions.study
    unstudied = context.part(f"the workload {label}", instruction(study, "study its sources"))
    unstudied.miss("the comparison of protocols", "it has not been replayed")
    tables = folder if lone else folder / IngestFolder.CHARACTERISTICS
    messages = note.get("messages")
    return StudyView(
        name,
        f"{label}: {counted(messages, 'message')}" if isinstance(messages, int) else label,
        str(folder),
        provenance_of(note),
        characteristics=_characteristics(tables, name, part, ""),
        command=study,
    )
