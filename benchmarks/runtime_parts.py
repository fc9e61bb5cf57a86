"""What `runtime.py` measures, part by part: which processes run, how often, and what is computed."""

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
SPIN = f", spin={SPIN_SECONDS}"  # nodes poll for an answer before they sleep

# label, name of the roles, further settings
Candidate = tuple[str, str, dict[str, Any]]
CANDIDATES: tuple[Candidate, ...] = (
    (BATCH, "node", {"batch": True}),
    (SINGLE, "node", {}),
    (ZMQ, "zmq", {}),  # the baseline runs in the middle of the round
    (BATCH + ENCRYPTED, "node", {"batch": True, "encrypted": True}),
    (SINGLE + ENCRYPTED, "node", {"encrypted": True}),
    (ZMQ_ASYNC, "zmq_async", {}),
    ("nats-py", "nats", {}),
    (UDP, "udp", {}),
)


def progress(text: str) -> None:
    """Report progress."""
    print(f"  {text}", file=sys.stderr, flush=True)


def medians(rounds: list[dict[str, float]], base: str) -> dict[str, dict[str, float]]:
    """For each candidate its median, and the median of its ratios to another one in each round."""
    return {
        label: {
            "value": median(rates[label] for rates in rounds),
            "ratio": median(rates[label] / rates[base] for rates in rounds),
        }
        for label in rounds[0]
    }


# ---- throughput ----


def throughput(setting: Setting, rounds: int, quick: bool) -> dict[str, Any]:
    """Messages per second of all candidates, one after the other in each round, for each size."""
    report: dict[str, Any] = {}
    with nats_server() as server:
        if server is None:
            progress("nats-py: skipped, nats-server is not installed")
        for size in SIZES[:1] if quick else SIZES:
            sized = replace(setting, size=size)
            results = []
            for number in range(rounds):
                progress(f"throughput, {size} bytes, round {number + 1} of {rounds}")
                results.append(_all_candidates(sized, server))
            report[str(size)] = medians(results, ZMQ) | {"rounds": results}
    return report


def _all_candidates(setting: Setting, server: str | None) -> dict[str, float]:
    rates = {}
    for label, name, more in CANDIDATES:
        own = replace(setting, **more)
        if name != "nats":
            rates[label] = rate_of(pair(name, "receive", "send", own))
        elif server is not None:
            own = replace(own, listen=server, peer=server)
            rates[label] = rate_of([("nats_receive", own), ("nats_send", own)])
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
    """Round trips of one message at a time, compared with bare UDP on the same kind of loop."""
    counted = replace(setting, count=2_000 if quick else 20_000)
    results: list[dict[str, dict[str, float]]] = []
    for number in range(rounds):
        progress(f"echo, round {number + 1} of {rounds}")
        times = {}
        for label, name, more in ECHOES:
            with at_work(pair(name, "echo", "ask", replace(counted, **more))) as (_, asking):
                times[label] = asking.read()
        results.append(times)
    return {
        quantile: medians([{k: v[quantile] for k, v in times.items()} for times in results], UDP)
        for quantile in ("p50", "p99")
    } | {"rounds": results}


# ---- bytes on the wire ----


def wire(setting: Setting, rounds: int, quick: bool) -> dict[str, Any]:
    """Bytes that both sides put on the wire, headers of IPv4 and UDP included, per message."""
    counted = replace(setting, count=256 * (100 if quick else 2_000))
    report = {}
    ours = [candidate for candidate in CANDIDATES if candidate[1] == "node"]
    for label, name, more in ours[:1] if quick else ours:
        progress(f"wire, {label}")
        with at_work(pair(name, "consume", "produce", replace(counted, **more))) as both:
            per_message = [side.read() / counted.count for side in both]
        report[label] = {
            "back": per_message[0],
            "there": per_message[1],
            "over_payload": sum(per_message) / counted.size,
        }
    return report


# ---- a lossy link ----

LOSSES = (0.0, 0.01, 0.1)
DELAY = 0.001  # seconds, each way: as between two nearby cities
SEED = 7
CUBIC = "zmq over TCP, cubic"
STREAMS: tuple[Candidate, ...] = (
    (CUBIC, "zmq", {"congestion": "cubic"}),
    ("zmq over TCP, bbr", "zmq", {"congestion": "bbr"}),
    (BATCH, "node", {"batch": True}),
    (BATCH + ENCRYPTED, "node", {"batch": True, "encrypted": True}),
)


def loss(setting: Setting, rounds: int, quick: bool) -> dict[str, Any]:
    """Goodput through a relay that loses packets: ours compared with the TCP stream of zmq."""
    reason = runtime_relay.why_not()
    if reason:
        progress(f"loss: skipped, {reason}")
        return {"left_out": reason}
    report: dict[str, Any] = {}
    for loss_rate in LOSSES[1:2] if quick else LOSSES:
        lossy = replace(setting, size=1024, loss=loss_rate, delay=DELAY, seed=SEED)
        results = []
        for number in range(rounds):
            progress(f"loss of {loss_rate:.0%}, round {number + 1} of {rounds}")
            process = Process(("through_relay", lossy), within=runtime_relay.NAMESPACE)
            try:
                results.append(process.read())
            finally:
                process.stop()
        report[f"{loss_rate:.0%}"] = medians(results, CUBIC) | {"rounds": results}
    return report


def through_relay(setting: Setting) -> dict[str, float]:
    """A role, in its own namespace: bytes of payload per second through a relay."""
    rates = {}
    for label, name, more in STREAMS:
        own = replace(setting, **more)
        if own.congestion and own.congestion not in runtime_relay.congestion_controls():
            continue
        with at_work([("relay", own)]):
            calls = pair(name, "receive", "send", own, runtime_relay.HERE, runtime_relay.THERE)
            rates[label] = setting.size * rate_of(calls)
    return rates


# ---- all to all ----

MESHES = (2, 4, 8, 16)


def mesh(setting: Setting, rounds: int, quick: bool) -> dict[str, Any]:
    """Messages per second delivered to each of several processes that all send to all."""
    report = {}
    for count in MESHES[:1] if quick else MESHES:
        progress(f"mesh of {count}")
        names = {f"p{number}": f"{LOOPBACK}:{free_port()}" for number in range(count)}
        meshed = replace(setting, names=names, seconds=2 * setting.seconds)
        calls: list[Call] = [("node_mesh", replace(meshed, name=name)) for name in names]
        with at_work(calls) as processes:
            warm = time.monotonic() + count * setting.warm_up  # there are more windows to fill
            for process in processes:
                process.write(warm)
            rates = [process.read() for process in processes]
        report[str(count)] = {
            "each": sum(rates) / count,
            "least": min(rates),
            "all": sum(rates),
        }
    return report


# ---- memory ----


def memory(setting: Setting, rounds: int, quick: bool) -> dict[str, Any]:
    """Bytes per idle peer, and per message in flight."""
    progress("memory")
    peers = replace(setting, count=50 if quick else 400, encrypted=True)
    with at_work(pair("node", "hub", "spokes", peers)) as (hub, _):
        report = {"idle peer, encrypted": hub.read()}
    counted = replace(setting, count=256 * (100 if quick else 400))
    with at_work(pair("node", "hoard", "fill", counted)) as (receiver, sender):
        receiver.read()
        sender.write("begin")
        report["message of 32 bytes that waits to be read, at the receiver"] = receiver.read()
    with at_work(pair("node", "hoard", "fill", counted)) as (receiver, sender):
        receiver.read()
        receiver.pause()
        sender.write("begin")
        report["message of 32 bytes that is not acknowledged, at the sender"] = sender.read()
    return report


Part = Callable[[Setting, int, bool], dict[str, Any]]
PARTS: dict[str, Part] = {
    part.__name__: part for part in (throughput, echo, wire, loss, mesh, memory)
}
