"""Sweeps: the table of their runs, and the tables of `metrics/` as they are."""

from collections.abc import Sequence
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Final

from beforehand.report.commands import instruction
from beforehand.report.model import Provenance, SweepView, TableView
from beforehand.report.reading.context import ReadingContext
from beforehand.report.reading.files import read_note, read_table
from beforehand.report.reading.results import Results, read_results, run_of
from beforehand.report.reading.values import (
    Row,
    column,
    provenance_of,
    table_view,
    whole_table,
)
from beforehand.results.format import counted
from beforehand.results.layout import SweepFolder
from beforehand.results.schema import Schema, real
from beforehand.results.tables.metrics import EXPONENTS, TABLE1
from beforehand.results.tables.sweep import RESULTS

# What people compare; a run has much more, which is shown with it.
COMPARED: Final = [
    "protocol",
    "workload",
    "network",
    "processes",
    "messages",
    "seed",
    "setting",
    "outcome",
    "violations",
    "latency_mean",
    "latency_p99",
    "noncausal_mean",
    "held_time_mean",
    "held_time_p99",
    "metadata_bytes_per_message",
    "control_frames_per_message",
    "wire_bytes",
    "integers_mean",
    "integers_peak",
    "held_peak",
    "buffered_peak",
    "most_in_transit",
    "execution_ns",
    "sent",
    "delivered",
    "seconds",
    "seconds_per_message",
    "run",
    "error",
]
_CLAIMED: Final = [
    "protocol",
    "claimed_message_space",
    "metadata_bytes",
    "metadata_exponent",
    "integers_mean",
    "state_exponent",
]
_FITTED: Final = ("protocol", "network", "workload", "y", "x", "exponent", "r2")
_WORK: Final = real(
    "seconds_per_message",
    "Wall-clock time of the simulator per message: only good for large differences.",
    "work",
    "seconds",
)


def read_sweep(folder: Path, context: ReadingContext) -> SweepView:
    """All of a sweep."""
    label = context.label(folder)
    name = context.name(label)
    again = instruction(context.commands.sweep(folder), f"run the sweep in {folder}")
    again += " with its grid again"
    part = context.part(
        f"the sweep {label}",
        f"{again}: it completes what is missing",
        f"delete the note of that wave in {folder / SweepFolder.WAVES}, and {again}",
    )
    results = read_results(folder, part)
    if not results.rows:
        part.miss("the results", f"there is no complete run in {folder}")
    runs = tuple(
        run_of(row, _title(row), results.commands.get(row["run"], ""), results, context)
        for row in results.rows
    )
    anchors = tuple(run.anchor for run in runs)
    metrics = folder / SweepFolder.METRICS
    return SweepView(
        name,
        f"{label}: {_counted(results)}",
        str(folder),
        _made(results, metrics, context),
        _compared(name, label, results, anchors) if results.rows else None,
        _metrics(metrics / SweepFolder.TABLE1, TABLE1, _CLAIMED, name, context),
        _metrics(metrics / SweepFolder.EXPONENTS, EXPONENTS, _FITTED, name, context),
        runs,
    )


def _title(row: Row) -> str:
    parts = [f"{row['protocol']} on {row['network']}", row["workload"]]
    parts += [f"{row['processes']:,} processes", f"seed {row['seed']}", row["setting"]]
    return ", ".join(part for part in parts if part)


def _counted(results: Results) -> str:
    failed = sum(row["error"] is not None for row in results.rows)
    protocols = len({row["protocol"] for row in results.rows})
    summary = f"{counted(len(results.rows), 'run')} of {counted(protocols, 'protocol')}"
    return f"{summary}, {failed:,} failed" if failed else summary


def _compared(name: str, label: str, results: Results, anchors: tuple[str, ...]) -> TableView:
    rows = []
    for row in results.rows:
        seconds, sent = row.get("seconds"), row.get("sent")
        work = seconds / sent if seconds is not None and sent else None
        rows.append({**row, _WORK.name: work})
    schema = Schema(*RESULTS, _WORK)
    columns = [column(name, schema) for name in COMPARED]
    return table_view(f"{name}-runs", f"runs of {label}", columns, rows, anchors)


def _metrics(
    folder: Path, schema: Schema, needed: Sequence[str], sweep: str, context: ReadingContext
) -> TableView | None:
    """A metrics table, if they have been computed."""
    if not folder.parent.exists():
        return None
    name, out = folder.name, folder.parent.parent
    again = instruction(context.commands.tables(out), "compute the metrics tables")
    part = context.part(f"the sweep {context.label(out)}", f"{again} again")
    columns = schema.select(*needed)
    table = part.attempt(f"the table {name}", partial(read_table, folder, columns))
    if table is None:
        return None
    return whole_table(f"{sweep}-{name}", f"{name} of {sweep}", table, schema)


def _made(results: Results, metrics: Path, context: ReadingContext) -> Provenance:
    """All commands that took part, one per line; time and environment of the last."""
    made = list(results.made.values())
    note = metrics / SweepFolder.METRICS_NOTE
    tables = None
    if metrics.exists():
        part = context.part(f"the tables in {metrics}", "compute them again")
        tables = part.attempt("the origin", lambda: read_note(note) if note.exists() else None)
        made += [provenance_of(tables)] if tables else []
    commands = dict.fromkeys(step.command for step in made if step.command)
    last = max(made, key=attrgetter("when"), default=Provenance(""))
    # The command of the tables is that of their grid with one more flag, and stands for both.
    grid_of_tables = made[-1].command.rpartition(" ")[0] if tables else None
    lines = [command for command in commands if command != grid_of_tables]
    return Provenance("\n".join(lines), last.when, last.environment)
