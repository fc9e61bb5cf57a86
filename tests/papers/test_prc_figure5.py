"""Nédelec, section 3 and figure 5, scaled down: entries follow the delay, and are forgotten.

Minutes are fractions of a second here, and the delay goes down again, which it does not in the paper.
`benchmarks/prc.py` runs the experiment at its full length.
"""

from __future__ import annotations

from functools import cache

from beforehand.simulator import Metrics, Result, Scenario, run

SHUFFLE, LAST_SHUFFLE, LAST_BROADCAST = 4, 16, 18  # seconds
# Slow from 8 to 10 s, fast before 4 s and after 14 s.
DELAY = "schedule:0s=5ms,4s=5ms,8s=300ms,10s=300ms,14s=5ms"


@cache
def measured(processes: int, rate: int) -> Result:
    """Broadcasts while neighbours are exchanged and the delay goes up and down."""
    return run(
        Scenario(
            protocol="prc",
            processes=processes,
            workload=f"broadcast:{rate},1s,{LAST_BROADCAST}s",
            overlay=f"spray:{SHUFFLE}s,{LAST_SHUFFLE}s",
            fifo=True,
            delay=DELAY,
            sample="93ms",
        ),
        audit=processes < 100,
    )


def entries(result: Result, start: float, end: float) -> float:
    """Per process, mean of the samples between two times in seconds."""
    values = [sample.entries for sample in result.series if start <= sample.time_ns / 1e9 < end]
    return sum(values) / len(values)


def control(result: Result, start: float, end: float) -> float:
    """Control messages per process and second, between two times in seconds."""
    values = [
        sample.control_per_second for sample in result.series if start < sample.time_ns / 1e9 <= end
    ]
    return sum(values) / len(values)


def frames_per_link(metrics: Metrics) -> float:
    """Control frames for each link, in one direction, that was added."""
    return metrics.control_frames / metrics.links_opened


def test_figure_5a_entries_follow_the_delay_up_and_down() -> None:
    """Little is held at 5 ms, much at 300 ms, and little again after that."""
    result = measured(100, 5)
    before, rising = entries(result, 1, 4), entries(result, 5, 7)
    slow, falling = entries(result, 8, 10), entries(result, 11, 13)
    after = entries(result, 15, LAST_BROADCAST)
    assert 0 < before < rising < slow > falling > after > 0
    assert slow > 10 * max(before, after)


def test_figure_5a_nothing_is_held_when_nobody_broadcasts() -> None:
    """By no process: the last sample comes after the last frame."""
    result = measured(100, 5)
    assert result.outcome == "complete"
    assert result.series[-1].entries == 0 and result.series[-1].most_entries == 0


def test_figure_5a_less_than_a_vector() -> None:
    """While delays are at most 300 ms, less than one entry per process, for every sample."""
    result = measured(100, 5)
    assert max(moment.entries for moment in result.series) < 100


def test_figure_5a_entries_are_linear_in_the_rate() -> None:
    """Section 3: entries are proportional to the rate of broadcasts."""
    once, thrice = (entries(measured(30, rate), 8, 10) for rate in (5, 15))
    assert 2.4 < thrice / once < 3.6


def test_figure_5a_larger_views_hold_more() -> None:
    """Section 3: each message adds an entry on each link of the in-view."""
    small, large = (entries(measured(count, 5), 8, 10) for count in (30, 100))
    assert small < large


def test_figure_5b_control_is_constant_while_shuffling() -> None:
    """Each shuffle costs about the same, fewer links at long delays, and nothing after the last."""
    result = measured(100, 5)
    early, slow, late = control(result, 0, 4), control(result, 8, 12), control(result, 12, 16)
    assert 0.7 < late / early < 1.3
    assert 0.3 < slow / early < 1.0
    assert control(result, LAST_SHUFFLE + 0.2, 60) == 0


def test_section_3_eight_control_messages_initialise_a_link() -> None:
    """Eight for one direction and six for the way back, and one to close it (see `overlay.py`).

    B-beta is among them if it is empty, otherwise it carries messages and is not counted.
    """
    metrics = measured(100, 5).metrics
    assert metrics.links_opened == metrics.links_closed > 1000
    assert 7.0 < frames_per_link(metrics) <= 8.0


def test_section_3_nothing_is_lost_or_delivered_twice() -> None:
    """All processes deliver all messages, each once."""
    metrics = measured(100, 5).metrics
    assert metrics.delivered == metrics.sent * 100 > 0
    assert metrics.duplicates == metrics.undelivered == 0


def test_section_3_in_causal_order() -> None:
    """The oracle checks every delivery of a smaller system."""
    result = measured(30, 15)
    assert result.audited and result.clean and result.metrics.links_opened > 100


def test_section_2_2_link_memory_alone_delivers_twice() -> None:
    """Without the link setup of `prc`, figure 2 happens all the time in the same scenario.

    It is cut short: what is delivered again is passed on again, and goes round forever.
    """
    duplicates = {}
    for protocol in ("link-memory", "prc"):
        result = run(
            Scenario(
                protocol=protocol,
                processes=30,
                workload="broadcast:20,0s,10s",
                overlay="spray:1s,10s",
                fifo=True,
                delay="100ms",
                until="2s",
            )
        )
        assert result.metrics.links_opened > 50
        duplicates[protocol] = result.metrics.duplicates
    assert duplicates["link-memory"] > 100 and duplicates["prc"] == 0
