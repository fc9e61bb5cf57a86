"""`beforehand check`: every interleaving of a protocol's cores, up to a bound."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from beforehand.cli.ui import completion
from beforehand.cli.ui.failure import BAD_INPUT, clear_errors
from beforehand.cli.ui.output import print_json
from beforehand.cli.ui.progress import progress_line
from beforehand.cli.ui.spark import Conf, start_session
from beforehand.errors import CheckError

if TYPE_CHECKING:
    from beforehand.checker.setting import Setting
    from beforehand.checker.verdict import SearchProgress, Verdict
    from beforehand.cli.check.options import Search

_BOUNDS = "Bounds"
_NETWORK = "Network"
_SEARCH = "Search"
_OUTPUT = "Output"
_SPARK = "Spark"  # as in spark.py


def command(
    protocol: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Which protocol: see `beforehand protocols`.",
            autocompletion=completion.protocol,
        ),
    ] = "hybrid",
    processes: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER",
            help="How many processes: a, b, c, ... Default: 3.",
            rich_help_panel=_BOUNDS,
            show_default=False,
        ),
    ] = None,
    messages: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER",
            help="How many messages each sends, to anybody. Default: 2.",
            rich_help_panel=_BOUNDS,
            show_default=False,
        ),
    ] = None,
    sends: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBERS",
            help="How many messages each process sends: 5,0,1.",
            rich_help_panel=_BOUNDS,
            show_default=False,
        ),
    ] = None,
    program: Annotated[
        str | None,
        typer.Option(
            metavar="STEPS",
            help="Who sends to whom, each in this order: 'a>b b>c a>b,c c>*'; a+c/b is a link that a "
            "opens to c with the help of b.",
            rich_help_panel=_BOUNDS,
            show_default=False,
        ),
    ] = None,
    multicast: Annotated[
        bool,
        typer.Option(
            "--multicast", help="Messages to several at once, too.", rich_help_panel=_BOUNDS
        ),
    ] = False,
    faults: Annotated[
        str | None,
        typer.Option(
            metavar="FAULT=NUMBER,...",
            help="How often what may happen to frames: loss=1,duplicate=1; and tick=1 for timers "
            "that go off early.",
            rich_help_panel=_NETWORK,
            show_default=False,
        ),
    ] = None,
    links: Annotated[
        str | None,
        typer.Option(
            metavar="LINKS",
            help="Of an overlay: a-b,b>c; > is one way. Default: a ring.",
            rich_help_panel=_NETWORK,
            show_default=False,
        ),
    ] = None,
    tree: Annotated[
        str | None,
        typer.Option(
            metavar="CHILD:PARENT,...",
            help="Who is under whom in a tree: b:a,c:a. Default: all under a.",
            rich_help_panel=_NETWORK,
            show_default=False,
        ),
    ] = None,
    open_link: Annotated[
        list[str] | None,
        typer.Option(
            "--open",
            metavar="LINK",
            help="A link of an overlay that is opened at any moment: a+c, or a+c/b over b. Repeatable.",
            rich_help_panel=_NETWORK,
            show_default=False,
        ),
    ] = None,
    full: Annotated[
        bool,
        typer.Option(
            "--full",
            help="Both of the following: slow, and nothing is taken for granted.",
            rich_help_panel=_SEARCH,
        ),
    ] = False,
    no_reduction: Annotated[
        bool,
        typer.Option(
            "--no-reduction",
            help="Explore every order, also of steps that do not matter to each other.",
            rich_help_panel=_SEARCH,
        ),
    ] = False,
    no_symmetry: Annotated[
        bool,
        typer.Option(
            "--no-symmetry",
            help="Explore states that differ only in the names of processes, too.",
            rich_help_panel=_SEARCH,
        ),
    ] = False,
    depth_first: Annotated[
        bool,
        typer.Option(
            "--depth-first",
            help="In less memory; what breaks a promise is then looked for once more, to get the "
            "shortest run.",
            rich_help_panel=_SEARCH,
        ),
    ] = False,
    max_states: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER",
            help="Give up after so many distinct states. Default: no limit.",
            min=1,
            rich_help_panel=_SEARCH,
            show_default=False,
        ),
    ] = None,
    time_limit: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Give up after this time: 90s, 10m, 1h. Default: no limit.",
            rich_help_panel=_SEARCH,
            show_default=False,
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER",
            help="How many threads. Default: one for each core of this machine.",
            min=1,
            rich_help_panel=_SEARCH,
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="Save the run that breaks a promise as a trace: a folder, or a file that ends in "
            ".jsonl or .parquet.",
            rich_help_panel=_OUTPUT,
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON, for programs.", rich_help_panel=_OUTPUT)
    ] = False,
    master: Annotated[
        str | None,
        typer.Option(
            metavar="MASTER",
            help="Explore on Spark, each part of the program as a task: local[2], spark://host:7077, "
            "yarn or k8s://...; see docs/cluster.md. Default: without Spark.",
            rich_help_panel=_SPARK,
            show_default=False,
        ),
    ] = None,
    conf: Conf = None,
) -> None:
    """Try everything that can happen to a few processes, and prove that a protocol holds, or how not.

    A model checker: it runs the protocol's own code in every order of sends, arrivals and faults up to
    a bound. Messages must be delivered in causal order, exactly once, and all of them; nobody may wait
    for ever. Exits with 0 if that held in every run, 1 if not (with the shortest run that shows it),
    and 2 if not everything was explored or the bounds are too small to say anything.
    """
    with clear_errors():
        _check_installed()
        from beforehand.cli.check import options as check_options
        from beforehand.cli.check import trace as check_trace
        from beforehand.cli.check import view as check_view

        asked = check_options.Asked(
            protocol=protocol,
            processes=processes,
            messages=messages,
            sends=sends,
            program=program,
            multicast=multicast,
            faults=faults,
            links=links,
            tree=tree,
            opens=tuple(open_link or ()),
        )
        search = check_options.Search(
            reduction=not (full or no_reduction),
            symmetry=not (full or no_symmetry),
            depth_first=depth_first,
            max_states=max_states,
            time_limit=time_limit,
            workers=workers,
            master=master,
        )
        explored = asked.setting()
        file = None if out is None else check_trace.place(out)
        verdict = _explore(explored, search, conf)
        found = verdict.counterexample
        if file is not None and found is not None:
            check_trace.save(explored, found, file)
        report = check_view.Report(asked, search, explored, verdict, file if found else None)
        if as_json:
            print_json(check_view.to_dict(report))
        else:
            check_view.show(report)
            if file is not None and found is None:
                typer.echo(f"There is no run to save, so {file} was not written.")
    raise typer.Exit(report.exit_code)


def _check_installed() -> None:
    try:
        import beforehand._kernel  # noqa: F401
    except ImportError as problem:
        raise CheckError(
            f"this command needs numba ({problem.name} is not installed); "
            "`pip install 'beforehand[check]'`"
        ) from None


def _explore(explored: Setting, search: Search, conf: list[str] | None) -> Verdict:
    from beforehand.checker.explore import check
    from beforehand.cli.check.warning import warn

    search.check(conf)
    try:
        warn(explored, search)
        spark = None if search.master is None else start_session(search.master, conf)
        with progress_line("exploring") as say:

            def progress(so_far: SearchProgress) -> None:
                say(words(so_far))

            if spark is None:
                return check(
                    explored,
                    reduce=search.reduction,
                    symmetry=search.symmetry,
                    depth_first=search.depth_first,
                    max_states=search.max_states,
                    seconds=search.seconds,
                    workers=search.workers,
                    progress=progress,
                )
            from beforehand.pipeline.check import check_on_spark

            return check_on_spark(
                spark,
                explored,
                reduce=search.reduction,
                symmetry=search.symmetry,
                max_states=search.max_states,
                seconds=search.seconds,
                progress=progress,
            )
    except KeyboardInterrupt:
        # The exit code of an interrupted command is 1, which here would mean a broken promise.
        typer.echo("beforehand: interrupted: not finished, so nothing is known", err=True)
        raise typer.Exit(BAD_INPUT) from None


def words(so_far: SearchProgress) -> str:
    """How far an exploration is, on one line."""
    speed = so_far.states / max(so_far.seconds, 1e-9)
    return (
        f"{so_far.states:,} states, depth {so_far.depth:,}, {so_far.waiting:,} waiting, "
        f"{speed:,.0f} states per second"
    )
