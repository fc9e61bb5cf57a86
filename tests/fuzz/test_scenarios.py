"""Any scenario is refused at once or runs to an end, and its figures add up."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from hypothesis import HealthCheck, given, settings

from beforehand import protocols
from beforehand._build import is_compiled
from beforehand.errors import ScenarioError
from beforehand.simulator import Metrics, Result, Scenario
from beforehand.simulator.measures.instruments import DurationSummary, LevelSummary
from beforehand.trace import Event, check
from tests.fuzz.accounts import Accounts, Waiting, accounts
from tests.fuzz.scenarios import scenarios
from tests.simulator.bystander import lateness
from tests.simulator.traced_run import traced

# Pure cores take several times as long for the same examples, so they get fewer.
EXAMPLES = 1000 if is_compiled() else 200
MOST_TICKS = 3000  # a run that has not given up after so many will never do so
# In nanoseconds: patience is thousands of times what frames take, and on the slowest uplink a
# frame may wait for a minute.
SETTLED = 2_000 * 10**9
SETTLED_ON_UPLINKS = 500 * SETTLED


def run_to_an_end(fields: dict[str, Any]) -> tuple[Result, list[Event]] | None:
    """The run, with a limit where it has none, so that an endless one is noticed; None if refused."""
    try:
        scenario = Scenario(**fields)
    except ScenarioError as refusal:
        assert str(refusal)
        return None
    if fields["until"] is None:
        settled = SETTLED if fields["bandwidth"] is None else SETTLED_ON_UPLINKS
        limit = settled + MOST_TICKS * scenario.tick_ns
        result, events = traced(audit=True, **{**fields, "until": f"{limit}ns"})
        assert result.outcome != "cut short", "it does not end"
        return result, events
    return traced(audit=True, **fields)


def check_events(events: list[Event]) -> None:
    """Each event is valid, and those of a process are in order of number and time."""
    by_process: dict[str, list[Event]] = defaultdict(list)
    for event in events:
        check(event)
        by_process[event.process].append(event)
    for own_events in by_process.values():
        assert [event.seq for event in own_events] == list(range(1, len(own_events) + 1))
        times = [event.time_ns for event in own_events]
        assert times == sorted(times)
        assert (own_events[0].kind, own_events[-1].kind) == ("start", "stop")
        assert [event.kind for event in own_events].count("stop") == 1


def check_durations(reported: DurationSummary, expected: Sequence[int]) -> None:
    """Count, mean and maximum to the last digit."""
    mean = sum(expected) / len(expected) if expected else 0.0
    assert (reported.count, reported.mean, reported.max) == (
        len(expected),
        mean,
        max(expected, default=0),
    )
    assert 0 <= reported.p50 <= reported.p99 <= reported.max


def check_level(reported: LevelSummary, expected: Waiting, end: int) -> None:
    """Area and peak to the last digit."""
    assert expected.since <= end
    expected.settle(end)
    assert reported == LevelSummary(expected.peak, expected.area / end if end else 0.0)


def check_counts(reported: Metrics, expected: Accounts, header: int) -> None:
    """Messages, frames and bytes."""
    counts = expected.counts
    assert (reported.sent, reported.copies) == (counts["send"], counts["copies"])
    assert (reported.delivered, reported.duplicates) == (
        len(expected.latencies),
        counts["duplicates"],
    )
    assert reported.undelivered == expected.undelivered()
    assert (reported.frames, reported.control_frames) == (
        counts["frames out"],
        counts["control frames"],
    )
    assert reported.metadata_bytes == counts["metadata out"]
    assert reported.wire_bytes == (
        counts["metadata out"] + counts["payload out"] + header * reported.frames
    )
    assert counts["frames in"] <= reported.frames + reported.frames_doubled - reported.frames_lost
    assert reported.metadata_bytes_per_message == reported.metadata_bytes / max(1, reported.sent)
    assert reported.control_frames_per_message == reported.control_frames / max(1, reported.sent)
    assert reported.most_in_transit == expected.most_in_transit


def check_figures(result: Result, events: list[Event]) -> None:
    """All figures that can be recomputed from the trace."""
    scenario, reported = result.scenario, result.metrics
    # Where a message is split, the process may begin its own job before it has sent the rest of it.
    always = scenario.job_share == 1.0 and scenario.job == "3ms" and not scenario.split
    expected = accounts(
        events,
        3_000_000 if always else 0,
        scenario.overlay_setup.layout is not None,
        protocols.describe(scenario.protocol).keeps_dropped,
    )
    end = reported.execution_ns
    check_counts(reported, expected, scenario.header)
    check_durations(reported.latency, expected.latencies)
    check_durations(reported.held_time, expected.held_times)
    check_level(reported.held, expected.held, end)
    check_level(reported.buffered, expected.buffered, end)
    assert end >= expected.last
    if scenario.until_ns is not None:
        assert end <= scenario.until_ns
    assert reported.noncausal is not None and reported.noncausal.count == reported.delivered
    if scenario.overlay_setup.layout is None and not any(
        event.kind == "send" and (event.to is None or event.process in event.to) for event in events
    ):
        check_durations(reported.noncausal, lateness(events))
    if always:
        assert reported.jobs == reported.delivered
        assert reported.mean_job_start_ns == (
            expected.counts["job starts"] / reported.jobs if reported.jobs else 0.0
        )
    elif scenario.job_share == 0.0:
        assert reported.jobs == 0
    if result.outcome != "cut short" and not scenario.stops:
        assert (
            expected.counts["frames in"]
            == reported.frames + reported.frames_doubled - reported.frames_lost
        )


def check_promises(result: Result) -> None:
    """The guarantees of the protocol, where no crashed process is waited for."""
    scenario, reported = result.scenario, result.metrics
    known = protocols.describe(scenario.protocol)
    if known.causal:
        assert not result.violations
    if known.buffering == "none" and not scenario.linked():
        return
    assert reported.duplicates == 0
    if scenario.overlay_setup.layout is not None and scenario.stops:
        return  # somebody on whom others depend may have been among them
    if result.outcome != "cut short" and (not scenario.stops or scenario.drop_after is not None):
        assert (reported.undelivered, result.outcome) == (0, "complete")
        assert scenario.stops or reported.unsent == 0


@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow])
@given(scenarios())
def test_any_scenario(fields: dict[str, Any]) -> None:
    """It is refused with an explanation, or it ends, keeps its guarantees, and adds up."""
    ended = run_to_an_end(fields)
    if ended is not None:
        result, events = ended
        check_events(events)
        check_promises(result)
        check_figures(result, events)
