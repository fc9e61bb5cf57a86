"""What is recommended, and that it follows from the figures."""

from __future__ import annotations

from dataclasses import replace

import pytest

from beforehand.pipeline.study.advice import Advice, advise, everywhere_usable
from beforehand.pipeline.study.figures import ProtocolFigures

MS = 10**6


def figures(
    protocol: str, network: str = "lan", p99: float = 10, wire: float = 100
) -> ProtocolFigures:
    """A run that went well; p99 in milliseconds."""
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
    """A run of a protocol that promises nothing."""
    return replace(
        figures(name, network, p99),
        causal=False,
        verdict="violated" if violations else "clean",
        violations=violations,
        causal_violations=violations,
    )


def asked(rows: list[ProtocolFigures], situation: str) -> Advice:
    """The advice for a situation."""
    (found,) = [each for each in advise(rows) if each.situation == situation]
    return found


def test_the_fastest_wins_and_the_next_is_named() -> None:
    """By p99 latency, on each network for itself."""
    rows = [figures("slow", p99=20), figures("quick", p99=10), figures("middle", p99=15)]
    rows += [figures("slow", "wan", 1), figures("quick", "wan", 2), figures("middle", "wan", 3)]
    assert asked(rows, "low latency on lan") == Advice(
        "low latency on lan", ("quick",), "quick: p99 10 ms; next: middle with 15 ms."
    )
    assert asked(rows, "low latency on wan").protocols == ("slow",)


def test_equals_are_told_and_bytes_decide() -> None:
    """One per cent is no difference worth a decision."""
    rows = [figures("a", p99=10, wire=200), figures("b", p99=10.1, wire=100)]
    found = asked(rows, "low latency on lan")
    assert found.protocols == ("b", "a")
    assert found.sentence == "b: p99 10.1 ms; as good: a."


def test_few_bytes() -> None:
    """By all bytes on the wire, with the metadata told."""
    rows = [figures("a", wire=200), figures("b", wire=100)]
    found = asked(rows, "few bytes on lan")
    assert found.protocols == ("b",)
    assert found.sentence == (
        "b: 100 bytes on the wire per message, 50 of them metadata; next: a with 200."
    )


def test_in_general_the_one_that_is_never_far_off() -> None:
    """Fastest but wasteful and lean but slow lose against a compromise."""
    rows = [
        figures("fast", p99=10, wire=500),
        figures("lean", p99=60, wire=100),
        figures("both", p99=15, wire=130),
    ]
    found = asked(rows, "in general, at this size")
    assert found.protocols == ("both",)
    assert found.sentence == (
        "both: on every network at most 1.50 times the best p99 latency, and 1.30 times the fewest "
        "bytes."
    )


def test_little_memory_counts_the_worst_network() -> None:
    """State is compared where each protocol needs most."""
    rows = [figures("a", wire=50), figures("a", "wan", wire=300)]
    rows += [figures("b", wire=100), figures("b", "wan", wire=200)]
    assert asked(rows, "little memory").protocols == ("b",)
    assert "at most 200 integers" in asked(rows, "little memory").sentence


def test_many_processes_want_constant_metadata() -> None:
    """The fastest has clocks that grow, so the fastest of the others is named."""
    rows = [
        replace(figures("rst", p99=1), metadata="O(n^2)"),
        figures("a", p99=9),
        figures("b", p99=5),
    ]
    found = asked(rows, "many processes")
    assert found.protocols == ("b",) and "as that of rst does" in found.sentence
    assert not [e for e in advise(rows[1:]) if e.situation == "many processes"]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"verdict": "violated", "violations": 4}, "4 violations in 1,000 deliveries"),
        ({"outcome": "stalled"}, "the run stalled"),
        ({"outcome": "cut short"}, "the run was cut short"),
        ({"outcome": "failed", "verdict": "failed", "error": "KeyError\nmore"}, "failed: KeyError"),
    ],
)
def test_what_did_not_go_well_is_not_recommended(change: dict[str, object], why: str) -> None:
    """Not on that network, and nowhere in general: one bad network is enough."""
    bad = replace(figures("quick", p99=1), **change)  # type: ignore[arg-type]
    rows = [bad, figures("quick", "wan", 1), figures("slow", p99=20), figures("slow", "wan", 20)]
    assert {row.protocol for row in everywhere_usable(rows)} == {"slow"}
    assert asked(rows, "in general, at this size").protocols == ("slow",)
    assert asked(rows, "low latency on lan").protocols == ("slow",)
    assert asked(rows, "low latency on wan").protocols == ("quick",)
    assert why in asked(rows, "not quick on lan").sentence


def test_controls_are_shown_and_never_recommended() -> None:
    """However fast they are: even where they were lucky."""
    rows = [figures("causal", p99=10), control("fifo", p99=5), control("raw", p99=4, violations=0)]
    recommended = {name for each in advise(rows) for name in each.protocols}
    assert recommended == {"causal"}
    told = asked(rows, "without causal order: fifo").sentence
    assert told == "deliveries out of causal order: 3 of 1,000 on lan."


def test_the_price_of_order() -> None:
    """Beside the control with the fewest violations."""
    rows = [figures("causal", p99=10), control("fifo", p99=8), control("raw", p99=4, violations=9)]
    told = asked(rows, "the price of order on lan").sentence
    assert told == (
        "p99 of causal is 10 ms, of fifo, which does not keep causal order, 8 ms: 25 % more."
    )
    rows[1] = control("fifo", p99=10)
    assert "10 ms: no more than that" in asked(rows, "the price of order on lan").sentence


def test_nothing_to_recommend_is_said() -> None:
    """If all have failed, there is a sentence and no choice."""
    found = asked([replace(figures("a"), outcome="stalled")], "in general")
    assert found.protocols == () and "No causal protocol" in found.sentence
