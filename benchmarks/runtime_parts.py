"""What `runtime.py` measures, part by part: which processes meet, how often, and what comes out."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from statistics import median
from typing import Any

from benchmarks import runtime_relay
from benchmarks.runtime_pairs import (
    LOOPBACK,
    Call,
    Process,
    Setting,
    at_work,
    free_port,
    pair,
    rate_of,
)
from benchmarks.runtime_peers import nats_server

SIZES = (32, 1024)
ZMQ = "pyzmq, blocking"
ZMQ_ASYNC = "zmq.asyncio"
UDP = "bare asyncio UDP"
SINGLE = "await send / async for"
BATCH = "send_many / receive_batch"
ENCRYPTED = ", encrypted"
SPIN_SECONDS = 0.0005
SPIN = f", spin={SPIN_SECONDS}"  # that they look for an answer before they sleep

# label, name of the roles, what they are told besides
Candidate = tuple[str, str, dict[str, Any]]
CANDIDATES: tuple[Candidate, ...] = (
    (BATCH, "node", {"batch": True}),
    (SINGLE, "node", {}),
    (ZMQ, "zmq", {}),  # what all are compared with is in the middle of them
    (BATCH + ENCRYPTED, "node", {"batch": True, "encrypted": True}),
    (SINGLE + ENCRYPTED, "node", {"encrypted": True}),
    (ZMQ_ASYNC, "zmq_async", {}),
    ("nats-py", "nats", {}),
    (UDP, "udp", {}),
)


def said(what: str) -> None:
    """Tell how far it is."""
    print(f"  {what}", file=sys.stderr, flush=True)


def medians(rounds: list[dict[str, float]], base: str) -> dict[str, dict[str, float]]:
    """For each candidate its median, and the median of its ratios to another one in each round."""
    return {
        label: {
            "value": median(each[label] for each in rounds),
            "ratio": median(each[label] / each[base] for each in rounds),
        }
        for label in rounds[0]
    }


# ---- throughput ----


def throughput(setting: Setting, rounds: int, quick: bool) -> dict[str, Any]:
    """Messages per second of all candidates, one after the other in each round, for each size."""
    found: dict[str, Any] = {}
    with nats_server() as server:
        if server is None:
            said("nats-py: left out, there is no nats-server here")
        for size in SIZES[:1] if quick else SIZES:
            told = replace(setting, size=size)
            results = []
            for number in range(rounds):
                said(f"throughput, {size} bytes, round {number + 1} of {rounds}")
                results.append(_all_candidates(told, server))
            found[str(size)] = medians(results, ZMQ) | {"rounds": results}
    return found


def _all_candidates(setting: Setting, server: str | None) -> dict[str, float]:
    rates = {}
    for label, name, more in CANDIDATES:
        told = replace(setting, **more)
        if name != "nats":
            rates[label] = rate_of(pair(name, "receive", "send", told))
        elif server is not None:
            told = replace(told, listen=server, peer=server)
            rates[label] = rate_of([("nats_receive", told), ("nats_send", told)])
    return rates


# ---- echo ----

ECHOES: tuple[Candidate, ...] = (
    (UDP, "udp", {}),
    (SINGLE, "node", {}),
    (SINGLE + ENCRYPTED, "node", {"encrypted": True}),
    (SINGLE + SPIN, "node", {"spin": SPIN_SECONDS}),
    (SINGLE + ENCRYPTED + SPIN, "node", {"encrypted": True, "spin": SPIN_SECONDS}),
)


def echo(setting: Setting, rounds: int, quick: bool) -> dict[str, Any]:
    """Round trips of one message at a time, beside bare UDP on the same kind of loop."""
    told = replace(setting, count=2_000 if quick else 20_000)
    results: list[dict[str, dict[str, float]]] = []
    for number in range(rounds):
        said(f"echo, round {number + 1} of {rounds}")
        times = {}
        for label, name, more in ECHOES:
            with at_work(pair(name, "echo", "ask", replace(told, **more))) as (_, asking):
                times[label] = asking.hear()
        results.append(times)
    return {
        quantile: medians([{k: v[quantile] for k, v in each.items()} for each in results], UDP)
        for quantile in ("p50", "p99")
    } | {"rounds": results}


# ---- bytes on the wire ----


def wire(setting: Setting, rounds: int, quick: bool) -> dict[str, Any]:
    """Bytes that both sides put on the wire, headers of IPv4 and UDP included, per message."""
    told = replace(setting, count=256 * (100 if quick else 2_000))
    found = {}
    ours = [each for each in CANDIDATES if each[1] == "node"]
    for label, name, more in ours[:1] if quick else ours:
        said(f"wire, {label}")
        with at_work(pair(name, "consume", "produce", replace(told, **more))) as both:
            per_message = [side.hear() / told.count for side in both]
        found[label] = {
            "back": per_message[0],
            "there": per_message[1],
            "over_payload": sum(per_message) / told.size,
        }
    return found


# ---- a lossy link ----

LOSSES = (0.0, 0.01, 0.1)
DELAY = 0.001  # seconds, each way: as between two cities that are near, or two busy data centres
SEED = 7
CUBIC = "zmq over TCP, cubic"
STREAMS: tuple[Candidate, ...] = (
    (CUBIC, "zmq", {"congestion": "cubic"}),
    ("zmq over TCP, bbr", "zmq", {"congestion": "bbr"}),
    (BATCH, "node", {"batch": True}),
    (BATCH + ENCRYPTED, "node", {"batch": True, "encrypted": True}),
)


def loss(setting: Setting, rounds: int, quick: bool) -> dict[str, Any]:
    """Goodput through a relay that loses packets: ours beside a TCP stream, that of zmq."""
    reason = runtime_relay.why_not()
    if reason:
        said(f"loss: left out, {reason}")
        return {"left_out": reason}
    found: dict[str, Any] = {}
    for chance in LOSSES[1:2] if quick else LOSSES:
        told = replace(setting, size=1024, loss=chance, delay=DELAY, seed=SEED)
        results = []
        for number in range(rounds):
            said(f"loss of {chance:.0%}, round {number + 1} of {rounds}")
            process = Process(("through_relay", told), within=runtime_relay.NAMESPACE)
            try:
                results.append(process.hear())
            finally:
                process.stop()
        found[f"{chance:.0%}"] = medians(results, CUBIC) | {"rounds": results}
    return found


def through_relay(setting: Setting) -> dict[str, float]:
    """A role, in a namespace of its own: bytes of payload per second through a relay."""
    rates = {}
    for label, name, more in STREAMS:
        told = replace(setting, **more)
        if told.congestion and told.congestion not in runtime_relay.congestion_controls():
            continue
        with at_work([("relay", told)]):
            calls = pair(name, "receive", "send", told, runtime_relay.HERE, runtime_relay.THERE)
            rates[label] = setting.size * rate_of(calls)
    return rates


# ---- everybody to everybody ----

MESHES = (2, 4, 8, 16)


def mesh(setting: Setting, rounds: int, quick: bool) -> dict[str, Any]:
    """Messages per second that are delivered to each of some processes that all send to all."""
    found = {}
    for count in MESHES[:1] if quick else MESHES:
        said(f"mesh of {count}")
        names = {f"p{number}": f"{LOOPBACK}:{free_port()}" for number in range(count)}
        told = replace(setting, names=names, seconds=2 * setting.seconds)
        calls: list[Call] = [("node_mesh", replace(told, name=name)) for name in names]
        with at_work(calls) as processes:
            warm = time.monotonic() + count * setting.warm_up  # there are more windows to fill
            for process in processes:
                process.say(warm)
            rates = [process.hear() for process in processes]
        found[str(count)] = {
            "each": sum(rates) / count,
            "least": min(rates),
            "all": sum(rates),
        }
    return found


# ---- memory ----


def memory(setting: Setting, rounds: int, quick: bool) -> dict[str, Any]:
    """Bytes for each idle peer, and for each message that is on its way."""
    said("memory")
    peers = replace(setting, count=50 if quick else 400, encrypted=True)
    with at_work(pair("node", "hub", "spokes", peers)) as (hub, _):
        found = {"idle peer, encrypted": hub.hear()}
    told = replace(setting, count=256 * (100 if quick else 400))
    with at_work(pair("node", "hoard", "fill", told)) as (receiver, sender):
        receiver.hear()
        sender.say("begin")
        found["message of 32 bytes that waits to be read, at the receiver"] = receiver.hear()
    with at_work(pair("node", "hoard", "fill", told)) as (receiver, sender):
        receiver.hear()
        receiver.pause()
        sender.say("begin")
        found["message of 32 bytes that is not acknowledged, at the sender"] = sender.hear()
    return found


Part = Callable[[Setting, int, bool], dict[str, Any]]
PARTS: dict[str, Part] = {
    each.__name__: each for each in (throughput, echo, wire, loss, mesh, memory)
}
