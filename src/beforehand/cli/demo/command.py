"""`beforehand demo`: see causal order matter, in seconds; with `--full`, everything once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from beforehand.cli import options as shared
from beforehand.cli import report
from beforehand.cli.engine import EngineOptions, open_engine
from beforehand.cli.options import OUTPUT, switch, value
from beforehand.cli.ui.browser import open_page
from beforehand.cli.ui.exit_codes import ExitCode
from beforehand.cli.ui.failure import clear_errors
from beforehand.cli.ui.output import print_json, print_table

DEFAULT: Final = Path("beforehand-demo")


def command(
    out: Annotated[
        Path, value("FOLDER", "A new folder for everything, or that of an earlier demo.")
    ] = DEFAULT,
    seed: shared.StoredSeed = 1,
    full: Annotated[
        bool,
        switch("--full", "Add an audit, two studies and a sweep, on Spark: some minutes more."),
    ] = False,
    opened: Annotated[
        bool, switch("--open", "Open the report in the browser.", panel=OUTPUT)
    ] = False,
    as_json: shared.Json = False,
    engine: shared.Engine = None,
    master: shared.Master = None,
    conf: shared.Conf = None,
) -> None:
    """See it matter: a group chat and a shop on a bad network, without causal order and with it.

    Real processes run both twice on the same faults, an oracle judges every delivery, and a report shows
    the first thing that went wrong. Takes a quarter of a minute and needs neither Java nor a compiler.
    A second call replaces the results of the first once it is complete; with --full and the same seed it
    adds to them. The seed does not fix the timing of real processes. Exits with 0 if every promise was
    kept, 1 if not, 2 for wrong input, 3 if this machine cannot run it.
    """
    from beforehand.cli.demo import demo, summary
    from beforehand.cli.demo import folder as demo_folder

    with clear_errors():
        engine_options = EngineOptions(engine, master, conf)
        check_all_installed(engine_options if full else None)
        demo_folder.prepare(out)
        results = demo.DemoRun(out, seed, full, quiet=as_json).run(
            lambda took: _full_steps(out, seed, engine_options, took)
        )
    if as_json:
        print_json({"out": str(out), "seed": seed, **results})
    else:
        if full:
            print_table(("what", "result"), summary.rows(results))
        for gap in results["report"]["missing"]:
            typer.echo(f"missing: {gap['what']}: {gap['why']}")
        typer.echo(f"The report, to open in a browser: {results['report']['file']}")
    if opened:
        open_page(Path(results["report"]["file"]))
    if not results["sound"]:
        raise typer.Exit(ExitCode.BROKEN)


def check_all_installed(engine: EngineOptions | None) -> None:
    """Raise an error for what is missing, before anything runs; without an engine, less is needed."""
    report.check_installed()
    if engine is not None:
        engine.check()


def _full_steps(
    out: Path, seed: int, engine: EngineOptions, took: Callable[[str, float], None]
) -> dict[str, Any]:
    from beforehand.cli.demo import steps

    with open_engine(engine) as chosen:
        return steps.run(chosen, steps.Demo(out, seed), took)
