"""Studies: what was replayed, the figures, the advice, all runs, and their audit.

What belongs together is read together: the sweep and the audit in the folder of a study are its own.
Also an ingest, and the characteristics of one, are shown as a study: one that has not been replayed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from beforehand.report.commands import instruction
from beforehand.report.model import AdviceView, Provenance, RunView, StudyView, TableView
from beforehand.report.reading.audits import read_audit
from beforehand.report.reading.context import Gap, PartContext, ReadingContext
from beforehand.report.reading.files import clear, read_note, read_table
from beforehand.report.reading.results import Row, read_results, run_of
from beforehand.report.reading.values import provenance_of, string, strings, whole_table
from beforehand.results.layout import CharacteristicsFolder, IngestFolder, StudyFolder
from beforehand.results.tables.characteristics import TABLES
from beforehand.results.tables.study import PROTOCOLS, RECOMMENDATION

CHARACTERISTICS: Final = ("runs", "processes", "summaries")  # the tables that are shown
_COMPARED: Final = PROTOCOLS.select(
    *[
        "protocol",
        "network",
        "run",
        "outcome",
        "verdict",
        "error",
        "violations",
        "causal_violations",
        "deliveries",
        "waiting_peak",
        "latency_mean",
        "latency_p99",
        "held_mean",
        "metadata_per_message",
        "control_per_message",
        "wire_per_message",
        "integers_peak",
        "causal",
    ]
)
MOST_ROWS: Final = 500  # of a table of characteristics; a traffic may have a million processes


def read_study(folder: Path, context: ReadingContext) -> StudyView:
    """All of a study that is there."""
    label = context.label(folder)
    about = _about(folder)
    again = context.commands.study(about, folder, False)
    goes_on = f"{instruction(again, 'run the study')} again: it resumes where it stopped"
    afresh = instruction(context.commands.study(about, folder, True), "run the study afresh")
    part = context.part(f"the study {label}", goes_on, f"{afresh} to make all of it anew")
    in_the_end = context.part(f"the study {label}", goes_on)  # made at every call
    name = context.name(label)
    note = in_the_end.attempt("the comparison", partial(read_note, folder / StudyFolder.NOTE)) or {}
    made = provenance_of(note) if note else Provenance("")
    made = made if made.command else replace(made, command=again)
    runs, traces = _runs(folder / StudyFolder.SWEEP, context, part, made.command)
    # Without its note, what there is of the tables may be of another call.
    protocols = _protocols(folder, name, runs, in_the_end) if note else None
    if protocols is not None:
        runs = _in_order(runs, protocols)
    run = string(note.get("run"))
    return StudyView(
        name,
        string(note.get("title")) or _title(label, note),
        str(folder),
        made,
        string(note.get("told")),
        strings(note.get("sentences")),
        tuple(in_the_end.attempt("the advice", partial(_advice, folder)) or ()) if note else (),
        protocols,
        _characteristics(folder / StudyFolder.CHARACTERISTICS, name, part, run),
        _skipped(note),
        runs,
        read_audit(
            folder / StudyFolder.AUDIT,
            f"the replays of {string(note.get('run')) or label}",
            part,
            runs,
            traces,
        ),
        made.command,
    )


def _about(folder: Path) -> dict[str, Any]:
    """The sources of the study; only needed for the command that resumes it, so it may be damaged."""
    try:
        return read_note(folder / StudyFolder.SOURCE)
    except (Gap, OSError):
        return {}


def _title(label: str, note: Row) -> str:
    if not isinstance(note.get("messages"), int) or not isinstance(note.get("processes"), int):
        return label
    return (
        f"{note.get('run', label)}: {note['processes']:,} processes, {note['messages']:,} messages"
    )


def _runs(
    folder: Path, context: ReadingContext, part: PartContext, command: str
) -> tuple[tuple[RunView, ...], list[Path]]:
    """The replays, and where their traces are."""
    results = read_results(folder, part)
    if not results.rows:
        part.miss("the replays", f"no complete one was found in {folder}")
    runs = tuple(
        run_of(
            row,
            f"{row['protocol']} on {row['network']}",
            context.commands.study_run(command, row["protocol"], row["network"]),
            results,
            context,
        )
        for row in results.rows
    )
    return runs, sorted(set(results.traces.values()))


def _protocols(
    folder: Path, name: str, runs: Sequence[RunView], part: PartContext
) -> TableView | None:
    """The table as it is, with links to the runs."""
    where = folder / StudyFolder.TABLES / StudyFolder.PROTOCOLS
    found = part.attempt("the comparison", partial(read_table, where, _COMPARED))
    if found is None:
        return None
    anchors = {run.name: run.anchor for run in runs}
    table = whole_table(f"{name}-protocols", "protocols compared", found, PROTOCOLS)
    return replace(table, runs=tuple(anchors.get(run) for run in found["run"].to_pylist()))


def _in_order(runs: Sequence[RunView], protocols: TableView) -> tuple[RunView, ...]:
    """As in the table; runs of earlier calls, which are not in it, come last."""
    places = {anchor: place for place, anchor in enumerate(protocols.runs)}
    return tuple(sorted(runs, key=lambda run: places.get(run.anchor, len(places))))


def _advice(folder: Path) -> list[AdviceView]:
    where = folder / StudyFolder.TABLES / StudyFolder.RECOMMENDATION
    rows = read_table(where, RECOMMENDATION).to_pylist()
    if any(value is None for row in rows for value in row.values()):
        raise Gap(f"{where} has a row that is not complete")
    return [
        AdviceView(row["situation"], tuple(row["protocols"]), row["sentence"])
        for row in sorted(rows, key=lambda row: int(row["place"]))
    ]


def _skipped(note: Row) -> tuple[tuple[str, str], ...]:
    found = note.get("left_out")
    return tuple((str(k), str(v)) for k, v in found.items()) if isinstance(found, dict) else ()


def _characteristics(folder: Path, name: str, part: PartContext, run: str) -> tuple[TableView, ...]:
    """The tables about the traffic; of one run, if it is known which."""
    if (
        part.attempt("the characteristics", partial(read_note, folder / CharacteristicsFolder.NOTE))
        is None
    ):
        return ()
    found = []
    for table in CHARACTERISTICS:
        rows = part.attempt(f"the {table}", partial(_of_run, folder / table, run))
        if rows is None:
            continue
        title = f"{table} of the traffic"
        if rows.num_rows > MOST_ROWS:
            title += f", the first {MOST_ROWS:,} of {rows.num_rows:,}; all are in {folder / table}"
        found.append(whole_table(f"{name}-{table}", title, rows[:MOST_ROWS], TABLES[table]))
    return tuple(found)


def _of_run(folder: Path, run: str) -> pa.Table:
    """The rows of a run, or of all runs, in an order that does not depend on files."""
    found = read_table(folder, TABLES[folder.name].select("run"))
    with clear(folder):
        rows = found.sort_by([(column, "ascending") for column in found.column_names[:3]])
        return rows.filter(pc.equal(rows["run"], run)) if run else rows


def read_traffic(folder: Path, context: ReadingContext) -> StudyView:
    """An ingest, or characteristics alone: a traffic that nobody has replayed."""
    label = context.label(folder)
    name = context.name(label)
    lone = (
        not (folder / IngestFolder.NOTE).exists() and (folder / CharacteristicsFolder.NOTE).exists()
    )
    characterise = instruction(context.commands.characterise(folder), "characterise it")
    part = context.part(
        f"the traffic {label}",
        "characterise its ingest again" if lone else characterise,
    )
    note: Mapping[str, Any] = {}
    if not lone:
        note = part.attempt("the ingest", partial(_ingest, folder)) or {}
    context.part(
        f"the traffic {label}", instruction(context.commands.new_study(), "study its sources")
    ).miss("the comparison of protocols", "it has not been replayed")
    there = folder if lone else folder / IngestFolder.CHARACTERISTICS
    return StudyView(
        name,
        f"{label}: {note['messages']:,} messages"
        if isinstance(note.get("messages"), int)
        else label,
        str(folder),
        provenance_of(note),
        characteristics=_characteristics(there, name, part, ""),
        command=context.commands.new_study(),
    )


def _ingest(folder: Path) -> dict[str, Any]:
    if (folder / IngestFolder.UNFINISHED).exists():
        raise Gap(f"an ingest into {folder} did not finish; run the ingest again, and then")
    return read_note(folder / IngestFolder.NOTE)
