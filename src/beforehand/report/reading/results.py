"""The runs of a sweep: rows of the waves that count, and each as a `RunView` of the report.

A wave counts if its note is in `waves/`; a run that was done again belongs to the last wave that has it.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

from beforehand.report.model import Provenance, RunView, TableView, Value
from beforehand.report.reading.context import Gap, PartContext, ReadingContext
from beforehand.report.reading.files import finished_dataset, read_note, read_rows
from beforehand.report.reading.values import Row, column, provenance_of, string, strings, value
from beforehand.results.format import counted, some
from beforehand.results.layout import SweepFolder
from beforehand.results.schema import real, text
from beforehand.results.tables.sweep import RESULTS
from beforehand.results.violations import KINDS

ORDER: Final = ("workload", "network", "setting", "processes", "protocol", "seed", "run")
NEEDED: Final = RESULTS.select(
    "run", "protocol", "workload", "network", "setting", "scenario", "processes", "seed", "error"
)
_NOT_FIGURES: Final = ("scenario", "series", "error")  # shown elsewhere, or in other tables
_FIGURES: Final = (
    text("figure", "The name of its column."),
    real("value", "As the pipeline has it: times are in nanoseconds."),
    text("title", "The figure as people call it."),
    text("unit", "One of `results.schema.Unit`."),
    text("meaning", "What the figure says."),
)


@dataclass
class Results:
    """What the waves of a folder hold."""

    rows: list[Row] = field(default_factory=list)  # of each run once
    made: dict[str, Provenance] = field(default_factory=dict)  # run -> how its wave was
    commands: dict[str, str] = field(default_factory=dict)  # run -> what does just this one again
    traces: dict[str, Path] = field(default_factory=dict)  # run -> the folder with its events


def read_results(folder: Path, part: PartContext) -> Results:
    """All that counts in the folder of a sweep."""
    results = Results()
    owners: dict[str, str] = {}  # run -> its last wave
    rows: dict[tuple[str, str], Row] = {}
    notes = sorted((folder / SweepFolder.WAVES).glob("*.json"))
    for path in notes:
        wave = path.stem
        note = part.attempt("some runs", partial(_wave, path))
        if note is None:
            continue
        owners |= dict.fromkeys(note["runs"], wave)
        results.made |= dict.fromkeys(note["runs"], provenance_of(note))
        commands = note.get("commands")
        if isinstance(commands, dict):
            results.commands |= {run: string(command) for run, command in commands.items()}
        if note["traced"]:
            traces = part.attempt("traces", partial(_traces, folder / SweepFolder.TRACES / wave))
            results.traces |= dict.fromkeys(note["traced"], traces) if traces else {}
        table = part.attempt(
            "some runs", partial(read_rows, folder / SweepFolder.RESULTS / wave, NEEDED)
        )
        rows |= {(row["run"], wave): row for row in table or ()}
    known = [rows[key] for key in owners.items() if key in rows]
    results.rows = sorted(known, key=itemgetter(*ORDER))
    _report_lost(part, owners, rows)
    _report_unfinished(folder, part, {path.stem for path in notes})
    return results


def _wave(path: Path) -> dict[str, Any]:
    note = read_note(path)
    for name in ("runs", "traced"):
        if not isinstance(note.get(name), list) or len(strings(note[name])) < len(note[name]):
            raise Gap(f"{path} has no list of {name}")
    return note


def _traces(folder: Path) -> Path:
    """The folder, if it is as Spark has left it."""
    finished_dataset(folder)
    return folder


def _report_lost(
    part: PartContext, owners: Mapping[str, str], rows: Mapping[tuple[str, str], Row]
) -> None:
    """Report runs that a note lists and its table lacks."""
    read = {wave for _, wave in rows}
    lost = [run for run, wave in owners.items() if wave in read and (run, wave) not in rows]
    if lost:
        problem = f"their rows are gone from its results ({some(lost)})"
        part.miss(counted(len(lost), "run"), problem, damaged=True)


def _report_unfinished(folder: Path, part: PartContext, waves: set[str]) -> None:
    """Report tables without a note."""
    for table in sorted((folder / SweepFolder.RESULTS).glob("*")):
        if table.is_dir() and table.name not in waves:
            problem = "the sweep was stopped there, or is still running"
            part.miss("some runs", f"{table} has no note in waves, so it does not count: {problem}")


def run_of(
    row: Row, title: str, command: str, results: Results, context: ReadingContext
) -> RunView:
    """One run, all of it."""
    anchor = context.name("run", row["run"])
    made = results.made[row["run"]]
    traces = results.traces.get(row["run"])
    return RunView(
        anchor,
        row["run"],
        title,
        Provenance(command, made.when, made.environment),
        _figures(row, anchor, title),
        _pretty(row["scenario"]),
        context.commands.diagram(traces, row["run"]) if traces is not None else "",
        row["error"] or "",
    )


def _figures(row: Row, anchor: str, title: str) -> TableView:
    names = [name for name in row if name not in _NOT_FIGURES]
    rows = tuple(
        (field.name, value(row[field.name]), field.heading, field.unit, field.meaning)
        for field in (column(name, RESULTS) for name in names)
    )
    return TableView(f"{anchor}-figures", title, _FIGURES, rows)


def with_violations(runs: Sequence[RunView], verdicts: TableView) -> tuple[RunView, ...]:
    """The runs with what a separate audit counted in them; the sweep itself did not judge them."""
    names = [field.name for field in verdicts.columns]
    counts: dict[Value, int] = {}
    for row in verdicts.rows:
        found = dict(zip(names, row, strict=True))
        counts[found["run"]] = sum(n for kind in KINDS if isinstance(n := found.get(kind), int))
    return tuple(_with_figure(run, "violations", counts.get(run.name)) for run in runs)


def _with_figure(run: RunView, name: str, value: Value) -> RunView:
    """The run with a figure that it lacks."""
    rows = tuple(
        (row[0], value, *row[2:]) if row[0] == name and row[1] is None else row
        for row in run.figures.rows
    )
    return replace(run, figures=replace(run.figures, rows=rows))


def _pretty(scenario: str) -> str:
    try:
        return json.dumps(json.loads(scenario), indent=2, ensure_ascii=False)
    except ValueError:
        return scenario
