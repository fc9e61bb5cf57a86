"""`beforehand simulate`: any protocol, any network, any workload, from one seed."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from beforehand.cli.failure import clear_errors
from beforehand.cli.output import print_table
from beforehand.cli.progress import progress_bar
from beforehand.errors import ScenarioError

if TYPE_CHECKING:
    from beforehand.simulator import Result, Scenario
    from beforehand.trace import Recorder

VIOLATIONS_FOUND = 1
SHOWN = 3  # violations to tell in full
LINES = 24  # of a series
TRACE, RESULT = "trace.parquet", "result.json"

_NETWORK = "Network"
_FAULTS = "Faults"
_OVERLAY = "Overlay, for protocols that run on one"
_OUTPUT = "Output"


def command(
    protocol: Annotated[
        str, typer.Option(help="Which protocol: see `beforehand protocols`.")
    ] = "hybrid",
    processes: Annotated[int, typer.Option(help="How many processes.")] = 100,
    messages: Annotated[
        int, typer.Option(help="How many messages each sends of its own accord.")
    ] = 100,
    workload: Annotated[
        str,
        typer.Option(
            help="uniform[:PEERS], ring[:PEERS], hotspot:SHARE,PROBABILITY, pipeline:STAGES, "
            "fanout:LAYERS,WIDTH, request-reply[:SERVERS], groups[:SIZE[,GROUPS]], "
            "broadcast:RATE[,FROM,TO], shop, or replay."
        ),
    ] = "uniform",
    program: Annotated[
        Path | None,
        typer.Option(
            help="For replay: a program (.jsonl) or a recorded trace.", show_default=False
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Decides every random choice.")] = 1,
    interval: Annotated[
        str, typer.Option(help="Between two messages of a process, such as 10ms.")
    ] = "10ms",
    payload: Annotated[str, typer.Option(help="Bytes, such as 100 or uniform:10,2kB.")] = "100",
    job: Annotated[
        str, typer.Option(help="How long a job takes that a delivery starts: normal:25ms,5ms.")
    ] = "0ms",
    job_share: Annotated[float, typer.Option(help="Share of messages that start a job.")] = 0.0,
    split: Annotated[
        bool, typer.Option("--split", help="Multicast as one message to each receiver.")
    ] = False,
    option: Annotated[
        list[str] | None,
        typer.Option(help="An option of the protocol, such as coalesce=true.", show_default=False),
    ] = None,
    delay: Annotated[
        str,
        typer.Option(
            help="5ms, uniform:1ms,9ms, normal:5ms,1ms, lognormal:5ms,0.5, exponential:5ms, "
            "matrix:1ms,40ms;40ms,1ms (between sites) or schedule:0s=1ms,15min=300ms.",
            rich_help_panel=_NETWORK,
        ),
    ] = "lognormal:5ms,0.5",
    jitter: Annotated[
        str, typer.Option(help="Added to each delay, drawn anew.", rich_help_panel=_NETWORK)
    ] = "0ms",
    bandwidth: Annotated[
        str | None,
        typer.Option(
            help="Of each process's uplink, such as 50kB/s. Default: no limit.",
            rich_help_panel=_NETWORK,
            show_default=False,
        ),
    ] = None,
    header: Annotated[
        int,
        typer.Option(
            help="Bytes each frame takes besides its own: 28 for UDP.", rich_help_panel=_NETWORK
        ),
    ] = 0,
    fifo: Annotated[
        bool,
        typer.Option("--fifo", help="Frames keep their order on a link.", rich_help_panel=_NETWORK),
    ] = False,
    link: Annotated[
        Literal["auto", "always", "never"],
        typer.Option(help="Run the protocol on a reliable link?", rich_help_panel=_NETWORK),
    ] = "auto",
    tick: Annotated[
        str | None,
        typer.Option(
            help="How often, at most, cores look after lost frames. Default: by the delay.",
            rich_help_panel=_NETWORK,
            show_default=False,
        ),
    ] = None,
    flush: Annotated[
        str,
        typer.Option(
            help="With coalesce: how long acks and permits wait.", rich_help_panel=_NETWORK
        ),
    ] = "0ms",
    loss: Annotated[
        float, typer.Option(help="Share of frames that are lost.", rich_help_panel=_FAULTS)
    ] = 0.0,
    duplicate: Annotated[
        float, typer.Option(help="Share of frames that come twice.", rich_help_panel=_FAULTS)
    ] = 0.0,
    partition: Annotated[
        list[str] | None,
        typer.Option(
            help="From when to when whom to cut off: 1s-3s:p1,p2 or 1s-3s:50%. Repeatable.",
            rich_help_panel=_FAULTS,
            show_default=False,
        ),
    ] = None,
    stop: Annotated[
        list[str] | None,
        typer.Option(
            help="Who stops for ever, and when: p3@2s. Repeatable.",
            rich_help_panel=_FAULTS,
            show_default=False,
        ),
    ] = None,
    drop_after: Annotated[
        str | None,
        typer.Option(
            help="How long after that the others give up on it. Default: never.",
            rich_help_panel=_FAULTS,
            show_default=False,
        ),
    ] = None,
    overlay: Annotated[
        str | None,
        typer.Option(
            help="ring, complete, random[:DEGREE], tree[:ARITY], tree:child=parent,..., "
            "spray[:PERIOD[,UNTIL]] (neighbours are exchanged) or links:a>b,... Default: by protocol.",
            rich_help_panel=_OVERLAY,
            show_default=False,
        ),
    ] = None,
    churn: Annotated[
        str | None,
        typer.Option(
            help="Who comes and goes: joins=5,leaves=3,crashes=2,from=1s,to=10s.",
            rich_help_panel=_OVERLAY,
            show_default=False,
        ),
    ] = None,
    open_link: Annotated[
        list[str] | None,
        typer.Option(
            "--open",
            help="A link that is opened: p1>p2@2s. Repeatable.",
            rich_help_panel=_OVERLAY,
            show_default=False,
        ),
    ] = None,
    close_link: Annotated[
        list[str] | None,
        typer.Option(
            "--close",
            help="A link that is closed: p1>p2@2s. Repeatable.",
            rich_help_panel=_OVERLAY,
            show_default=False,
        ),
    ] = None,
    reparent: Annotated[
        list[str] | None,
        typer.Option(
            help="Of a tree: p3 and all below it go under p1: p3>p1@2s. Repeatable.",
            rich_help_panel=_OVERLAY,
            show_default=False,
        ),
    ] = None,
    sample: Annotated[
        str | None,
        typer.Option(
            help="How often to note entries and control traffic per process, such as 10s.",
            rich_help_panel=_OUTPUT,
            show_default=False,
        ),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(help="End at this time even if it is not over.", show_default=False),
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
            help=f"A new folder for {TRACE} and {RESULT}.",
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
    """Run a protocol in virtual time and tell what it cost.

    The same options and seed always give the same run, on every machine.
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
        typer.echo(json.dumps(result.to_dict(), indent=2))
    else:
        _show(result, out)
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
        (folder / RESULT).write_text(json.dumps(result.to_dict(), indent=2) + "\n")
    return result


def _recorder(scenario: Scenario, folder: Path | None) -> Recorder | nullcontext[None]:
    if folder is None:
        return nullcontext()
    from beforehand import trace

    return trace.Recorder(scenario.digest(), trace.create(folder / TRACE))


# ---- for people ----


def _show(result: Result, out: Path | None) -> None:
    scenario, metrics = result.scenario, result.metrics
    on = " on a reliable link" if scenario.linked() else ""
    if scenario.ground.layout is not None:
        on += f", overlay {scenario.ground.name}"
    typer.echo(
        f"{scenario.protocol}{on}, {metrics.processes:,} processes, "
        f"workload {scenario.workload}, seed {scenario.seed}: {result.outcome}"
    )
    print_table(("figure", "value", "more"), _rows(result))
    if result.series:
        _show_series(result)
    if metrics.undelivered:
        typer.echo(f"{metrics.undelivered:,} copies of messages were never delivered.")
    if metrics.duplicates:
        typer.echo(f"{metrics.duplicates:,} deliveries were repetitions.")
    if result.audited:
        _show_verdict(result)
    if out is not None:
        typer.echo(f"trace: {out / TRACE}, figures: {out / RESULT}")


def _show_verdict(result: Result) -> None:
    found = result.violations
    if not found:
        what = "causal order held, and nothing was delivered twice"
        missing = result.metrics.undelivered
        typer.echo(f"audit: {what}" + (f", but {missing:,} are missing." if missing else "."))
        return
    kinds = sorted({each.kind for each in found})
    counts = ", ".join(f"{sum(e.kind == kind for e in found):,} {kind}" for kind in kinds)
    typer.echo(f"audit: {len(found):,} violations ({counts}); the first:")
    for each in found[:SHOWN]:
        typer.echo(f"  {each}")


def _rows(result: Result) -> list[tuple[str, str, str]]:
    m = result.metrics
    noncausal = ("too congested to follow", "") if m.noncausal is None else _durations(m.noncausal)
    rows = [
        ("messages sent", f"{m.sent:,}", f"{m.delivered:,} deliveries"),
        ("execution time", duration(m.execution_ns), f"{m.events:,} events"),
        ("delivery latency", *_durations(m.latency)),
        ("non-causal latency", *noncausal),
        ("held at the sender", *_durations(m.held_time)),
        ("messages held", *_level(m.held)),
        ("messages buffered", *_level(m.buffered)),
        ("unacknowledged, per process", *_level(m.unacknowledged)),
        ("permits missing, per process", *_level(m.permits_missing)),
        ("integers of state, per process", *_level(m.integers)),
        ("entries about messages, per process", *_level(m.entries)),
        ("metadata per message", f"{m.metadata_bytes_per_message:,.1f} bytes", ""),
        (
            "control frames per message",
            f"{m.control_frames_per_message:,.2f}",
            f"{m.control_per_process_second:,.2f} received per process and second",
        ),
        (
            "bytes on the wire",
            f"{m.wire_bytes:,}",
            f"{m.frames:,} frames, {m.frames_lost:,} lost, {m.frames_doubled:,} doubled",
        ),
        ("in transit from one sender", f"at most {m.most_in_transit:,}", ""),
    ]
    if m.jobs:
        start = duration(round(m.mean_job_start_ns))
        rows.insert(2, ("mean job start", start, f"{m.jobs:,} jobs"))
    if result.scenario.ground.layout is not None:
        rows.append(
            (
                "links opened",
                f"{m.links_opened:,}",
                f"{m.links_closed:,} closed, {m.frames_ignored:,} frames out of turn",
            )
        )
    if m.unsent or m.skipped:
        rows.append(("not sent", f"{m.unsent:,}", f"{m.skipped:,} more had nobody left to go to"))
    speed = f"{result.events_per_second:,.0f} events per second"
    rows.append(("simulator", speed, f"{result.seconds:.2f} s"))
    return rows


def _show_series(result: Result) -> None:
    """Not more lines than a screen has: the rest is in the JSON."""
    step = -(-len(result.series) // LINES)
    shown = [*result.series[:-1:step], result.series[-1]]
    columns = ("time", "processes", "delay", "entries", "at most", "control/s", "delivered")
    print_table(
        columns,
        [
            (
                duration(each.time_ns),
                f"{each.processes:,}",
                duration(each.delay_ns),
                f"{each.entries:,.1f}",
                f"{each.most_entries:,}",
                f"{each.control_per_second:,.2f}",
                f"{each.delivered:,}",
            )
            for each in shown
        ],
    )


def _durations(found: Any) -> tuple[str, str]:
    rest = f"p50 {duration(found.p50)}, p99 {duration(found.p99)}, max {duration(found.max)}"
    return f"mean {duration(round(found.mean))}", rest


def _level(found: Any) -> tuple[str, str]:
    return f"mean {found.mean:,.1f}", f"peak {found.peak:,}"


def duration(nanoseconds: int) -> str:
    """A duration as people write it, with three or four digits."""
    for unit, size in (("s", 10**9), ("ms", 10**6), ("us", 10**3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:,.4g} {unit}"
    return f"{nanoseconds} ns"
