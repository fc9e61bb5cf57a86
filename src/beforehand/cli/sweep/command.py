"""`beforehand sweep`: a grid of simulations, which a second call completes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from beforehand.cli.command_lines import line
from beforehand.cli.engine import EngineOptions, engine_progress, open_engine
from beforehand.cli.options import takes
from beforehand.cli.sweep.grid import grid_of
from beforehand.cli.sweep.options import SweepOptions
from beforehand.cli.sweep.view import show, show_skipped, show_tables, to_dict
from beforehand.cli.ui.exit_codes import ExitCode
from beforehand.cli.ui.failure import clear_errors
from beforehand.cli.ui.interrupts import on_interrupt
from beforehand.cli.ui.output import print_json
from beforehand.cli.ui.progress import progress_bar
from beforehand.errors import PipelineError
from beforehand.results.format import duration

if TYPE_CHECKING:
    from beforehand.pipeline.engine import PipelineEngine
    from beforehand.pipeline.sweep import Grid, SweepProgress, SweepResult


@takes(SweepOptions)
def command(options: SweepOptions) -> None:
    """Simulate every combination of protocols, workloads, networks and sizes, in parallel.

    Runs that the folder already holds are not repeated. Without a grid, shows the results in the
    folder. Exits with 0, or 1 if a run failed: its row has the error, and the next call retries it.
    """
    with clear_errors():
        out = options.out
        if out is None:
            raise PipelineError("--out is missing; name a folder for the results")
        with open_engine(EngineOptions(options.engine, options.master, options.conf)) as engine:
            swept = _sweep(engine, grid_of(options), options, out)
            rows = _rows(swept)
            tables = _write_tables(engine, swept, options, out) if options.tables else {}
    if options.as_json:
        print_json(to_dict(swept, rows, tables))
    else:
        show(swept, rows, out)
        if options.tables:
            show_tables(tables)
    if swept.failed:
        raise typer.Exit(ExitCode.BROKEN)


def _sweep(
    engine: PipelineEngine, grid: Grid | None, options: SweepOptions, out: str
) -> SweepResult:
    from beforehand.cli.sweep.command_line import point_options, sweep_line
    from beforehand.pipeline import sweep

    if grid is None:
        return sweep.stored(engine, out)
    engine.storage.check_output(out)  # preparing may read a workload
    plan = sweep.prepare(engine, grid)
    show_skipped(plan.skipped)
    traces, audit = options.traces, options.audit
    kept = f"finished waves are in {out}, and the same command goes on from there"
    with progress_bar("runs") as bar, on_interrupt(kept=kept):
        return sweep.run_sweep(
            engine,
            plan,
            out,
            traces=traces,
            audit=audit,
            progress=lambda so_far: bar(so_far.done, so_far.total, _progress_note(so_far)),
            command=sweep_line(out, options.arguments(), traces=traces, audit=audit),
            run_command=lambda point: sweep_line(
                out, point_options(point), traces=traces, audit=audit
            ),
        )


def _progress_note(so_far: SweepProgress) -> str:
    left = so_far.seconds_left
    estimate = "" if left is None else f", about {duration(round(left) * 10**9)} left"
    return f"{so_far.failed:,} failed, {so_far.remaining:,} to do{estimate}"


def _rows(swept: SweepResult) -> list[dict[str, Any]]:
    order = ("workload", "network", "setting", "processes", "protocol", "seed")
    ordered = swept.results.sort_by([(name, "ascending") for name in order])
    rows: list[dict[str, Any]] = ordered.to_pylist()
    return rows


def _write_tables(
    engine: PipelineEngine, swept: SweepResult, options: SweepOptions, out: str
) -> dict[str, list[dict[str, Any]]]:
    from beforehand.pipeline import metrics

    command_line = line("sweep", "--out", out, *options.arguments(), "--tables")
    with engine_progress(engine, "writing tables"):
        written = metrics.write_tables(engine, swept.results, out, command_line)
    return {name: written[name].to_pylist() for name in ("table1", "exponents")}
