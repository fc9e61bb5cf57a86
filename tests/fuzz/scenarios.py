"""Whole scenarios, drawn at random: small, but of every protocol, workload, network and fault."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from beforehand import protocols
from beforehand.simulator import Program, Send

MS = 10**6
NAMES = ("a", "b", "c", "d")
MOST_SENDS = 8

INTERVALS = ("0ms", "1ms", "10ms", "uniform:0ms,4ms", "exponential:3ms", "lognormal:2ms,1")
PAYLOADS: tuple[str | int, ...] = (0, 1, 100, "uniform:0,300", "normal:60,60", "exponential:50")
JOBS = ("0ms", "3ms", "normal:5ms,4ms", "exponential:2ms")
DELAYS = (
    "0ms",
    "1ns",
    "5ms",
    "uniform:0ms,9ms",
    "normal:5ms,5ms",
    "lognormal:5ms,1",
    "exponential:5ms",
    "matrix:1ms,40ms;40ms,1ms",
    "matrix:uniform:0ms,2ms,9ms;7ms,0ms",
    "schedule:0s=1ms,20ms=30ms,40ms=0ms",
    "schedule:10ms=5ms",
)
JITTERS = ("0ms", "0ms", "uniform:0ms,10ms", "exponential:1ms", "normal:1ms,3ms")
BANDWIDTHS = (None, None, "1kB/s", "20kB/s", "1MB/s")
SHARES = (0.0, 0.0, 0.1, 0.4)
TIMES = ("0ms", "1ns", "5ms", "20ms", "50ms")
WORKLOADS = (
    "uniform",
    "uniform:1",
    "uniform:2",
    "ring",
    "ring:3",
    "hotspot:0.3,0.8",
    "hotspot:1,0",
    "pipeline:2",
    "pipeline:3",
    "fanout:2,1",
    "fanout:3,2",
    "request-reply",
    "request-reply:0.6",
    "groups:2",
    "groups:3,5",
    "broadcast:200",
    "broadcast:500,5ms,30ms",
    "shop",
)
BROADCASTS = ("broadcast:200", "broadcast:500,5ms,30ms", "replay")
STATIC = (None, "ring", "complete", "random:2", "tree", "tree:1")
CHANGING = ("spray:5ms,60ms", "spray:20ms", "spray")


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """A partially ordered program: each send may follow any earlier ones that its process can see."""
    sends: list[Send] = []
    for number in range(draw(st.integers(1, MOST_SENDS))):
        sender = draw(st.sampled_from(NAMES))
        to = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True))
        seen = [send.id for send in sends if send.sender == sender or sender in send.to]
        after = draw(st.lists(st.sampled_from(seen), max_size=3)) if seen else []
        sends.append(
            Send(
                f"m{number}",
                sender,
                tuple(to),
                tuple(after),
                draw(st.sampled_from((0, 0, 10 * MS))),
                draw(st.sampled_from((0, 0, 1, 3 * MS))),
                draw(st.sampled_from((None, 0, 70))),
            )
        )
    return Program(draw(st.permutations(sends)))


def partitions(names: tuple[str, ...]) -> st.SearchStrategy[str]:
    """A partition that ends, of a share of the processes or of one of them."""
    begins = st.sampled_from(("0ms", "5ms", "30ms"))
    ends = st.sampled_from(("31ms", "60ms", "200ms"))
    return st.builds("{}-{}:{}".format, begins, ends, st.sampled_from(("50%", "30%", *names)))


@st.composite
def scenarios(draw: st.DrawFn) -> dict[str, Any]:
    """The fields of a scenario; some of them are refused when it is made."""
    protocol = draw(st.sampled_from(protocols.names()))
    known = protocols.describe(protocol)
    workload = draw(st.sampled_from((*WORKLOADS, "replay", "replay", "replay")))
    if known.casts == ("broadcast",) and draw(st.integers(0, 9)):
        workload = draw(st.sampled_from(BROADCASTS))
    count = draw(st.integers(2, 6))
    fields: dict[str, Any] = {
        "protocol": protocol,
        "workload": workload,
        "processes": count,
        "messages": draw(st.integers(0, 6)),
        "seed": draw(st.integers(0, 2**63 - 1)),
        "interval": draw(st.sampled_from(INTERVALS)),
        "payload": draw(st.sampled_from(PAYLOADS)),
        "job": draw(st.sampled_from(JOBS)),
        "job_share": draw(st.sampled_from((0.0, 0.0, 0.5, 1.0))),
        "delay": draw(st.sampled_from(DELAYS)),
        "jitter": draw(st.sampled_from(JITTERS)),
        "bandwidth": draw(st.sampled_from(BANDWIDTHS)),
        "header": draw(st.sampled_from((0, 28))),
        "fifo": draw(st.booleans()),
        "loss": draw(st.sampled_from(SHARES)),
        "duplicate": draw(st.sampled_from(SHARES)),
        "tick": draw(st.sampled_from((None, None, None, "7ms", "100ms"))),
        "link": draw(st.sampled_from(("auto", "auto", "always", "never"))),
        "split": draw(st.sampled_from((True, True, False))),
        "flush": draw(st.sampled_from(("0ms", "1ms", "15ms"))),
        "until": draw(st.sampled_from((None, None, None, "0ms", "20ms", "100ms"))),
    }
    names = tuple(f"p{index}" for index in range(count))
    if workload == "replay":
        program = draw(programs())
        if known.casts == ("broadcast",) and draw(st.integers(0, 9)):
            everybody = program.processes
            program = Program([replace(send, to=everybody) for send in program.sends])
        fields["program"], names = program, program.processes
    if protocol.startswith("hybrid"):
        fields["options"] = draw(st.sampled_from(({}, {"coalesce": True})))
    elif protocol == "mattern":
        fields["options"] = draw(st.sampled_from(({}, {"fifo_links": True})))
    if known.overlay != "none":
        fields["overlay"] = draw(st.sampled_from(STATIC))
    if known.overlay == "links" and protocol != "link-memory":
        fields["overlay"] = draw(st.sampled_from((*STATIC, *CHANGING, *CHANGING)))
        pairs = st.lists(st.sampled_from(names), min_size=2, max_size=2, unique=True)
        for action in ("opens", "closes") if len(names) > 1 else ():
            links = draw(st.lists(pairs, max_size=2 if action == "opens" else 0))
            fields[action] = tuple(f"{a}>{b}@{draw(st.sampled_from(TIMES))}" for a, b in links)
    fields["partitions"] = tuple(draw(st.lists(partitions(names), max_size=2)))
    stopped = draw(st.lists(st.sampled_from(names), max_size=2, unique=True))
    fields["stops"] = tuple(f"{name}@{draw(st.sampled_from(TIMES))}" for name in stopped)
    fields["drop_after"] = draw(st.sampled_from((None, *TIMES)))
    return fields
