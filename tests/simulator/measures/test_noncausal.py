"""Non-causal latency: by hand, and against brute force on random runs of all kinds of protocols."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from beforehand import protocols
from beforehand.simulator import Program, Send
from beforehand.simulator.measures.instruments import DurationSummary
from beforehand.simulator.measures.noncausal import MAX_KNOWN, UNKNOWN, NonCausalLatency
from beforehand.simulator.world.processes import OpenMessage, Process
from tests.simulator.bystander import lateness
from tests.simulator.traced_run import traced

UNICAST = ["hybrid", "hybrid-sps", "mattern", "cykas", "fifo", "rst", "ks"]
MULTICAST = ["hybrid", "hybrid-sps", "fifo", "rst", "ks"]
AS_EARLY_AS_POSSIBLE = ["rst", "ks"]

NETWORKS: dict[str, dict[str, Any]] = {
    "steady": {"delay": "5ms"},
    "jitter": {"delay": "2ms", "jitter": "uniform:0ms,10ms"},
    "lossy": {"delay": "uniform:1ms,9ms", "loss": 0.2, "duplicate": 0.1},
    "narrow": {"delay": "2ms", "jitter": "exponential:2ms", "bandwidth": "100kB/s"},
    "sites": {"delay": "matrix:1ms,40ms;40ms,1ms", "jitter": "uniform:0ms,1ms"},
    "parted": {"delay": "5ms", "jitter": "uniform:0ms,5ms", "partitions": ("20ms-60ms:50%",)},
    "busy": {"delay": "lognormal:5ms,1", "job": "uniform:0ms,9ms", "job_share": 0.5},
}
CAUSES: dict[str, dict[str, Any]] = {
    "unicast": {"workload": "uniform", "interval": "exponential:4ms"},
    "multicast": {"workload": "groups:3", "interval": "exponential:8ms"},
}


@cache
def figures(protocol: str, network: str, cause: str) -> tuple[DurationSummary, list[int]]:
    """What the simulator reports, and what brute force computes from the trace."""
    result, events = traced(
        protocol=protocol, processes=7, messages=20, seed=3, **CAUSES[cause], **NETWORKS[network]
    )
    assert result.outcome == "complete" and result.metrics.noncausal is not None
    return result.metrics.noncausal, lateness(events)


CASES = [
    *((protocol, network, "unicast") for protocol in UNICAST for network in NETWORKS),
    *((protocol, network, "multicast") for protocol in MULTICAST for network in NETWORKS),
]


@pytest.mark.parametrize(("protocol", "network", "cause"), CASES)
def test_against_brute_force(protocol: str, network: str, cause: str) -> None:
    """Count, mean and maximum equal those over all deliveries, computed with whole vector clocks."""
    reported, delays = figures(protocol, network, cause)
    assert min(delays) >= 0
    assert (reported.count, reported.max) == (len(delays), max(delays))
    assert reported.mean == sum(delays) / len(delays)
    for share, quantile in ((0.5, reported.p50), (0.99, reported.p99)):
        wanted = sorted(delays)[-int(-share * len(delays) // 1) - 1]
        assert quantile == pytest.approx(wanted, rel=0.001)


@pytest.mark.parametrize("cause", CAUSES)
@pytest.mark.parametrize("network", NETWORKS)
def test_protocols_that_deliver_as_early_as_possible_have_none(network: str, cause: str) -> None:
    """The protocols that buffer at the receiver never wait for nothing; hybrids do, in the same runs."""
    for protocol in AS_EARLY_AS_POSSIBLE:
        assert figures(protocol, network, cause)[0].max == 0
    late = ["hybrid", "hybrid-sps"] + (["mattern"] if cause == "unicast" else [])
    for protocol in late:
        assert figures(protocol, network, cause)[0].max > 0


def test_with_stopped_processes() -> None:
    """What is given up is not waited for, and the deliveries among the living are counted right."""
    result, events = traced(
        protocol="hybrid",
        processes=7,
        messages=20,
        delay="uniform:1ms,9ms",
        interval="exponential:4ms",
        stops=("p2@30ms", "p5@50ms"),
        drop_after="20ms",
    )
    reported, delays = result.metrics.noncausal, lateness(events)
    assert reported is not None and reported.max > 0
    assert (reported.count, reported.mean, reported.max) == (
        len(delays),
        sum(delays) / len(delays),
        max(delays),
    )


MS = 10**6
# a is 100 ms from c, everything else 10 ms. a sends to c, then to b; b, after delivering, sends to c.
TRIANGLE = "matrix:1ms,10ms,100ms;10ms,1ms,10ms;100ms,10ms,1ms"
OVERTAKING = Program(
    [
        Send("to c", "a", ("c",)),
        Send("to b", "a", ("b",), after=("to c",)),
        Send("b to c", "b", ("c",), after=("to b",)),
    ]
)


@pytest.mark.parametrize(
    ("protocol", "late"),
    [
        # c delivers a's message at 100 and b's at once: that had arrived, but had to wait.
        ("rst", [0, 0, 0]),
        # The same, but nothing waits: each at its arrival, and none could be earlier.
        ("fifo", [0, 0, 0]),
        # The message to b leaves at 200, when c's acknowledgement is back; it could have been there
        # at 10. What b then sends could be at c at 220, and is.
        ("mattern", [0, 200 * MS, 0]),
    ],
)
def test_by_hand(protocol: str, late: list[int]) -> None:
    """Three messages in a triangle, the slowest of which is the first."""
    result, events = traced(
        protocol=protocol, workload="replay", program=OVERTAKING, delay=TRIANGLE
    )
    assert sorted(lateness(events)) == sorted(late)
    reported = result.metrics.noncausal
    assert reported is not None and (reported.count, reported.max) == (3, max(late))


def test_a_run_that_is_too_congested_is_not_followed() -> None:
    """Beyond so many senders with open messages the bystander reports that it is unknown."""
    processes = [
        Process(index, f"p{index}", protocols.create("raw", f"p{index}"))
        for index in range(MAX_KNOWN + 3)
    ]
    receiver, other, *senders = processes
    bystander = NonCausalLatency(processes)

    def send(sender: Process) -> OpenMessage:
        message = OpenMessage(sender, [receiver, other], 0, 0, None)
        sender.open.add(message)
        bystander.sent(message)
        for copy in message.copies():
            bystander.addressed(copy)
        return message

    def deliver(message: OpenMessage) -> int:
        copy = message.copy_to(receiver)
        assert copy is not None
        past = message.past
        message.close(copy)
        bystander.closed(copy)
        return int(bystander.delivered(copy, past, 5))

    messages = [send(sender) for sender in senders]
    receiver.known = messages[: MAX_KNOWN - 1]
    outcomes = []
    for message in (messages[-2], messages[-1], messages[0]):
        outcomes.append((deliver(message), bystander.gave_up, len(receiver.known)))
    # As many as there may be; one too many, which is the last with a figure; then none.
    assert outcomes == [(0, False, MAX_KNOWN), (0, True, 0), (UNKNOWN, True, 0)]
    assert receiver.delivered is None
