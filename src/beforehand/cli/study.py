"""`beforehand study`: what causal delivery would cost on a traffic, and which protocol to choose."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beforehand.cli.failure import clear_errors
from beforehand.cli.output import print_table
from beforehand.cli.progress import progress_bar
from beforehand.cli.spark import Conf, Master, start_session
from beforehand.errors import PipelineError

if TYPE_CHECKING:
    from beforehand.pipeline.study import Candidate, Findings, Study
    from beforehand.pipeline.sweep import Progress

NOT_SOUND = 1
CONTROL = "control"  # the source of protocols that exist to be caught

_SOURCE = "Source"
_OUTPUT = "Output"


def command(
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SOURCE]...",
            help="What `beforehand ingest` reads. Default: a built-in traffic.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[str, typer.Option(help="The folder for everything.", show_default=False)] = ...,  # type: ignore[assignment]
    protocol: Annotated[
        list[str] | None,
        typer.Option(help="hybrid,rst or repeated. Default: all that suit.", show_default=False),
    ] = None,
    network: Annotated[
        list[str] | None,
        typer.Option(help="lan,wan,mobile or repeated. Default: these.", show_default=False),
    ] = None,
    messages: Annotated[
        int, typer.Option(help="Replay at most so many messages, the first of the run.", min=1)
    ] = 20_000,
    seed: Annotated[
        int, typer.Option(help="Decides every random choice.", min=0, max=2**63 - 1)
    ] = 1,
    run: Annotated[
        str | None,
        typer.Option(
            help="Which run, if there are several. Default: the largest.",
            rich_help_panel=_SOURCE,
            show_default=False,
        ),
    ] = None,
    format_name: Annotated[
        str, typer.Option("--format", help="As for ingest.", rich_help_panel=_SOURCE)
    ] = "auto",
    columns: Annotated[
        list[str] | None,
        typer.Option("--map", help="As for ingest.", rich_help_panel=_SOURCE, show_default=False),
    ] = None,
    pattern: Annotated[
        str | None,
        typer.Option(help="As for ingest.", rich_help_panel=_SOURCE, show_default=False),
    ] = None,
    delimiter: Annotated[
        str | None,
        typer.Option(help="As for ingest.", rich_help_panel=_SOURCE, show_default=False),
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
    """Ingest, characterise, replay under every suitable protocol, audit, and recommend.

    What is there already is not done again, so a study that was stopped goes on where it was. Exit code
    1 if a run failed or a protocol did not keep its promise.
    """
    with clear_errors():
        candidates = _candidates(_listed(protocol))
        networks = _networks(_listed(network))
        spark = start_session(master, conf)
        from beforehand.pipeline import ingest
        from beforehand.pipeline.study import Study, run_study

        asked = Study(
            out=out,
            candidates=candidates,
            sources=sources or (),
            options=ingest.Options(
                format_name, ingest.columns_of(columns or []), pattern, delimiter
            ),
            networks=networks,
            run=run,
            messages=messages,
            seed=seed,
            force=force,
        )
        with _shown_progress() as (tell, progress):
            found = run_study(spark, asked, tell, progress)
    if as_json:
        typer.echo(json.dumps(_as_json(asked, found), indent=2))
    else:
        _show(asked, found)
    if not found.sound:
        raise typer.Exit(NOT_SOUND)


# ---- what is asked for ----


def _listed(values: list[str] | None) -> list[str]:
    """Each once, whether repeated or with commas."""
    names = (name.strip() for value in values or [] for name in value.split(","))
    return list(dict.fromkeys(name for name in names if name))


def _candidates(names: list[str]) -> list[Candidate]:
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
    from beforehand.pipeline.study.job import NETWORKS as usual
    from beforehand.pipeline.sweep.networks import NETWORKS as known

    for name in names:
        if name not in known:
            raise PipelineError(f"there is no network {name!r}; the networks: {', '.join(known)}")
    return names or list(usual)


@contextmanager
def _shown_progress() -> Iterator[
    tuple[Callable[[str, str], None], Callable[[Progress], None] | None]
]:
    """Steps and runs on standard error, if somebody is looking at it."""
    if not sys.stderr.isatty():
        yield lambda step, text: None, None
        return
    from beforehand.pipeline.study import STEPS

    def tell(step: str, text: str) -> None:
        typer.echo(f"[{STEPS.index(step) + 1}/{len(STEPS)}] {step}: {text}", err=True)

    with progress_bar("runs") as bar:
        yield tell, lambda so_far: bar(so_far.done, so_far.total)


# ---- for people and for programs ----


def _show(asked: Study, found: Findings) -> None:
    from beforehand.pipeline import words
    from beforehand.pipeline.study.text import COLUMNS, LEGEND, by_network, line

    what = ", ".join(asked.sources) or f"the built-in traffic, seed {asked.seed}"
    typer.echo(f"Source: {what}")
    typer.echo(f"Replayed: {found.traffic.told()}")
    for sentence in words.sentences(found.run, found.flags):
        typer.echo(f"  {sentence}")
    for network, some in by_network(found.protocols).items():
        typer.echo(f"\nOn {network}, with {_described(network)}:")
        print_table(COLUMNS, [line(each) for each in some])
    typer.echo(f"In brackets: controls, which do not keep causal order. {LEGEND}.")
    typer.echo("\nWhat to choose:")
    print_table(("when", "what"), [(each.situation, each.sentence) for each in found.advice])
    for left in found.left_out:
        typer.echo(f"Left out: {', '.join(left.protocols)}: {left.reason}")
    if found.reused:
        typer.echo(f"Already there and reused: {', '.join(found.reused)}.")
    typer.echo(f"Everything is in {asked.out}; recommendation.md there is for reading.")


def _described(network: str) -> str:
    """What the network does, as for `beforehand simulate`."""
    from beforehand.pipeline.sweep.networks import NETWORKS

    fields = {name: value for name, value in NETWORKS[network].items() if name != "header"}
    return ", ".join(f"{name} {value}" for name, value in fields.items()) or "the usual delays"


def _as_json(asked: Study, found: Findings) -> dict[str, Any]:
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
