"""`beforehand study`: what causal delivery would cost on a traffic, and which protocol to choose."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beforehand.cli import command_lines
from beforehand.cli.ui import completion
from beforehand.cli.ui.failure import clear_errors
from beforehand.cli.ui.output import print_json, print_table, print_text
from beforehand.cli.ui.progress import progress_steps
from beforehand.cli.ui.spark import Conf, Master, start_session, watched
from beforehand.errors import PipelineError

if TYPE_CHECKING:
    from beforehand.pipeline.session import Session
    from beforehand.pipeline.study import Candidate, Study, StudyResult
    from beforehand.pipeline.sweep import SweepProgress

NOT_SOUND = 1
SEEDS = 2**63  # tables hold seeds as numbers of 64 bits
CONTROL = "control"  # the source of protocols that exist to be caught

_SOURCE = "Source"
_OUTPUT = "Output"


def command(
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SOURCE",
            help="Spans, traces or lists of messages: files, folders or patterns, as for ingest. "
            "Default: a built-in traffic.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        str,
        typer.Option(metavar="FOLDER", help="The folder for everything.", show_default=False),
    ] = ...,  # type: ignore[assignment]
    protocol: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="Which protocols: hybrid,rst or repeated. Default: all that suit the traffic.",
            show_default=False,
            autocompletion=completion.protocol_list,
        ),
    ] = None,
    network: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="Which networks: lan,wan or repeated. Default: lan, wan and mobile.",
            show_default=False,
            autocompletion=completion.network_list,
        ),
    ] = None,
    messages: Annotated[
        int,
        typer.Option(
            metavar="NUMBER", help="Replay at most so many messages, the first of the run.", min=1
        ),
    ] = 20_000,
    seed: Annotated[
        int,
        typer.Option(metavar="NUMBER", help="Decides every random choice.", min=0),
    ] = 1,
    run: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Which run, if there are several. Default: the largest.",
            rich_help_panel=_SOURCE,
            show_default=False,
        ),
    ] = None,
    format_name: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="What the files are: see `beforehand ingest --help`.",
            rich_help_panel=_SOURCE,
            autocompletion=completion.file_format,
        ),
    ] = "auto",
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            metavar="NAME=COLUMN,...",
            help="Which columns hold what, as for ingest: sender=1,receiver=2,time=3:ms.",
            rich_help_panel=_SOURCE,
            show_default=False,
        ),
    ] = None,
    pattern: Annotated[
        str | None,
        typer.Option(
            metavar="REGEX",
            help="ShiViz: an event, as for ingest.",
            rich_help_panel=_SOURCE,
            show_default=False,
        ),
    ] = None,
    delimiter: Annotated[
        str | None,
        typer.Option(
            metavar="REGEX",
            help="ShiViz: what is between two executions, as for ingest.",
            rich_help_panel=_SOURCE,
            show_default=False,
        ),
    ] = None,
    force: Annotated[
        bool,
        typer.Option("--force", help="Delete the study that --out holds.", rich_help_panel=_OUTPUT),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON, for programs.", rich_help_panel=_OUTPUT)
    ] = False,
    master: Master = None,
    conf: Conf = None,
) -> None:
    """Say what causal order would cost on a traffic, yours or a built-in one, and what to choose.

    Does it all: ingest, characterise, replay under every suitable protocol, audit, recommend. What is
    there already is not done again, so a study that was stopped goes on where it was. Exits with 0 if
    all is well, 1 if a run failed or a protocol did not keep its promise, 2 for what cannot be done.
    """
    with clear_errors():
        if seed >= SEEDS:
            raise PipelineError(f"--seed {seed}: give a number below 2^63")
        chosen = candidates(_listed(protocol))
        networks = _networks(_listed(network))
        spark = start_session(master, conf)
        from beforehand.pipeline import ingest
        from beforehand.pipeline.study import Study, run_study

        asked = Study(
            out=out,
            candidates=chosen,
            sources=sources or (),
            options=ingest.Options(
                format_name, ingest.columns_of(columns or []), pattern, delimiter
            ),
            networks=networks,
            run=run,
            messages=messages,
            seed=seed,
            force=force,
            named=bool(protocol),
        )
        with _shown_progress(spark) as (tell, progress):
            found = run_study(
                spark,
                asked,
                tell,
                progress,
                command=command_lines.study(asked),
                audit_command=command_lines.audit,
            )
    if as_json:
        print_json(everything(asked, found))
    else:
        _show(asked, found)
    if not found.sound:
        raise typer.Exit(NOT_SOUND)


# ---- what is asked for ----


def _listed(values: list[str] | None) -> list[str]:
    """Each once, whether repeated or with commas."""
    names = (name.strip() for value in values or [] for name in value.split(","))
    return list(dict.fromkeys(name for name in names if name))


def candidates(names: list[str]) -> list[Candidate]:
    """The protocols that were named; otherwise all but those that exist to be refuted."""
    from beforehand import protocols
    from beforehand.pipeline.study.figures import Candidate

    known = [protocols.describe(name) for name in names or protocols.names()]
    return [
        Candidate(each.name, each.causal, each.metadata)
        for each in known
        if names or each.causal or each.source == CONTROL
    ]


def _networks(names: list[str]) -> list[str]:
    from beforehand.pipeline.study.study import NETWORKS as usual
    from beforehand.pipeline.sweep.networks import NETWORKS as known

    for name in names:
        if name not in known:
            raise PipelineError(f"there is no network {name!r}; the networks: {', '.join(known)}")
    return names or list(usual)


@contextmanager
def _shown_progress(
    spark: Session,
) -> Iterator[tuple[Callable[[str, str], None], Callable[[SweepProgress], None]]]:
    """Each step with a line, and how far it is: in runs while it replays, otherwise in Spark's tasks."""
    from beforehand.pipeline.study import STEPS

    with progress_steps(STEPS) as steps:

        def tasks(text: str) -> None:
            if steps.now != "replay":
                steps.tell(0, 0, text)

        with watched(spark, tasks):
            yield steps.begin, lambda so_far: steps.tell(so_far.done, so_far.total)


# ---- for people and for programs ----


def _show(asked: Study, found: StudyResult) -> None:
    from beforehand.pipeline import prose
    from beforehand.pipeline.study.markdown import COLUMNS, LEGEND, by_network, line

    what = ", ".join(asked.sources) or f"the built-in traffic, seed {asked.seed}"
    print_text(f"Source: {what}")
    print_text(f"Replayed: {found.traffic.told()}")
    for sentence in prose.sentences(found.run, found.flags):
        print_text(f"  {sentence}")
    for network, some in by_network(found.protocols).items():
        typer.echo()
        print_text(f"On {network}, with {_described(network)}:")
        print_table(COLUMNS, [line(each) for each in some])
    print_text(f"In brackets: controls, which do not keep causal order. {LEGEND}.")
    typer.echo("\nWhat to choose:")
    print_table(("when", "what"), [(each.situation, each.sentence) for each in found.advice])
    for left in found.left_out:
        print_text(f"Left out: {', '.join(left.protocols)}: {left.reason}")
    if found.reused:
        print_text(f"Already there and reused: {', '.join(found.reused)}.")
    print_text(f"Everything is in {asked.out}; recommendation.md there is for reading.")


def _described(network: str) -> str:
    """What the network does, as for `beforehand simulate`."""
    from beforehand.pipeline.sweep.networks import NETWORKS

    fields = {name: value for name, value in NETWORKS[network].items() if name != "header"}
    return ", ".join(f"{name} {value}" for name, value in fields.items()) or "the usual delays"


def everything(asked: Study, found: StudyResult) -> dict[str, Any]:
    """For programs."""
    return {
        "out": asked.out,
        "sources": list(asked.sources),
        "seed": asked.seed,
        "run": found.run,
        "replayed": found.traffic.replayed,
        "protocols": [asdict(each) for each in found.protocols],
        "recommendation": [asdict(each) for each in found.advice],
        "left_out": [asdict(each) for each in found.left_out],
        "reused": found.reused,
        "sound": found.sound,
    }
