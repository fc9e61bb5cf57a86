"""`beforehand demo`: all of it once, on this machine: a cluster, its audit, two studies, a report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from beforehand.cli import command_lines, report
from beforehand.cli.ui import spark
from beforehand.cli.ui.failure import clear_errors
from beforehand.cli.ui.output import print_json, print_table
from beforehand.cli.ui.spark import Conf, Master

NOT_SOUND: Final = 1
DEFAULT: Final = Path("beforehand-demo")

_OUTPUT = "Output"


def command(
    out: Annotated[
        Path,
        typer.Option(
            metavar="FOLDER", help="A new folder for everything, or that of an earlier demo."
        ),
    ] = DEFAULT,
    seed: Annotated[
        int,
        typer.Option(
            metavar="NUMBER",
            help="Decides every random choice; real processes still differ each time.",
            min=0,
            max=2**63 - 1,
        ),
    ] = 1,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON, for programs.", rich_help_panel=_OUTPUT)
    ] = False,
    master: Master = None,
    conf: Conf = None,
) -> None:
    """See it work: real processes on a bad network, what other protocols would cost, and a report.

    Takes a couple of minutes on two cores. Exits with 0 if every promise was kept, 1 if not, 2 if it
    could not be run. A second call replaces what the first has left.
    """
    from beforehand.cli.demo import folder as demo_folder
    from beforehand.cli.demo import steps as demo_steps
    from beforehand.cli.demo import summary as demo_summary
    from beforehand.results.provenance import provenance

    with clear_errors():
        check_all_installed()
        demo_folder.make_ready(out)
        session = spark.start_session(master, conf)
        note = {"seed": seed, "finished": False, **provenance(command_lines.demo(out, seed))}
        demo_folder.claim(out, note)
        told = demo_steps.run(session, demo_steps.Demo(out, seed), note)
    if as_json:
        print_json({"out": str(out), "seed": seed, **told})
    else:
        print_table(("what", "what came of it"), demo_summary.rows(told))
        for each in told["report"]["missing"]:
            typer.echo(f"missing: {each['what']}: {each['why']}")
        typer.echo(f"The report, for your browser: {told['report']['file']}")
    if not told["sound"]:
        raise typer.Exit(NOT_SOUND)


def check_all_installed() -> None:
    """Raise what says what is missing, before anything runs."""
    spark.check_installed()
    from beforehand.pipeline.session import check_java

    check_java()
    report.check_installed()
