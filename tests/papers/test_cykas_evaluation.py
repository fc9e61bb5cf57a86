"""The Cykas paper, section 5: its experiments, scaled down, confirm its figures.

Programs of random messages, 5 ms of propagation, uplinks of a given bandwidth, jobs on delivery. The
paper's numbers are those of its own implementation; what must come out here is who wins, and when.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from beforehand.simulator import Metrics, Scenario, run

BUSY = {"processes": 30, "messages": 40, "bandwidth": "50kB/s", "interval": "10ms"}


@cache
def measured(protocol: str, **fields: Any) -> Metrics:
    """A run to its end."""
    result = run(Scenario(protocol=protocol, delay="5ms", **fields))
    assert result.outcome == "complete"
    return result.metrics


def speedup(**fields: Any) -> float:
    """How many times as fast as mattern cykas finishes."""
    settings = {**BUSY, **fields}
    slow, fast = measured("mattern", **settings), measured("cykas", **settings)
    return slow.execution_ns / fast.execution_ns


def test_figure_4_metadata_takes_over_as_bandwidth_falls() -> None:
    """With fast uplinks the matrix protocol is first; with slow ones it is last, by far."""
    times = {
        (protocol, bandwidth): measured(
            protocol, processes=25, messages=30, bandwidth=bandwidth, interval="1ms"
        ).execution_ns
        for protocol in ("rst", "mattern", "cykas")
        for bandwidth in ("20kB/s", "10MB/s")
    }
    assert times["rst", "10MB/s"] < times["cykas", "10MB/s"] < times["mattern", "10MB/s"]
    assert times["rst", "20kB/s"] > 2 * times["mattern", "20kB/s"]
    assert times["rst", "20kB/s"] > 2 * times["cykas", "20kB/s"]


def test_figure_4_matrix_time_grows_quadratically() -> None:
    """At a bandwidth that does not suffice, twice the processes take four times as long."""
    ten, twenty = (
        measured("rst", processes=n, messages=20, bandwidth="5kB/s", payload=0, interval="1ms")
        for n in (12, 24)
    )
    assert 3.3 < twenty.execution_ns / ten.execution_ns < 4.5


def test_figure_5_eager_messages_start_jobs_earlier() -> None:
    """More so the more often processes send; if they rarely do, there is nothing to gain."""
    gains = [
        speedup(interval=interval, job="12.5ms", job_share=0.1)
        for interval in ("1ms", "10ms", "100ms")
    ]
    assert gains[0] > 1.15 and gains[0] > gains[1] > 0.99
    assert abs(gains[2] - 1.0) < 0.02
    settings = {**BUSY, "interval": "1ms", "job": "12.5ms", "job_share": 0.1}
    assert (
        measured("mattern", **settings).mean_job_start_ns
        > 1.2 * measured("cykas", **settings).mean_job_start_ns
    )


def test_figure_6_hot_spots_undo_the_gain() -> None:
    """Without jobs cykas is faster on uniform workloads and slower on hot spots."""
    uniform = speedup(workload="hotspot:0,0.8")
    hot = [speedup(workload=f"hotspot:{share},0.8") for share in (0.05, 0.1, 0.2)]
    assert uniform > 1.05
    assert max(hot) < 1.0


def test_hybrid_is_faster_than_both() -> None:
    """Beyond the evaluation of the paper: constant metadata and hardly any waiting."""
    settings = {**BUSY, "interval": "1ms", "job": "12.5ms", "job_share": 0.1}
    hybrid = measured("hybrid", **settings)
    for other in ("mattern", "cykas"):
        assert hybrid.execution_ns < measured(other, **settings).execution_ns
        assert hybrid.mean_job_start_ns < measured(other, **settings).mean_job_start_ns
