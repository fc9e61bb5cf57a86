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

from beforehand.report.contents import Advice, Made, Run, Study, Table
from beforehand.report.reading import commands
from beforehand.report.reading.audits import read_audit
from beforehand.report.reading.columns import CHARACTERISTICS, PROTOCOLS
from beforehand.report.reading.files import Columns, clear, read_note, read_table
from beforehand.report.reading.register import Gap, Part, Register
from beforehand.report.reading.results import Row, read_results, run_of
from beforehand.report.reading.values import made_of, text, texts, whole_table

ABOUT: Final = "_source.json"
NOTE: Final = "_study.json"
_COMPARED: Final[Columns] = {
    **dict.fromkeys(("protocol", "network", "run", "outcome", "verdict", "error"), "text"),
    **dict.fromkeys(("violations", "causal_violations", "deliveries", "waiting_peak"), "whole"),
    **dict.fromkeys(("latency_mean", "latency_p99", "held_mean", "metadata_per_message"), "real"),
    **dict.fromkeys(("control_per_message", "wire_per_message", "integers_peak"), "real"),
    "causal": "truth",
}
_ADVISED: Final[Columns] = {
    **dict.fromkeys(("situation", "sentence"), "text"),
    "place": "whole",
    "protocols": "texts",
}
_OF_RUNS: Final[Columns] = {"run": "text"}
MOST_ROWS: Final = 500  # of a table of characteristics; a traffic may have a million processes


def read_study(folder: Path, register: Register) -> Study:
    """All of a study that is there."""
    label = register.label(folder)
    about = _about(folder)
    again = commands.study(about, folder)
    goes_on = f"run `{again}` again: it goes on where it was"
    part = register.part(f"the study {label}", goes_on, f"`{again} --force` makes all of it anew")
    in_the_end = register.part(f"the study {label}", goes_on)  # made at every call
    name = register.name(label)
    note = in_the_end.attempt("the comparison", partial(read_note, folder / NOTE)) or {}
    made = made_of(note) if note else Made("")
    made = made if made.command else replace(made, command=again)
    runs, traces = _runs(folder / "sweep", register, part, made.command)
    # Without its note, what there is of the tables may be of another call.
    protocols = _protocols(folder, name, runs, in_the_end) if note else None
    if protocols is not None:
        runs = _in_order(runs, protocols)
    return Study(
        name,
        text(note.get("title")) or _title(label, note),
        str(folder),
        made,
        text(note.get("told")),
        texts(note.get("sentences")),
        tuple(in_the_end.attempt("the advice", partial(_advice, folder)) or ()) if note else (),
        protocols,
        _characteristics(folder / "characteristics", name, part, text(note.get("run"))),
        _left_out(note),
        runs,
        read_audit(
            folder / "audit", f"the replays of {text(note.get('run')) or label}", part, runs, traces
        ),
    )


def _about(folder: Path) -> dict[str, Any]:
    """What the folder is about; only to tell how to go on, so it may be damaged."""
    try:
        return read_note(folder / ABOUT)
    except (Gap, OSError):
        return {}


def _title(label: str, note: Row) -> str:
    if not isinstance(note.get("messages"), int) or not isinstance(note.get("processes"), int):
        return label
    return (
        f"{note.get('run', label)}: {note['processes']:,} processes, {note['messages']:,} messages"
    )


def _runs(
    folder: Path, register: Register, part: Part, command: str
) -> tuple[tuple[Run, ...], list[Path]]:
    """The replays, and where their traces are."""
    results = read_results(folder, part)
    if not results.rows:
        part.miss("the replays", f"no complete one was found in {folder}")
    runs = tuple(
        run_of(
            row,
            f"{row['protocol']} on {row['network']}",
            commands.one_of_study(command, row["protocol"], row["network"]),
            results,
            register,
        )
        for row in results.rows
    )
    return runs, sorted(set(results.traces.values()))


def _protocols(folder: Path, name: str, runs: Sequence[Run], part: Part) -> Table | None:
    """The table as it is, with links to the runs."""
    where = folder / "study" / "protocols"
    found = part.attempt("the comparison", partial(read_table, where, _COMPARED))
    if found is None:
        return None
    anchors = {run.name: run.anchor for run in runs}
    table = whole_table(f"{name}-protocols", "protocols compared", found, PROTOCOLS)
    return replace(table, runs=tuple(anchors.get(run) for run in found["run"].to_pylist()))


def _in_order(runs: Sequence[Run], protocols: Table) -> tuple[Run, ...]:
    """As in the table; runs of earlier calls, which are not in it, come last."""
    places = {anchor: place for place, anchor in enumerate(protocols.runs)}
    return tuple(sorted(runs, key=lambda run: places.get(run.anchor, len(places))))


def _advice(folder: Path) -> list[Advice]:
    where = folder / "study" / "recommendation"
    rows = read_table(where, _ADVISED).to_pylist()
    if any(value is None for row in rows for value in row.values()):
        raise Gap(f"{where} has a row that is not complete")
    return [
        Advice(row["situation"], tuple(row["protocols"]), row["sentence"])
        for row in sorted(rows, key=lambda row: int(row["place"]))
    ]


def _left_out(note: Row) -> tuple[tuple[str, str], ...]:
    found = note.get("left_out")
    return tuple((str(k), str(v)) for k, v in found.items()) if isinstance(found, dict) else ()


def _characteristics(folder: Path, name: str, part: Part, run: str) -> tuple[Table, ...]:
    """The tables about the traffic; of one run, if it is known which."""
    if (
        part.attempt("the characteristics", partial(read_note, folder / "_characteristics.json"))
        is None
    ):
        return ()
    found = []
    for table, meanings in CHARACTERISTICS.items():
        rows = part.attempt(f"the {table}", partial(_of_run, folder / table, run))
        if rows is None:
            continue
        title = f"{table} of the traffic"
        if rows.num_rows > MOST_ROWS:
            title += f", the first {MOST_ROWS:,} of {rows.num_rows:,}; all are in {folder / table}"
        found.append(whole_table(f"{name}-{table}", title, rows[:MOST_ROWS], meanings))
    return tuple(found)


def _of_run(folder: Path, run: str) -> pa.Table:
    """The rows of a run, or of all runs, in an order that does not depend on files."""
    found = read_table(folder, _OF_RUNS)
    with clear(folder):
        rows = found.sort_by([(column, "ascending") for column in found.column_names[:3]])
        return rows.filter(pc.equal(rows["run"], run)) if run else rows


def read_traffic(folder: Path, register: Register) -> Study:
    """An ingest, or characteristics alone: a traffic that nobody has replayed."""
    label = register.label(folder)
    name = register.name(label)
    lone = not (folder / "_ingest.json").exists() and (folder / "_characteristics.json").exists()
    ingested = commands.line("characterise", str(folder))
    part = register.part(
        f"the traffic {label}",
        "run `beforehand characterise` on its ingest again" if lone else f"run `{ingested}`",
    )
    note: Mapping[str, Any] = {}
    if not lone:
        note = part.attempt("the ingest", partial(_ingest, folder)) or {}
    register.part(f"the traffic {label}", "run `beforehand study` with its sources").miss(
        "the comparison of protocols", "it has not been replayed"
    )
    there = folder if lone else folder / "characteristics"
    return Study(
        name,
        f"{label}: {note['messages']:,} messages"
        if isinstance(note.get("messages"), int)
        else label,
        str(folder),
        made_of(note),
        "",
        (),
        (),
        None,
        _characteristics(there, name, part, ""),
        (),
        (),
        None,
    )


def _ingest(folder: Path) -> dict[str, Any]:
    if (folder / "_ingest-unfinished.json").exists():
        raise Gap(
            f"an ingest into {folder} did not finish; run `beforehand ingest` again, and then"
        )
    return read_note(folder / "_ingest.json")
