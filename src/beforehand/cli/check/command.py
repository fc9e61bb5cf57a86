"""`beforehand check`: every interleaving of a protocol's cores, up to a bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from beforehand import requirements
from beforehand.cli.check.options import CheckOptions
from beforehand.cli.engine import open_spark
from beforehand.cli.options import takes
from beforehand.cli.ui.interrupts import on_interrupt
from beforehand.cli.ui.output import print_json
from beforehand.cli.ui.progress import progress_line

if TYPE_CHECKING:
    from beforehand.checker.setting import Setting
    from beforehand.checker.verdict import SearchProgress, Verdict
    from beforehand.cli.check.request import SearchOptions


@takes(CheckOptions)
def command(options: CheckOptions) -> None:
    """Explore every run of a few processes: prove that a protocol holds, or show a run that breaks it.

    A model checker: it runs the protocol's own code in every order of sends, arrivals and faults up to
    a bound. Messages must be delivered in causal order, exactly once, and all of them; no process may
    wait for ever. Exits with 0 if that held in every run, 1 if not (with the shortest run that shows
    it), 2 if the bounds are too small to show anything, and 3 if a limit ended the search.
    """
    requirements.require("this command", "check")
    from beforehand.cli.check import counterexample, view
    from beforehand.cli.check.request import CheckBounds, SearchOptions

    bounds, search = CheckBounds.of(options), SearchOptions.of(options)
    setting = bounds.setting()
    file = None if options.out is None else counterexample.trace_file(options.out)
    with on_interrupt(kept="there is no verdict"):
        verdict = _explore(setting, search, options.conf)
    violated = verdict.counterexample
    if file is not None and violated is not None:
        counterexample.save(setting, violated, file)
    result = view.CheckResult(bounds, search, setting, verdict, file if violated else None)
    if options.as_json:
        print_json(view.to_dict(result))
    else:
        view.show(result)
        if file is not None and violated is None:
            typer.echo(f"There is no run to save, so {file} was not written.")
    raise typer.Exit(result.exit_code)


def _explore(setting: Setting, search: SearchOptions, conf: list[str] | None) -> Verdict:
    from beforehand.checker.explore import check
    from beforehand.cli.check.warning import warn

    search.validate(conf)
    warn(setting, search)
    with progress_line("exploring") as report:

        def progress(so_far: SearchProgress) -> None:
            report(progress_text(so_far))

        how: dict[str, Any] = {
            "reduce": search.reduction,
            "symmetry": search.symmetry,
            "max_states": search.max_states,
            "seconds": search.seconds,
            "progress": progress,
        }
        if search.master is None:
            depth_first, workers = search.depth_first, search.workers
            return check(setting, depth_first=depth_first, workers=workers, **how)
        with open_spark(search.master, conf) as engine:
            from beforehand.pipeline.check import check_on_spark

            return check_on_spark(engine.session, setting, **how)


def progress_text(so_far: SearchProgress) -> str:
    """How far an exploration is, on one line."""
    speed = so_far.states / max(so_far.seconds, 1e-9)
    return (
        f"{so_far.states:,} states, depth {so_far.depth:,}, {so_far.waiting:,} waiting, "
        f"{speed:,.0f} states per second"
    )
