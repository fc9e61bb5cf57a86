"""One seed is one run: on any machine, compiled or not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from beforehand.simulator import Scenario, run
from beforehand.trace import Recorder, create
from tests.simulator.traced_run import digest, traced

# Every kind of random choice somewhere. Both builds of the package must give these very hashes, on
# every machine; if a change of a protocol or of the simulator changes them, explain why in the commit.
PINNED: dict[str, tuple[dict[str, Any], str]] = {
    "lossy": (
        {
            "protocol": "hybrid",
            "jitter": "uniform:0ms,30ms",
            "loss": 0.2,
            "duplicate": 0.1,
            "partitions": ("50ms-90ms:30%",),
        },
        "c07cd89fc42c8f8d",
    ),
    "lognormal": ({"protocol": "hybrid-sps", "delay": "lognormal:20ms,1.5"}, "e41af184a0861fe7"),
    "jobs": (
        {"protocol": "cykas", "job": "normal:25ms,10ms", "job_share": 0.3},
        "45e20ad3927c0388",
    ),
    "poisson": ({"protocol": "mattern", "interval": "exponential:8ms"}, "a474b6645b147db9"),
    "sizes": (
        {"protocol": "ks", "payload": "uniform:1,3kB", "bandwidth": "200kB/s", "fifo": True},
        "bb989f408a68dc5d",
    ),
    "groups": ({"protocol": "rst", "workload": "groups:4"}, "235f423e3cf28cd4"),
    "services": ({"protocol": "hybrid", "workload": "fanout:3,2", "loss": 0.1}, "d29e7edfd3d8ed31"),
    "stops": (
        {"protocol": "hybrid", "stops": ("p3@70ms",), "drop_after": "50ms"},
        "27efde46bc0a7057",
    ),
    "overlay": (
        {
            "protocol": "prc",
            "workload": "broadcast:50",
            "overlay": "spray:200ms",
            "churn": "joins=2,leaves=1,crashes=1,from=100ms,to=2s",
            "loss": 0.1,
        },
        "4b40c2ec41eb9241",
    ),
    "safe links": (
        {"protocol": "preventive", "workload": "broadcast:50", "overlay": "spray:200ms"},
        "fd3fa819f83b8c13",
    ),
    "tree": (
        {"protocol": "tree", "workload": "groups:4", "reparents": ("p8>p2@30ms", "p5>p6@60ms")},
        "6b917228067d280a",
    ),
    "clocks": (
        {"protocol": "newtop", "workload": "broadcast:100", "loss": 0.1},
        "fca54f5885e7be14",
    ),
    "vectors": ({"protocol": "vector", "workload": "broadcast:100"}, "0d2ec3f6a3d26424"),
}


def scenario(**fields: Any) -> dict[str, Any]:
    """Small, but long enough for a difference to show."""
    return {"processes": 10, "messages": 15, "seed": 5, **fields}


@pytest.mark.parametrize("name", PINNED)
def test_the_trace_is_the_same_on_every_machine(name: str) -> None:
    """The hash of all events equals the pinned one."""
    fields, expected = PINNED[name]
    result, events = traced(**scenario(**fields))
    assert len(events) > 500
    assert digest(events) == expected, f"{name}, seed {result.scenario.seed}"


@pytest.mark.parametrize("name", PINNED)
def test_another_seed_is_another_run(name: str) -> None:
    """And the same seed again is the same one."""
    fields, _ = PINNED[name]
    first = digest(traced(**scenario(**fields))[1])
    assert digest(traced(**scenario(**fields))[1]) == first
    assert digest(traced(**scenario(**fields, seed=6))[1]) != first


def test_trace_files_are_the_same_byte_by_byte(tmp_path: Path) -> None:
    """Parquet and JSON lines, written twice; another seed gives another file."""
    for ending in ("parquet", "jsonl"):
        contents = []
        for number, seed in enumerate((5, 5, 6)):
            chosen = Scenario(**scenario(loss=0.1, seed=seed))
            path = tmp_path / f"{number}.{ending}"
            with Recorder("run", create(path)) as recorder:
                run(chosen, recorder=recorder)
            contents.append(path.read_bytes())
        assert contents[0] == contents[1] != contents[2]


def test_observers_change_nothing() -> None:
    """The metrics are the same with and without trace, oracle and progress."""
    fields = scenario(loss=0.2, protocol="hybrid-sps")
    seen: list[tuple[int, int]] = []
    plain = run(Scenario(**fields), progress=lambda done, total: seen.append((done, total)))
    watched, _ = traced(audit=True, **fields)
    assert plain.metrics == watched.metrics


def test_protocols_are_given_the_same_traffic() -> None:
    """Who sends to whom, and how much, does not depend on the protocol: only when."""
    sends = []
    for protocol in ("hybrid", "mattern", "rst"):
        _, events = traced(**scenario(protocol=protocol, payload="uniform:10,500"))
        sends.append(
            sorted((e.process, e.mid, e.to, e.payload_bytes) for e in events if e.kind == "send")
        )
    assert sends[0] == sends[1] == sends[2]
    assert len({size for *_, size in sends[0]}) > 20


def test_progress_is_reported_on_long_runs() -> None:
    """Messages sent, out of all, growing."""
    seen: list[tuple[int, int]] = []
    run(
        Scenario(protocol="raw", processes=2, messages=12_000, interval="1ms", delay="1ms"),
        progress=lambda done, total: seen.append((done, total)),
    )
    assert len(seen) >= 2 and {total for _, total in seen} == {24_000}
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})
