"""Sweeps: the table of their runs, and the tables of `metrics/` as they are."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, Final

from beforehand.report.contents import Made, Sweep, Table
from beforehand.report.reading import commands
from beforehand.report.reading.columns import EXPONENTS, RESULTS, TABLE1, Meanings
from beforehand.report.reading.files import Columns, read_note, read_table
from beforehand.report.reading.register import Register
from beforehand.report.reading.results import Results, Row, read_results, run_of
from beforehand.report.reading.values import made_of, table_of, text, whole_table

# What people compare; a run has much more, which is shown with it.
COMPARED: Final = (
    *("protocol", "workload", "network", "processes", "messages", "seed", "setting"),
    *("outcome", "violations", "latency_mean", "latency_p99", "noncausal_mean"),
    *("held_time_mean", "held_time_p99", "metadata_bytes_per_message"),
    *("control_frames_per_message", "wire_bytes", "integers_mean", "integers_peak"),
    *("held_peak", "buffered_peak", "most_in_transit", "execution_ns"),
    *("sent", "delivered", "seconds", "seconds_per_message", "run", "error"),
)
_CLAIMED: Final[Columns] = {
    "protocol": "text",
    "claimed_message_space": "text",
    "metadata_bytes": "real",
    "metadata_exponent": "real",
    "integers_mean": "real",
    "state_exponent": "real",
}
_FITTED: Final[Columns] = {
    **dict.fromkeys(("protocol", "network", "workload", "y", "x"), "text"),
    "exponent": "real",
    "r2": "real",
}


def read_sweep(folder: Path, register: Register) -> Sweep:
    """All of a sweep."""
    label = register.label(folder)
    name = register.name(label)
    again = f"run `beforehand sweep` with its grid and --out {folder} again"
    part = register.part(
        f"the sweep {label}",
        f"{again}: it does what is missing",
        f"delete the note of that wave in {folder / 'waves'}, and {again}",
    )
    results = read_results(folder, part)
    if not results.rows:
        part.miss("the results", f"no complete run was found in {folder}")
    runs = tuple(
        run_of(row, _title(row), results.commands.get(row["run"], ""), results, register)
        for row in results.rows
    )
    anchors = tuple(run.anchor for run in runs)
    metrics = folder / "metrics"
    return Sweep(
        name,
        f"{label}: {_counted(results)}",
        str(folder),
        _made(results, metrics, register),
        _compared(name, label, results, anchors) if results.rows else None,
        _metrics(metrics, "table1", TABLE1, _CLAIMED, name, register),
        _metrics(metrics, "exponents", EXPONENTS, _FITTED, name, register),
        runs,
    )


def _title(row: Row) -> str:
    parts = [f"{row['protocol']} on {row['network']}", row["workload"]]
    parts += [f"{row['processes']:,} processes", f"seed {row['seed']}", row["setting"]]
    return ", ".join(part for part in parts if part)


def _counted(results: Results) -> str:
    failed = sum(row["error"] is not None for row in results.rows)
    protocols = len({row["protocol"] for row in results.rows})
    told = f"{len(results.rows):,} runs of {protocols:,} protocols"
    return f"{told}, {failed:,} failed" if failed else told


def _compared(name: str, label: str, results: Results, anchors: tuple[str, ...]) -> Table:
    rows: list[dict[str, Any]] = [
        {**row, "seconds_per_message": _ratio(row.get("seconds"), row.get("sent"))}
        for row in results.rows
    ]
    return table_of(f"{name}-runs", f"runs of {label}", COMPARED, rows, RESULTS, runs=anchors)


def _ratio(above: Any, below: Any) -> float | None:
    return above / below if above is not None and below else None


def _metrics(
    folder: Path, name: str, meanings: Meanings, needed: Columns, sweep: str, register: Register
) -> Table | None:
    """A table of `beforehand sweep --tables`; there need not be any."""
    if not folder.exists():
        return None
    again = commands.line("sweep", "--out", str(folder.parent), "--tables")
    part = register.part(
        f"the sweep {register.label(folder.parent)}", f"`{again}` makes the tables again"
    )
    found = part.attempt(f"the table {name}", partial(read_table, folder / name, needed))
    if found is None:
        return None
    return whole_table(f"{sweep}-{name}", f"{name} of {sweep}", found, meanings)


def _made(results: Results, metrics: Path, register: Register) -> Made:
    """All commands that took part, one below the other; time and place of the last."""
    found = list(results.made.values())
    note = metrics / "_metrics.json"
    if metrics.exists():
        part = register.part(f"the tables in {metrics}", "make them again with --tables")
        tables = part.attempt("the origin", lambda: read_note(note) if note.exists() else None)
        found += [made_of(tables)] if tables else []
    lines = dict.fromkeys(text(each.command) for each in found if each.command)
    last = max(found, key=lambda each: each.when, default=Made(""))
    # `--tables` is said in the same command where the same grid was meant.
    kept = [each for each in lines if f"{each} --tables" not in lines]
    return Made("\n".join(kept), last.when, last.environment)
