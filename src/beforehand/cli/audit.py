"""`beforehand audit`: whether causal order held in every run of a trace folder."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beforehand.cli import command_lines
from beforehand.cli import options as shared
from beforehand.cli.engine import EngineOptions, engine_progress, open_engine
from beforehand.cli.options import OUTPUT, value
from beforehand.cli.ui.failure import clear_errors
from beforehand.cli.ui.output import print_json, print_table, print_text
from beforehand.results.format import counted
from beforehand.results.violations import KINDS

if TYPE_CHECKING:
    from beforehand.pipeline.audit import Audit

SHOWN = 20  # runs, and violations, printed for people; --json and --out have all
UNNAMED = "(no name)"  # a run whose trace gives it no name

BY_PROCESS = [(name, "ascending") for name in ("run", "process", "seq")]

_COUNTS = ("processes", "events", "sends", "deliveries", *KINDS)


def command(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="TRACE",
            help="Folders, files or patterns, of .parquet, .jsonl and .jsonl.gz.",
            show_default=False,
        ),
    ],
    out: Annotated[
        str | None,
        value(
            "FOLDER",
            "Write the tables verdicts and violations here, as Parquet. Default: nowhere.",
            panel=OUTPUT,
        ),
    ] = None,
    as_json: shared.Json = False,
    engine: shared.Engine = None,
    master: shared.Master = None,
    conf: shared.Conf = None,
) -> None:
    """Decide whether causal order held in traces, and if not, which message broke it and why.

    Every delivery is judged: causal and FIFO order, exactly once, nothing invented, nothing lost. A log
    with gaps is audited as far as it goes, and marked as incomplete. Exits with 0 if all is well, 1 if
    there is a violation, 2 if something could not be audited.
    """
    with clear_errors(), open_engine(EngineOptions(engine, master, conf)) as chosen:
        from beforehand.pipeline.audit import audit, check_output

        if out is not None:
            check_output(chosen.storage, out)
        with ExitStack() as stack:
            with engine_progress(chosen, "auditing"):
                audited = stack.enter_context(audit(chosen, sources))
            if out is not None:
                with engine_progress(chosen, "writing"):
                    audited.write(out, command_lines.audit(sources, out))
            if as_json:
                print_json(_to_dict(audited))
            else:
                _show(audited, out)
    raise typer.Exit(audited.exit_code)


def _to_dict(audited: Audit) -> dict[str, Any]:
    return {
        "runs": audited.verdicts.sort_by("run").to_pylist(),
        "violations": audited.violations.collect().sort_by(BY_PROCESS).to_pylist(),
        "unreadable": audited.unreadable,
        "exit_code": audited.exit_code,
    }


def _show(audited: Audit, out: str | None) -> None:
    rows = sorted(
        audited.verdicts.to_pylist(),
        key=lambda row: (row["verdict"] != "violated", row["complete"], row["run"]),
    )[:SHOWN]
    lines = []
    for row in rows:
        gaps = "" if row["complete"] or row["verdict"] == "unreadable" else ", incomplete"
        figures = (f"{row[name]:,}" for name in _COUNTS)
        lines.append((row["run"], row["verdict"] + gaps, *figures))
    print_table(("run", "verdict", *_COUNTS), lines)
    if audited.runs > len(rows):
        typer.echo(f"... and {audited.runs - len(rows):,} more runs.")
    for row in rows:
        for note in row["notes"]:
            print_text(f"{row['run'] or UNNAMED}: {note}")
    for file, problem in sorted(audited.unreadable.items()):
        print_text(f"{file}: not audited: {problem}")
    if audited.violated:
        typer.echo("The first violations:")
        for row in audited.violations.first(SHOWN, [name for name, _ in BY_PROCESS]).to_pylist():
            print_text(f"  {row['run'] or UNNAMED}: {row['kind']}: {row['sentence']}")
    print_text(_verdict(audited))
    if out is not None:
        typer.echo(f"Tables: {out}/verdicts, {out}/violations")


def _verdict(audited: Audit) -> str:
    clean = audited.runs - audited.violated - audited.not_audited
    text = f"{counted(audited.runs, 'run')}: {clean:,} clean, {audited.violated:,} violated"
    if audited.incomplete - audited.not_audited:
        text += f", {audited.incomplete - audited.not_audited:,} with gaps"
    if audited.not_audited:
        text += f", {audited.not_audited:,} could not be audited"
    if audited.unreadable:
        text += f"; {counted(len(audited.unreadable), 'file')} could not be read"
    return text + "."
