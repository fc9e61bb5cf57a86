"""Loss of 30 %, duplication of 30 %, heavy reordering and two partitions: who survives that?"""

from __future__ import annotations

from typing import Any

import pytest

from beforehand import protocols
from beforehand.simulator import Result, Scenario, run
from tests.simulator.traced_run import of_kind, traced

CAUSAL = [name for name in protocols.names() if protocols.describe(name).causal]
HARD: dict[str, Any] = {
    "processes": 10,
    "messages": 25,
    "delay": "5ms",
    "jitter": "uniform:0ms,60ms",
    "loss": 0.3,
    "duplicate": 0.3,
    "partitions": ("60ms-160ms:40%", "200ms-300ms:p1,p7"),
    "seed": 11,
}
CASTS = {"unicast": "uniform", "multicast": "groups:4", "broadcast": "broadcast:1000"}


def hard(protocol: str, cast: str = "unicast", **changes: Any) -> Result:
    """A judged run on the hard network."""
    fields = {**HARD, "workload": CASTS[cast], **changes}
    return run(Scenario(protocol=protocol, **fields), audit=True)


def assert_hard(result: Result) -> None:
    """The network was as bad as promised."""
    metrics = result.metrics
    about = f"seed {result.scenario.seed}"
    assert 0.3 < metrics.frames_lost / (metrics.frames + metrics.frames_doubled) < 0.7, about
    assert 0.25 < metrics.frames_doubled / metrics.frames < 0.35, about


@pytest.mark.parametrize(
    ("protocol", "cast"),
    [(name, cast) for name in CAUSAL for cast in protocols.describe(name).casts if cast in CASTS],
)
def test_causal_protocols_deliver_everything_in_order_and_once(protocol: str, cast: str) -> None:
    """Nothing late, nothing twice, nothing missing; and messages did have to wait."""
    result = hard(protocol, cast)
    metrics = result.metrics
    assert result.outcome == "complete" and result.clean, result.violations[:1]
    assert metrics.sent == 250 and metrics.delivered == metrics.copies >= 250
    assert metrics.undelivered == metrics.duplicates == metrics.unsent == 0
    assert_hard(result)
    assert metrics.held.peak + metrics.buffered.peak > 5, "nothing ever waited"
    assert result.scenario.linked() == (protocols.describe(protocol).network == "reliable")


@pytest.mark.parametrize("protocol", ["fifo", "raw"])
def test_the_controls_are_caught_on_the_same_network(protocol: str) -> None:
    """FIFO keeps all promises but the one that matters; the network itself keeps none."""
    result = hard(protocol)
    kinds = {violation.kind for violation in result.violations}
    assert "causal" in kinds and not result.clean
    assert_hard(result)
    if protocol == "fifo":
        assert kinds == {"causal"} and result.metrics.undelivered == 0
    else:
        assert kinds == {"causal", "fifo", "duplicate"}
        assert result.metrics.undelivered and result.metrics.duplicates
        assert result.outcome == "stalled"


def test_an_unsafe_variant_is_caught() -> None:
    """cykas-unsafe is wrong rarely, so it gets a few seeds; cykas is right in all of them."""

    def violations(protocol: str) -> int:
        scenarios = [
            Scenario(
                protocol=protocol,
                processes=5,
                messages=100,
                interval="30ms",
                delay="lognormal:10ms,1.5",
                seed=seed,
            )
            for seed in range(9)
        ]
        return sum(len(run(scenario, audit=True).violations) for scenario in scenarios)

    assert violations("cykas-unsafe") > 0, "it got away with it"
    assert violations("cykas") == 0


def test_frames_overtake_each_other_unless_links_are_fifo() -> None:
    """The same jitter, with and without the option: counted in the trace."""

    def overtaken(fifo: bool) -> int:
        _, events = traced(
            protocol="raw",
            processes=4,
            messages=60,
            delay="5ms",
            jitter="uniform:0ms,60ms",
            fifo=fifo,
        )
        newest: dict[tuple[str | None, str], int] = {}
        count = 0
        for event in of_kind(events, "receive"):
            link = (event.sender, event.process)
            count += (event.mid or 0) < newest.get(link, 0)
            newest[link] = max(event.mid or 0, newest.get(link, 0))
        return count

    assert overtaken(fifo=False) > 20
    assert overtaken(fifo=True) == 0


def test_a_reliable_link_costs_what_it_sends() -> None:
    """Its segments and acknowledgements are counted as the protocol's own."""
    bare = run(Scenario(protocol="rst", processes=5, messages=20)).metrics
    linked = run(Scenario(protocol="rst", processes=5, messages=20, link="always")).metrics
    assert bare.control_frames == 0 and bare.unacknowledged.peak == 0
    # An acknowledgement for each segment, except for those that come too early.
    assert linked.sent == 100 >= linked.control_frames > 90
    assert linked.unacknowledged.peak > 0
    assert linked.metadata_bytes > bare.metadata_bytes + 2 * linked.control_frames


def test_coalesced_acknowledgements_still_get_everything_there() -> None:
    """With acks and permits put off by 20 ms there are fewer of them, and all is delivered."""
    fields: dict[str, Any] = {
        "protocol": "hybrid",
        "processes": 5,
        "messages": 60,
        "interval": "2ms",
        "delay": "5ms",
    }
    at_once = run(Scenario(**fields), audit=True)
    put_off = run(Scenario(**fields, options={"coalesce": True}, flush="20ms"), audit=True)
    assert at_once.clean and put_off.clean and put_off.metrics.delivered == 300
    assert put_off.metrics.control_frames < 0.6 * at_once.metrics.control_frames
    assert put_off.metrics.held_time.mean > at_once.metrics.held_time.mean


def test_without_loss_no_ticks_are_needed() -> None:
    """No ticks run on a network that loses nothing, even if it reorders, and all still finish."""
    for protocol in CAUSAL:
        if "unicast" not in protocols.describe(protocol).casts:
            continue
        scenario = Scenario(
            protocol=protocol, processes=8, messages=20, jitter="uniform:0ms,50ms", interval="3ms"
        )
        assert scenario.tick_ns == 0
        result = run(scenario, audit=True)
        assert result.clean and result.metrics.delivered == 160, protocol
        assert result.metrics.held.peak + result.metrics.buffered.peak > 0, protocol
