"""The recommendations follow from the figures."""

from __future__ import annotations

from dataclasses import replace

import pytest

from beforehand.pipeline.study.advice import Advice, advise, everywhere_usable
from beforehand.pipeline.study.figures import ProtocolFigures

MS = 10**6


def figures(
    protocol: str, network: str = "lan", p99: float = 10, wire: float = 100
) -> ProtocolFigures:
    """The figures of a successful run; p99 is in milliseconds."""
    return ProtocolFigures(
        protocol=protocol,
        network=network,
        causal=True,
        metadata="O(1)",
        run=f"{protocol}-{network}",
        outcome="complete",
        verdict="clean",
        violations=0,
        causal_violations=0,
        deliveries=1_000,
        latency_p99=p99 * MS,
        wire_per_message=wire,
        metadata_per_message=wire / 2,
        integers_peak=int(wire),
        waiting_peak=7,
    )


def control(
    name: str, network: str = "lan", p99: float = 5, violations: int = 3
) -> ProtocolFigures:
    """The figures of a protocol without guarantees."""
    return replace(
        figures(name, network, p99),
        causal=False,
        verdict="violated" if violations else "clean",
        violations=violations,
        causal_violations=violations,
    )


def advice_for(rows: list[ProtocolFigures], situation: str) -> Advice:
    """The only advice for a situation."""
    (advice,) = [advice for advice in advise(rows) if advice.situation == situation]
    return advice


def test_the_fastest_protocol_wins_and_the_runner_up_is_named() -> None:
    """Protocols are compared by p99 latency, on each network separately."""
    rows = [figures("slow", p99=20), figures("quick", p99=10), figures("middle", p99=15)]
    rows += [figures("slow", "wan", 1), figures("quick", "wan", 2), figures("middle", "wan", 3)]
    assert advice_for(rows, "low latency on lan") == Advice(
        "low latency on lan", ("quick",), "quick: p99 10 ms; next: middle with 15 ms."
    )
    assert advice_for(rows, "low latency on wan").protocols == ("slow",)


def test_ties_are_listed_and_broken_by_bytes() -> None:
    """A difference of one per cent counts as a tie."""
    rows = [figures("a", p99=10, wire=200), figures("b", p99=10.1, wire=100)]
    advice = advice_for(rows, "low latency on lan")
    assert advice.protocols == ("b", "a")
    assert advice.sentence == "b: p99 10.1 ms; as good: a."


def test_few_bytes_compares_bytes_on_the_wire() -> None:
    """The sentence also gives the share of metadata."""
    rows = [figures("a", wire=200), figures("b", wire=100)]
    advice = advice_for(rows, "few bytes on lan")
    assert advice.protocols == ("b",)
    assert advice.sentence == (
        "b: 100 bytes on the wire per message, 50 of them metadata; next: a with 200."
    )


def test_the_general_advice_is_the_protocol_that_is_never_far_off() -> None:
    """A fast but wasteful and a lean but slow protocol lose to a compromise."""
    rows = [
        figures("fast", p99=10, wire=500),
        figures("lean", p99=60, wire=100),
        figures("both", p99=15, wire=130),
    ]
    advice = advice_for(rows, "in general, at this size")
    assert advice.protocols == ("both",)
    assert advice.sentence == (
        "both: on every network at most 1.50 times the best p99 latency, and 1.30 times the fewest "
        "bytes."
    )


def test_little_memory_counts_the_worst_network() -> None:
    """State is compared on the network where each protocol needs the most."""
    rows = [figures("a", wire=50), figures("a", "wan", wire=300)]
    rows += [figures("b", wire=100), figures("b", "wan", wire=200)]
    assert advice_for(rows, "little memory").protocols == ("b",)
    assert "at most 200 integers" in advice_for(rows, "little memory").sentence


def test_constant_metadata_is_advised_for_many_processes() -> None:
    """The fastest protocol has clocks that grow, so the fastest without is recommended."""
    rows = [
        replace(figures("rst", p99=1), metadata="O(n^2)"),
        figures("a", p99=9),
        figures("b", p99=5),
    ]
    advice = advice_for(rows, "many processes")
    assert advice.protocols == ("b",) and "as that of rst does" in advice.sentence
    assert not [a for a in advise(rows[1:]) if a.situation == "many processes"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"verdict": "violated", "violations": 4}, "4 violations in 1,000 deliveries"),
        ({"outcome": "stalled"}, "the run stalled"),
        ({"outcome": "cut short"}, "the run was cut short"),
        ({"outcome": "failed", "verdict": "failed", "error": "KeyError\nmore"}, "failed: KeyError"),
    ],
)
def test_a_protocol_that_did_badly_is_not_recommended(
    change: dict[str, object], reason: str
) -> None:
    """One bad network excludes it there and from the general advice."""
    bad = replace(figures("quick", p99=1), **change)  # type: ignore[arg-type]
    rows = [bad, figures("quick", "wan", 1), figures("slow", p99=20), figures("slow", "wan", 20)]
    assert {row.protocol for row in everywhere_usable(rows)} == {"slow"}
    assert advice_for(rows, "in general, at this size").protocols == ("slow",)
    assert advice_for(rows, "low latency on lan").protocols == ("slow",)
    assert advice_for(rows, "low latency on wan").protocols == ("quick",)
    assert reason in advice_for(rows, "not quick on lan").sentence


def test_controls_are_listed_but_never_recommended() -> None:
    """Neither speed nor a run without violations gets a control recommended."""
    rows = [figures("causal", p99=10), control("fifo", p99=5), control("raw", p99=4, violations=0)]
    recommended = {name for advice in advise(rows) for name in advice.protocols}
    assert recommended == {"causal"}
    sentence = advice_for(rows, "without causal order: fifo").sentence
    assert sentence == "deliveries out of causal order: 3 of 1,000 on lan."


def test_the_price_of_order_compares_with_the_best_control() -> None:
    """The best control is the one with the fewest violations."""
    rows = [figures("causal", p99=10), control("fifo", p99=8), control("raw", p99=4, violations=9)]
    sentence = advice_for(rows, "the price of order on lan").sentence
    assert sentence == (
        "p99 of causal is 10 ms, of fifo, which does not keep causal order, 8 ms: 25 % more."
    )
    rows[1] = control("fifo", p99=10)
    assert "10 ms: no more than that" in advice_for(rows, "the price of order on lan").sentence


def test_having_nothing_to_recommend_is_reported() -> None:
    """If every protocol failed, the advice is a sentence without a protocol."""
    advice = advice_for([replace(figures("a"), outcome="stalled")], "in general")
    assert advice.protocols == () and "No causal protocol" in advice.sentence
