"""`beforehand ingest`: traces of other systems become tables of messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from beforehand.cli.engine import engine_progress, open_engine
from beforehand.cli.options import SourceOptions, takes, value
from beforehand.cli.ui.exit_codes import ExitCode
from beforehand.cli.ui.failure import clear_errors, with_flags
from beforehand.cli.ui.output import print_json, print_table, print_text

if TYPE_CHECKING:
    from beforehand.pipeline.ingest import Summary


@dataclass(frozen=True, kw_only=True)
class IngestOptions(SourceOptions):
    """What to read, and where to write it."""

    source: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE",
            help="Files, folders (with all below them) and patterns; gzip is unpacked.",
        ),
    ]
    out: Annotated[str, value("FOLDER", "A new folder for the tables, as Parquet.")]


@takes(IngestOptions)
def command(options: IngestOptions) -> None:
    """Read logs and spans of many formats into tables: who sent what to whom, when, and after what.

    Rejected rows go to a table of their own, with the reason. `beforehand study` does this and all the
    steps that follow.
    """
    with clear_errors(), open_engine(options.engine_options()) as engine:
        from beforehand.pipeline import ingest

        how = options.reading()
        with engine_progress(engine, "reading"):
            summary = ingest.ingest(engine, options.source, options.out, how, force=options.force)
    if options.as_json:
        print_json(summary.to_dict())
    else:
        _show(summary, options.out)
    if not summary.total("accepted"):
        typer.echo(
            f"beforehand: no row could be used; {options.out}/rejects has the reason for each",
            err=True,
        )
        raise typer.Exit(ExitCode.WRONG_INPUT)


# ---- for people ----


def _show(summary: Summary, out: str) -> None:
    columns = ("file", "format", "rows", "accepted", "rejected", "duplicates", "flagged", "note")
    print_table(
        columns,
        [
            (
                counts.file.removeprefix("file:"),
                counts.format,
                *(f"{getattr(counts, name):,}" for name in columns[2:-1]),
                with_flags(counts.note),
            )
            for counts in summary.files
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
        flagged = ", ".join(f"{number:,} {flag}" for flag, number in summary.flags.items())
        print_text(f"Accepted with a flag: {flagged}.")
    if totals["rejected"]:
        print_text(f"Every rejected row is in {out}/rejects, with the reason.")
