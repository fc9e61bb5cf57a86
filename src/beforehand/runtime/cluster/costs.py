"""What the run of a cluster cost, from its traces and from the counters of its processes.

All processes run on one machine, so their clocks are one clock and latencies need no correction.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from beforehand import trace
from beforehand.runtime.cluster.child import Child


@dataclass(frozen=True)
class ClusterCosts:
    """Latency is from causal-send to delivery; None where there was nothing to measure."""

    latency_p50_ns: int | None
    latency_p99_ns: int | None
    meta_bytes_per_message: float | None  # of the protocol: its headers and its own frames
    wire_bytes_per_message: (
        float | None
    )  # all bytes of all datagrams, payload and encryption included


def measure(folder: str | os.PathLike[str], children: Sequence[Child]) -> ClusterCosts:
    """Measure a run that has left its traces in a folder."""
    sent: dict[tuple[str | None, int | None], int] = {}
    delivered: list[tuple[tuple[str | None, int | None], int]] = []
    meta = 0
    for event in trace.read(folder):
        message = (event.sender, event.mid)
        if event.kind == "send":
            sent[message] = event.time_ns
        elif event.kind == "deliver":
            delivered.append((message, event.time_ns))
        elif event.kind == "release" or (event.kind == "control" and event.sender == event.process):
            meta += event.meta_bytes
    latencies = sorted(time - sent[message] for message, time in delivered if message in sent)
    wire = sum(child.figures.bytes_out for child in children)
    return ClusterCosts(
        _quantile(latencies, 0.5),
        _quantile(latencies, 0.99),
        meta / len(sent) if sent else None,
        wire / len(sent) if sent else None,
    )


def _quantile(ordered: Sequence[int], share: float) -> int | None:
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)] if ordered else None
