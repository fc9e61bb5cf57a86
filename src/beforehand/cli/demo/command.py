"""`beforehand demo`: everything once, on this machine: a cluster, its audit, two studies, a report."""

from pathlib import Path
from typing import Annotated, Final

import typer

from beforehand import requirements
from beforehand.cli import command_lines, report, spark
from beforehand.cli import options as shared
from beforehand.cli.options import value
from beforehand.cli.ui.exit_codes import ExitCode
from beforehand.cli.ui.failure import clear_errors
from beforehand.cli.ui.output import print_json, print_table

DEFAULT: Final = Path("beforehand-demo")


def command(
    out: Annotated[
        Path, value("FOLDER", "A new folder for everything, or that of an earlier demo.")
    ] = DEFAULT,
    seed: shared.StoredSeed = 1,
    as_json: shared.Json = False,
    master: shared.Master = None,
    conf: shared.Conf = None,
) -> None:
    """See it work: real processes on a bad network, what other protocols would cost, and a report.

    Takes a couple of minutes on two cores. A second call replaces the results of the first; the seed
    does not fix the timing of real processes. Exits with 0 if every promise was kept, 1 if not, 2 if it
    could not be run.
    """
    from beforehand.cli.demo import folder as demo_folder
    from beforehand.cli.demo import steps as demo_steps
    from beforehand.cli.demo import summary as demo_summary
    from beforehand.results.provenance import provenance

    with clear_errors():
        check_all_installed()
        demo_folder.prepare(out)
        session = spark.start_session(master, conf)
        note = {"seed": seed, "finished": False, **provenance(command_lines.demo(out, seed))}
        demo_folder.claim(out, note)
        results = demo_steps.run(session, demo_steps.Demo(out, seed), note)
    if as_json:
        print_json({"out": str(out), "seed": seed, **results})
    else:
        print_table(("what", "result"), demo_summary.rows(results))
        for gap in results["report"]["missing"]:
            typer.echo(f"missing: {gap['what']}: {gap['why']}")
        typer.echo(f"Open the report in your browser: {results['report']['file']}")
    if not results["sound"]:
        raise typer.Exit(ExitCode.BROKEN)


def check_all_installed() -> None:
    """Raise an error for a missing package or Java, before anything runs."""
    spark.check_installed()
    requirements.find_java()
    report.check_installed()
