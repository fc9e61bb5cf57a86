"""The options of `beforehand simulate`; those named like a field of `Scenario` are given to it."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from beforehand.cli import options as shared
from beforehand.cli.options import FAULTS, NETWORK, OUTPUT, share, switch, value
from beforehand.cli.ui import completion
from beforehand.results.layout import SimulationFolder

_Repeatable = list[str] | None
_network = partial(value, panel=NETWORK)
_fault = partial(value, panel=FAULTS)
_overlay = partial(value, panel="Overlay, for protocols that run on one")
_output = partial(value, panel=OUTPUT)


@dataclass(frozen=True, kw_only=True)
class SimulateOptions:
    """What to simulate, and what to do with the result."""

    protocol: shared.Protocol = shared.DEFAULT_PROTOCOL
    processes: Annotated[int, value("NUMBER", "How many processes: p00 to p99, or p0 to p9.")] = 100
    messages: Annotated[
        int, value("NUMBER", "How many messages each process sends of its own accord.")
    ] = 100
    workload: Annotated[
        str,
        value(
            "WORKLOAD",
            "Who sends to whom: uniform[:PEERS], ring[:PEERS], hotspot:SHARE,PROBABILITY, "
            "pipeline:STAGES, fanout:LAYERS,WIDTH, request-reply[:SERVERS], "
            "groups[:SIZE[,GROUPS]], broadcast:RATE[,FROM,TO], shop, or replay.",
            autocompletion=completion.workload,
        ),
    ] = "uniform"
    program: Annotated[
        Path | None, value("FILE", "For replay: a program (.jsonl) or a recorded trace.")
    ] = None
    seed: shared.Seed = 1
    interval: Annotated[
        str, value("TIME", "Between two messages of a process: 10ms, or exponential:10ms.")
    ] = "10ms"
    payload: Annotated[
        str, value("SIZE", "Of each message, in bytes, such as 100 or uniform:10,2kB.")
    ] = "100"
    job: Annotated[
        str, value("TIME", "How long a job takes that a delivery starts, such as normal:25ms,5ms.")
    ] = "0ms"
    job_share: Annotated[float, share("Share of messages that start a job")] = 0.0
    split: Annotated[bool, switch("--split", "Multicast as one message to each receiver.")] = False
    option: Annotated[
        _Repeatable,
        value("NAME=VALUE", "An option of the protocol, such as coalesce=true. Repeatable."),
    ] = None
    delay: Annotated[
        str,
        _network(
            "TIME",
            "How long a frame takes: 5ms, uniform:1ms,9ms, normal:5ms,1ms, lognormal:5ms,0.5, "
            "exponential:5ms, matrix:1ms,40ms;40ms,1ms (between sites) or "
            "schedule:0s=1ms,15min=300ms.",
        ),
    ] = "lognormal:5ms,0.5"
    jitter: Annotated[
        str, _network("TIME", "Added to each delay, drawn anew: written like a delay.")
    ] = "0ms"
    bandwidth: Annotated[
        str | None, _network("RATE", "Of each process's uplink, such as 50kB/s. Default: no limit.")
    ] = None
    header: Annotated[int, _network("BYTES", "Overhead of each frame: 28 for UDP.")] = 0
    fifo: Annotated[bool, switch("--fifo", "Frames keep their order on a link.", panel=NETWORK)] = (
        False
    )
    link: Annotated[
        Literal["auto", "always", "never"],
        _network(
            "auto|always|never",
            "Run the protocol on a reliable link? auto: if it needs one on this network.",
        ),
    ] = "auto"
    tick: Annotated[
        str | None,
        _network(
            "TIME",
            "How often cores check for lost frames, at most. Default: derived from the delay.",
        ),
    ] = None
    flush: Annotated[
        str,
        _network("TIME", "With coalesce=true: how long acks and permits wait to be sent together."),
    ] = "0ms"
    loss: shared.Loss = 0.0
    duplicate: shared.Duplicate = 0.0
    partitions: Annotated[
        _Repeatable,
        _fault(
            "FROM-TO:WHO",
            "From when to when whom to cut off: 1s-3s:p01,p02 or 1s-3s:50%. Repeatable.",
            "--partition",
        ),
    ] = None
    stops: Annotated[
        _Repeatable,
        _fault("WHO@TIME", "Who stops for good, and when: p03@2s. Repeatable.", "--stop"),
    ] = None
    drop_after: Annotated[
        str | None, _fault("TIME", "How long after that the others give up on it. Default: never.")
    ] = None
    overlay: Annotated[
        str | None,
        _overlay(
            "SHAPE",
            "Who has a link to whom: ring, complete, random[:DEGREE], tree[:ARITY], "
            "tree:child=parent,..., spray[:PERIOD[,UNTIL]] (neighbours are exchanged) or "
            "links:a>b,... Default: by protocol.",
        ),
    ] = None
    churn: Annotated[
        str | None,
        _overlay("PLAN", "Who joins and leaves: joins=5,leaves=3,crashes=2,from=1s,to=10s."),
    ] = None
    opens: Annotated[
        _Repeatable, _overlay("A>B@TIME", "A link to open: p01>p02@2s. Repeatable.", "--open")
    ] = None
    closes: Annotated[
        _Repeatable, _overlay("A>B@TIME", "A link to close: p01>p02@2s. Repeatable.", "--close")
    ] = None
    reparents: Annotated[
        _Repeatable,
        _overlay(
            "A>B@TIME",
            "A subtree to move: p03 and all below it go under p01: p03>p01@2s. Repeatable.",
            "--reparent",
        ),
    ] = None
    sample: Annotated[
        str | None,
        _output(
            "TIME", "How often to record entries and control traffic per process, such as 10s."
        ),
    ] = None
    until: Annotated[
        str | None,
        value("TIME", "End at this virtual time, such as 10s, even if messages are under way."),
    ] = None
    audit: Annotated[
        bool,
        switch("--audit", "Judge every delivery; exit 1 if one is wrong or missing.", panel=OUTPUT),
    ] = False
    out: Annotated[
        Path | None,
        _output(
            "FOLDER", f"A new folder for {SimulationFolder.TRACE} and {SimulationFolder.RESULT}."
        ),
    ] = None
    force: shared.Force = False
    as_json: shared.Json = False
