"""`beforehand sweep`: a grid of simulations on Spark, which a second call completes."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beforehand.cli.command_lines import line
from beforehand.cli.sweep.tables import as_values, show, show_skipped, show_tables
from beforehand.cli.ui import completion
from beforehand.cli.ui.failure import clear_errors
from beforehand.cli.ui.output import print_json
from beforehand.cli.ui.progress import progress_bar
from beforehand.cli.ui.spark import Conf, Master, check_installed, spark_progress, start_session
from beforehand.errors import PipelineError
from beforehand.results.format import duration

if TYPE_CHECKING:
    from beforehand.pipeline.session import Session
    from beforehand.pipeline.sweep import Grid, SweepProgress, SweepResult

A_RUN_FAILED = 1

_GRID = "Grid, each with one value or several"
_OUTPUT = "Output"


def command(
    grid: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE",
            help="A grid as TOML; see docs/sweep.md. The options below win over what it says.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="The folder for the results; s3a:// and hdfs:// work too. Must be given.",
            show_default=False,
        ),
    ] = None,
    protocol: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="Which protocols: hybrid,rst or repeated; see `beforehand protocols`.",
            rich_help_panel=_GRID,
            show_default=False,
            autocompletion=completion.protocol_list,
        ),
    ] = None,
    workload: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WORKLOAD",
            help="Who sends to whom, as for simulate: uniform, shop, hotspot:0.1,0.8; "
            "replay:PATH or replay:PATH#RUN for what ingest has written, or a trace. Repeatable.",
            rich_help_panel=_GRID,
            show_default=False,
            autocompletion=completion.workload,
        ),
    ] = None,
    network: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="Which networks: default, lan, wan, mobile, or one of the file's; with commas.",
            rich_help_panel=_GRID,
            show_default=False,
            autocompletion=completion.network_list,
        ),
    ] = None,
    processes: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NUMBERS",
            help="How many processes: 10,100 or repeated.",
            rich_help_panel=_GRID,
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NUMBERS",
            help="Decide every random choice: 1,2,3 or repeated.",
            rich_help_panel=_GRID,
            show_default=False,
        ),
    ] = None,
    messages: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NUMBERS",
            help="How many messages each process sends: 20,50 or repeated.",
            rich_help_panel=_GRID,
            show_default=False,
        ),
    ] = None,
    values: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="OPTION=VALUE",
            help="Any other option of simulate: payload=1kB, loss=0.1. Repeatable, also for "
            "several values of one.",
            rich_help_panel=_GRID,
            show_default=False,
        ),
    ] = None,
    traces: Annotated[
        bool,
        typer.Option("--traces", help="Write the events of each run too.", rich_help_panel=_OUTPUT),
    ] = False,
    audit: Annotated[
        bool,
        typer.Option("--audit", help="Judge every delivery of each run.", rich_help_panel=_OUTPUT),
    ] = False,
    tables: Annotated[
        bool,
        typer.Option(
            "--tables",
            help="Write and print the measured Table 1 and growth exponents, and write the figures.",
            rich_help_panel=_OUTPUT,
        ),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON, for programs.", rich_help_panel=_OUTPUT)
    ] = False,
    master: Master = None,
    conf: Conf = None,
) -> None:
    """Simulate every combination of protocols, workloads, networks and sizes, in parallel on Spark.

    What is there already is not done again. Without a grid, shows what is in the folder. Exits with 0,
    or 1 if a run failed: it has a row with its error, and the next call tries it again.
    """
    with clear_errors():
        if out is None:
            raise PipelineError("--out is missing; name a folder for the results")
        check_installed()
        names = {"protocol": protocol, "network": network}
        numbers = {"processes": processes, "seed": seed, "messages": messages}
        texts = {"workload": workload}
        chosen = _values(grid, names, numbers, texts, values or [])
        typed = _typed(grid, names | texts | numbers | {"set": values})
        wanted = _grid(chosen)
        spark = start_session(master, conf)
        swept = _sweep(spark, wanted, typed, out, traces, audit)
        rows = _rows(swept)
        again = line("sweep", "--out", out, *typed, "--tables")
        shown = _write_tables(spark, swept, out, again) if tables else {}
    if as_json:
        print_json(as_values(swept, rows, shown))
    else:
        show(swept, rows, out)
        if tables:
            show_tables(shown)
    if swept.failed:
        raise typer.Exit(A_RUN_FAILED)


# ---- from the command line to a grid ----


def _values(
    file: str | None,
    names: dict[str, list[str] | None],
    numbers: dict[str, list[str] | None],
    texts: dict[str, list[str] | None],
    others: list[str],
) -> dict[str, Any]:
    """What the file says, and the options in its place where they say something else."""
    from beforehand.pipeline.sweep import grid_file

    found: dict[str, Any] = {} if file is None else grid_file.read(file)
    found |= {name: _split(given) for name, given in names.items() if given}
    for name, given in numbers.items():
        if given:
            found[name] = [_whole(name, text) for text in _split(given)]
    found |= {name: list(given) for name, given in texts.items() if given}
    several: dict[str, list[Any]] = {}
    for text in others:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise PipelineError(f"--set {text!r}: write it like payload=1kB")
        several.setdefault(name.replace("-", "_"), []).append(_value(value))
    return found | several


def _typed(file: str | None, options: dict[str, list[str] | None]) -> tuple[str, ...]:
    """The grid as it was typed, for the notes of its results."""
    words = [] if file is None else [file]
    for name, given in options.items():
        for value in given or []:
            words += [f"--{name}", value]
    return tuple(words)


def _split(texts: list[str]) -> list[str]:
    return [part.strip() for text in texts for part in text.split(",")]


def _whole(name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise PipelineError(f"--{name} {text!r}: give whole numbers") from None


def _value(text: str) -> Any:
    """As in a TOML file, but texts need no quotes: 0.1, true, 50kB/s."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _grid(chosen: dict[str, Any]) -> Grid | None:
    from beforehand.pipeline.sweep import grid_file

    return grid_file.grid_of(chosen) if chosen else None


# ---- the sweep ----


def _sweep(
    spark: Session,
    grid: Grid | None,
    typed: tuple[str, ...],
    out: str,
    traces: bool,
    audit: bool,
) -> SweepResult:
    from beforehand.cli.sweep.command_line import point_options, sweep_line
    from beforehand.pipeline import sweep

    if grid is None:
        return sweep.stored(spark, out)
    plan = sweep.prepare(spark, grid)
    show_skipped(plan.skipped)
    with progress_bar("runs") as bar:

        def tell(now: SweepProgress) -> None:
            left = "" if now.seconds_left is None else f", about {duration(_ns(now))} left"
            bar(now.done, now.total, f"{now.failed:,} failed, {now.remaining:,} to do{left}")

        return sweep.run_sweep(
            spark,
            plan,
            out,
            traces=traces,
            audit=audit,
            progress=tell,
            command=sweep_line(out, typed, traces=traces, audit=audit),
            run_command=lambda point: sweep_line(
                out, point_options(point), traces=traces, audit=audit
            ),
        )


def _ns(now: SweepProgress) -> int:
    return round(now.seconds_left or 0) * 10**9


def _rows(swept: SweepResult) -> list[dict[str, Any]]:
    order = ("workload", "network", "setting", "processes", "protocol", "seed")
    return [row.asDict(recursive=True) for row in swept.results.orderBy(*order).collect()]


def _write_tables(
    spark: Session, swept: SweepResult, out: str, command: str
) -> dict[str, list[dict[str, Any]]]:
    from beforehand.pipeline import metrics

    with spark_progress(spark, "writing tables"):
        written = metrics.write_tables(swept.results, out, command)
        return {
            name: [row.asDict() for row in written[name].collect()]
            for name in ("table1", "exponents")
        }
