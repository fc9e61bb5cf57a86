"""`beforehand audit`: whether causal order held in every run of a trace folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from beforehand.cli import command_lines
from beforehand.cli.ui.failure import clear_errors
from beforehand.cli.ui.output import print_json, print_table, print_text
from beforehand.cli.ui.spark import Conf, Master, spark_progress, start_session

if TYPE_CHECKING:
    from beforehand.pipeline.audit import Audit

SHOWN = 20  # runs, and violations, for people; --json and --out have all
NAMELESS = "(no name)"  # a run in a trace that does not tell any

_COUNTS = ("causal", "fifo", "duplicate", "invented", "lost")


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
        typer.Option(
            metavar="FOLDER",
            help="Where to write the tables verdicts and violations, as Parquet. Default: nowhere.",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
    master: Master = None,
    conf: Conf = None,
) -> None:
    """Say whether causal order held in traces, and if not, which message broke it and why.

    Every delivery is judged: causal and FIFO order, exactly once, nothing invented, nothing lost. A log
    with gaps is audited for what it holds, and marked as incomplete. Exits with 0 if all is well, 1 if
    a promise was broken, 2 if something could not be audited.
    """
    with clear_errors():
        spark = start_session(master, conf)
        from beforehand.pipeline.audit import audit

        with spark_progress(spark, "auditing"):
            found = audit(spark, sources)
        try:
            if out is not None:
                with spark_progress(spark, "writing"):
                    found.write(out, command_lines.audit(sources, out))
            if as_json:
                print_json(_everything(found))
            else:
                _show(found, out)
        finally:
            found.close()
    raise typer.Exit(found.exit_code)


def _everything(found: Audit) -> dict[str, Any]:
    return {
        "runs": [row.asDict() for row in found.verdicts.orderBy("run").toLocalIterator()],
        "violations": [
            row.asDict()
            for row in found.violations.orderBy("run", "process", "seq").toLocalIterator()
        ],
        "unreadable": found.unreadable,
        "exit_code": found.exit_code,
    }


def _show(found: Audit, out: str | None) -> None:
    worst = found.verdicts.orderBy(
        found.verdicts.verdict != "violated", found.verdicts.complete, "run"
    ).limit(SHOWN)
    rows = worst.collect()
    print_table(
        ("run", "verdict", "processes", "events", "sends", "deliveries", *_COUNTS),
        [
            (
                row.run,
                row.verdict
                + ("" if row.complete or row.verdict == "unreadable" else ", incomplete"),
                *(
                    f"{row[name]:,}"
                    for name in ("processes", "events", "sends", "deliveries", *_COUNTS)
                ),
            )
            for row in rows
        ],
    )
    if found.runs > len(rows):
        typer.echo(f"... and {found.runs - len(rows):,} runs more.")
    for row in rows:
        for note in row.notes:
            print_text(f"{row.run or NAMELESS}: {note}")
    for file, problem in sorted(found.unreadable.items()):
        print_text(f"{file}: not audited: {problem}")
    if found.violated:
        typer.echo("the first violations:")
        for row in found.violations.orderBy("run", "process", "seq").limit(SHOWN).collect():
            print_text(f"  {row.run or NAMELESS}: {row.kind}: {row.sentence}")
    print_text(_verdict(found))
    if out is not None:
        typer.echo(f"tables: {out}/verdicts, {out}/violations")


def _verdict(found: Audit) -> str:
    clean = found.runs - found.violated - found.not_audited
    runs = "1 run" if found.runs == 1 else f"{found.runs:,} runs"
    text = f"{runs}: {clean:,} clean, {found.violated:,} violated"
    if found.incomplete - found.not_audited:
        text += f", {found.incomplete - found.not_audited:,} with gaps"
    if found.not_audited:
        text += f", {found.not_audited:,} could not be audited"
    if found.unreadable:
        files = len(found.unreadable)
        text += f"; {files:,} file{'s' if files > 1 else ''} could not be read"
    return text + "."
