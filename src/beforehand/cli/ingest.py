"""`beforehand ingest`: traces that others wrote become tables of messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from beforehand.cli.ui import completion
from beforehand.cli.ui.failure import BAD_INPUT, clear_errors, with_flags
from beforehand.cli.ui.output import print_json, print_table, print_text
from beforehand.cli.ui.spark import Conf, Master, check_installed, spark_progress, start_session

if TYPE_CHECKING:
    from beforehand.pipeline.ingest import Summary

_FORMATS = f"{', '.join(completion.FORMATS[:-1])} or {completion.FORMATS[-1]}"


def command(
    source: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE",
            help="Files, folders (with all below them) and patterns; gzip is unpacked.",
        ),
    ],
    out: Annotated[
        str,
        typer.Option(
            metavar="FOLDER", help="A new folder for the tables, as Parquet.", show_default=False
        ),
    ],
    format_name: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help=f"What the files are: {_FORMATS}.",
            autocompletion=completion.file_format,
        ),
    ] = "auto",
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            metavar="NAME=COLUMN,...",
            help="Which columns hold what: trace=TraceID,start=began:us for spans, "
            "sender=1,receiver=2,time=3:ms for lists. Repeatable.",
            show_default=False,
        ),
    ] = None,
    pattern: Annotated[
        str | None,
        typer.Option(
            metavar="REGEX",
            help=r"ShiViz: an event, as in (?<event>.*)\n(?<host>\S*) (?<clock>{.*}).",
            show_default=False,
        ),
    ] = None,
    delimiter: Annotated[
        str | None,
        typer.Option(
            metavar="REGEX",
            help="ShiViz: what is between two executions, as in ^=== (?<trace>.*) ===$.",
            show_default=False,
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the finished ingest that --out holds.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
    master: Master = None,
    conf: Conf = None,
) -> None:
    """Read logs and spans of many formats into tables: who sent what to whom, when, and after what.

    Rows that cannot be used go to a table of their own, with the reason. `beforehand study` does this
    and all that follows at once.
    """
    with clear_errors():
        check_installed()
        from beforehand.pipeline import ingest

        options = ingest.Options(format_name, ingest.columns_of(columns or []), pattern, delimiter)
        spark = start_session(master, conf)
        with spark_progress(spark, "reading"):
            summary = ingest.ingest(spark, source, out, options, force=force)
    if as_json:
        print_json(summary.to_dict())
    else:
        _show(summary, out)
    if not summary.total("accepted"):
        typer.echo(
            f"beforehand: nothing could be used; {out}/rejects has the reason for every row",
            err=True,
        )
        raise typer.Exit(BAD_INPUT)


# ---- for people ----


def _show(summary: Summary, out: str) -> None:
    columns = ("file", "format", "rows", "accepted", "rejected", "duplicates", "flagged", "note")
    print_table(
        columns,
        [
            (
                each.file.removeprefix("file:"),
                each.format,
                f"{each.rows:,}",
                f"{each.accepted:,}",
                f"{each.rejected:,}",
                f"{each.duplicates:,}",
                f"{each.flagged:,}",
                with_flags(each.note),
            )
            for each in summary.files
        ],
        prose=1,
    )
    totals = summary.to_dict()
    print_text(
        f"{totals['rows']:,} rows = {totals['accepted']:,} accepted + {totals['rejected']:,} rejected "
        f"+ {totals['duplicates']:,} exact duplicates. {totals['messages']:,} messages and "
        f"{totals['events']:,} events in {len(summary.runs):,} runs: {out}"
    )
    if summary.flags:
        odd = ", ".join(f"{number:,} {flag}" for flag, number in summary.flags.items())
        print_text(f"Odd, and kept: {odd}.")
    if totals["rejected"]:
        print_text(f"Every rejected row is in {out}/rejects, with the reason.")
