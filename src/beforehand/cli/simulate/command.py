"""`beforehand simulate`: any protocol, any network, any workload, from one seed."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from beforehand.cli.simulate.view import show
from beforehand.cli.ui import completion
from beforehand.cli.ui.failure import clear_errors
from beforehand.cli.ui.output import print_json
from beforehand.cli.ui.progress import progress_bar
from beforehand.errors import ScenarioError
from beforehand.results.layout import SimulationFolder

if TYPE_CHECKING:
    from beforehand.simulator import Result, Scenario
    from beforehand.trace import Recorder

VIOLATIONS_FOUND = 1

_NETWORK = "Network"
_FAULTS = "Faults"
_OVERLAY = "Overlay, for protocols that run on one"
_OUTPUT = "Output"


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
        int, typer.Option(metavar="NUMBER", help="How many processes: p1, p2, ...")
    ] = 100,
    messages: Annotated[
        int,
        typer.Option(metavar="NUMBER", help="How many messages each sends of its own accord."),
    ] = 100,
    workload: Annotated[
        str,
        typer.Option(
            metavar="WORKLOAD",
            help="Who sends to whom: uniform[:PEERS], ring[:PEERS], hotspot:SHARE,PROBABILITY, "
            "pipeline:STAGES, fanout:LAYERS,WIDTH, request-reply[:SERVERS], "
            "groups[:SIZE[,GROUPS]], broadcast:RATE[,FROM,TO], shop, or replay.",
            autocompletion=completion.workload,
        ),
    ] = "uniform",
    program: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="For replay: a program (.jsonl) or a recorded trace.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="NUMBER", help="Decides every random choice.")] = 1,
    interval: Annotated[
        str,
        typer.Option(
            metavar="TIME", help="Between two messages of a process: 10ms, or exponential:10ms."
        ),
    ] = "10ms",
    payload: Annotated[
        str,
        typer.Option(
            metavar="SIZE", help="Of each message, in bytes, such as 100 or uniform:10,2kB."
        ),
    ] = "100",
    job: Annotated[
        str,
        typer.Option(
            metavar="TIME",
            help="How long a job takes that a delivery starts, such as normal:25ms,5ms.",
        ),
    ] = "0ms",
    job_share: Annotated[
        float,
        typer.Option(metavar="SHARE", help="Share of messages that start a job, from 0 to 1."),
    ] = 0.0,
    split: Annotated[
        bool, typer.Option("--split", help="Multicast as one message to each receiver.")
    ] = False,
    option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="An option of the protocol, such as coalesce=true. Repeatable.",
            show_default=False,
        ),
    ] = None,
    delay: Annotated[
        str,
        typer.Option(
            metavar="TIME",
            help="How long a frame takes: 5ms, uniform:1ms,9ms, normal:5ms,1ms, lognormal:5ms,0.5, "
            "exponential:5ms, matrix:1ms,40ms;40ms,1ms (between sites) or schedule:0s=1ms,15min=300ms.",
            rich_help_panel=_NETWORK,
        ),
    ] = "lognormal:5ms,0.5",
    jitter: Annotated[
        str,
        typer.Option(
            metavar="TIME",
            help="Added to each delay, drawn anew: written like a delay.",
            rich_help_panel=_NETWORK,
        ),
    ] = "0ms",
    bandwidth: Annotated[
        str | None,
        typer.Option(
            metavar="RATE",
            help="Of each process's uplink, such as 50kB/s. Default: no limit.",
            rich_help_panel=_NETWORK,
            show_default=False,
        ),
    ] = None,
    header: Annotated[
        int,
        typer.Option(
            metavar="BYTES",
            help="What each frame takes besides its own bytes: 28 for UDP.",
            rich_help_panel=_NETWORK,
        ),
    ] = 0,
    fifo: Annotated[
        bool,
        typer.Option("--fifo", help="Frames keep their order on a link.", rich_help_panel=_NETWORK),
    ] = False,
    link: Annotated[
        Literal["auto", "always", "never"],
        typer.Option(
            help="Run the protocol on a reliable link? auto: if it needs one on this network.",
            rich_help_panel=_NETWORK,
        ),
    ] = "auto",
    tick: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="How often, at most, cores look after lost frames. Default: by the delay.",
            rich_help_panel=_NETWORK,
            show_default=False,
        ),
    ] = None,
    flush: Annotated[
        str,
        typer.Option(
            metavar="TIME",
            help="With coalesce=true: how long acks and permits wait for company.",
            rich_help_panel=_NETWORK,
        ),
    ] = "0ms",
    loss: Annotated[
        float,
        typer.Option(
            metavar="SHARE",
            help="Share of frames that are lost, from 0 to 1.",
            rich_help_panel=_FAULTS,
        ),
    ] = 0.0,
    duplicate: Annotated[
        float,
        typer.Option(
            metavar="SHARE",
            help="Share of frames that come twice, from 0 to 1.",
            rich_help_panel=_FAULTS,
        ),
    ] = 0.0,
    partition: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FROM-TO:WHO",
            help="From when to when whom to cut off: 1s-3s:p1,p2 or 1s-3s:50%. Repeatable.",
            rich_help_panel=_FAULTS,
            show_default=False,
        ),
    ] = None,
    stop: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WHO@TIME",
            help="Who stops for ever, and when: p3@2s. Repeatable.",
            rich_help_panel=_FAULTS,
            show_default=False,
        ),
    ] = None,
    drop_after: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="How long after that the others give up on it. Default: never.",
            rich_help_panel=_FAULTS,
            show_default=False,
        ),
    ] = None,
    overlay: Annotated[
        str | None,
        typer.Option(
            metavar="SHAPE",
            help="Who has a link to whom: ring, complete, random[:DEGREE], tree[:ARITY], "
            "tree:child=parent,..., spray[:PERIOD[,UNTIL]] (neighbours are exchanged) or "
            "links:a>b,... Default: by protocol.",
            rich_help_panel=_OVERLAY,
            show_default=False,
        ),
    ] = None,
    churn: Annotated[
        str | None,
        typer.Option(
            metavar="PLAN",
            help="Who comes and goes: joins=5,leaves=3,crashes=2,from=1s,to=10s.",
            rich_help_panel=_OVERLAY,
            show_default=False,
        ),
    ] = None,
    open_link: Annotated[
        list[str] | None,
        typer.Option(
            "--open",
            metavar="A>B@TIME",
            help="A link that is opened: p1>p2@2s. Repeatable.",
            rich_help_panel=_OVERLAY,
            show_default=False,
        ),
    ] = None,
    close_link: Annotated[
        list[str] | None,
        typer.Option(
            "--close",
            metavar="A>B@TIME",
            help="A link that is closed: p1>p2@2s. Repeatable.",
            rich_help_panel=_OVERLAY,
            show_default=False,
        ),
    ] = None,
    reparent: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A>B@TIME",
            help="Of a tree: p3 and all below it go under p1: p3>p1@2s. Repeatable.",
            rich_help_panel=_OVERLAY,
            show_default=False,
        ),
    ] = None,
    sample: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="How often to note entries and control traffic per process, such as 10s.",
            rich_help_panel=_OUTPUT,
            show_default=False,
        ),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="End at this virtual time, such as 10s, even if it is not over.",
            show_default=False,
        ),
    ] = None,
    audit: Annotated[
        bool,
        typer.Option(
            "--audit",
            help="Judge every delivery; exit 1 if one is wrong or missing.",
            rich_help_panel=_OUTPUT,
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help=f"A new folder for {SimulationFolder.TRACE} and {SimulationFolder.RESULT}.",
            rich_help_panel=_OUTPUT,
            show_default=False,
        ),
    ] = None,
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="Write into --out although it is not empty.", rich_help_panel=_OUTPUT
        ),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON, for programs.", rich_help_panel=_OUTPUT)
    ] = False,
) -> None:
    """Run one protocol on a made-up network in virtual time, and tell what it cost.

    The same options and seed always give the same run, on every machine. Exits with 0, or with 1 if
    --audit found something wrong.
    """
    from beforehand.simulator import Program, Scenario

    with clear_errors():
        scenario = Scenario(
            protocol=protocol,
            processes=processes,
            messages=messages,
            workload=workload,
            seed=seed,
            interval=interval,
            payload=payload,
            job=job,
            job_share=job_share,
            delay=delay,
            jitter=jitter,
            bandwidth=bandwidth,
            header=header,
            fifo=fifo,
            loss=loss,
            duplicate=duplicate,
            partitions=tuple(partition or ()),
            stops=tuple(stop or ()),
            drop_after=drop_after,
            overlay=overlay,
            churn=churn,
            opens=tuple(open_link or ()),
            closes=tuple(close_link or ()),
            reparents=tuple(reparent or ()),
            tick=tick,
            sample=sample,
            until=until,
            link=link,
            split=split,
            flush=flush,
            options=_options(option or []),
            program=None if program is None else Program.read(program),
        )
        result = _run(scenario, audit, _folder(out, force))
    if as_json:
        print_json(result.to_dict())
    else:
        show(result, out)
    if audit and not result.clean:
        raise typer.Exit(VIOLATIONS_FOUND)


def _options(texts: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or value not in ("true", "false"):
            raise ScenarioError(f"option {text!r}: write it like coalesce=true")
        found[name] = value == "true"
    return found


def _folder(out: Path | None, force: bool) -> Path | None:
    """Make the folder for the results; one with something in it is left alone."""
    if out is None:
        return None
    try:
        out.mkdir(parents=True, exist_ok=True)
        if any(out.iterdir()) and not force:
            raise ScenarioError(f"{out} is not empty; choose another folder, or add --force")
    except OSError as problem:
        raise ScenarioError(f"{out}: no folder for the results ({problem.strerror})") from None
    return out


def _run(scenario: Scenario, audit: bool, folder: Path | None) -> Result:
    from beforehand import simulator

    with progress_bar("messages") as progress, _recorder(scenario, folder) as recorder:
        result = simulator.run(scenario, audit=audit, recorder=recorder, progress=progress)
    if folder is not None:
        (folder / SimulationFolder.RESULT).write_text(json.dumps(result.to_dict(), indent=2) + "\n")
    return result


def _recorder(scenario: Scenario, folder: Path | None) -> Recorder | nullcontext[None]:
    if folder is None:
        return nullcontext()
    from beforehand import trace

    return trace.Recorder(scenario.digest(), trace.create(folder / SimulationFolder.TRACE))
