"""Whatever scenario is written down, it is refused at once or runs to an end, and its figures add up."""

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
from tests.simulator.kept import traced

# Pure cores take several times as long for the same examples, so they get fewer.
EXAMPLES = 1000 if is_compiled() else 200
MOST_TICKS = 3000  # a run that has not given up after so many will never do so
SETTLED = (
    2_000 * 10**9
)  # nanoseconds: patience is a thousand times what frames take, uplinks included


def run_to_an_end(fields: dict[str, Any]) -> tuple[Result, list[Event]] | None:
    """The run, with a limit where it has none, so that one without an end is seen; None if refused."""
    try:
        scenario = Scenario(**fields)
    except ScenarioError as refusal:
        assert str(refusal)
        return None
    if fields["until"] is None:
        limit = SETTLED + MOST_TICKS * scenario.tick_ns
        result, events = traced(audit=True, **{**fields, "until": f"{limit}ns"})
        assert result.outcome != "cut short", "it does not end"
        return result, events
    return traced(audit=True, **fields)


def check_events(events: list[Event]) -> None:
    """Each is right by itself, and those of a process follow each other in number and time."""
    by_process: dict[str, list[Event]] = defaultdict(list)
    for event in events:
        check(event)
        by_process[event.process].append(event)
    for those in by_process.values():
        assert [event.seq for event in those] == list(range(1, len(those) + 1))
        times = [event.time_ns for event in those]
        assert times == sorted(times)
        assert (those[0].kind, those[-1].kind) == ("start", "stop")
        assert [event.kind for event in those].count("stop") == 1


def check_durations(said: DurationSummary, found: Sequence[int]) -> None:
    """Count, mean and maximum to the last digit."""
    mean = sum(found) / len(found) if found else 0.0
    assert (said.count, said.mean, said.max) == (len(found), mean, max(found, default=0))
    assert 0 <= said.p50 <= said.p99 <= said.max


def check_level(said: LevelSummary, found: Waiting, end: int) -> None:
    """Area and peak to the last digit."""
    assert found.since <= end
    found.settle(end)
    assert said == LevelSummary(found.peak, found.area / end if end else 0.0)


def check_counts(said: Metrics, found: Accounts, header: int) -> None:
    """Messages, frames and bytes."""
    counts = found.counts
    assert (said.sent, said.copies) == (counts["send"], counts["copies"])
    assert (said.delivered, said.duplicates) == (len(found.latencies), counts["duplicates"])
    assert said.undelivered == found.undelivered()
    assert (said.frames, said.control_frames) == (counts["frames out"], counts["control frames"])
    assert said.metadata_bytes == counts["metadata out"]
    assert said.wire_bytes == (
        counts["metadata out"] + counts["payload out"] + header * said.frames
    )
    assert counts["frames in"] <= said.frames + said.frames_doubled - said.frames_lost
    assert said.metadata_bytes_per_message == said.metadata_bytes / max(1, said.sent)
    assert said.control_frames_per_message == said.control_frames / max(1, said.sent)
    assert said.most_in_transit == found.most_in_transit


def check_figures(result: Result, events: list[Event]) -> None:
    """All that the trace can tell of the figures."""
    scenario, said = result.scenario, result.metrics
    # Where a message is split, the process may begin its own job before it has sent the rest of it.
    always = scenario.job_share == 1.0 and scenario.job == "3ms" and not scenario.split
    found = accounts(events, 3_000_000 if always else 0, scenario.overlay_setup.layout is not None)
    end = said.execution_ns
    check_counts(said, found, scenario.header)
    check_durations(said.latency, found.latencies)
    check_durations(said.held_time, found.held_times)
    check_level(said.held, found.held, end)
    check_level(said.buffered, found.buffered, end)
    assert end >= found.last
    if scenario.until_ns is not None:
        assert end <= scenario.until_ns
    assert said.noncausal is not None and said.noncausal.count == said.delivered
    if scenario.overlay_setup.layout is None and not any(
        event.kind == "send" and (event.to is None or event.process in event.to) for event in events
    ):
        check_durations(said.noncausal, lateness(events))
    if always:
        assert said.jobs == said.delivered
        assert said.mean_job_start_ns == (
            found.counts["job starts"] / said.jobs if said.jobs else 0.0
        )
    elif scenario.job_share == 0.0:
        assert said.jobs == 0
    if result.outcome != "cut short" and not scenario.stops:
        assert found.counts["frames in"] == said.frames + said.frames_doubled - said.frames_lost


def check_promises(result: Result) -> None:
    """What the protocol promises, where nobody is waited for in vain."""
    scenario, said = result.scenario, result.metrics
    known = protocols.describe(scenario.protocol)
    if known.causal:
        assert not result.violations
    if known.buffering == "none" and not scenario.linked():
        return
    assert said.duplicates == 0
    if scenario.overlay_setup.layout is not None and scenario.stops:
        return  # somebody on whom others depend may have been among them
    if result.outcome != "cut short" and (not scenario.stops or scenario.drop_after is not None):
        assert (said.undelivered, result.outcome) == (0, "complete")
        assert scenario.stops or said.unsent == 0


@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow])
@given(scenarios())
def test_any_scenario(fields: dict[str, Any]) -> None:
    """It is refused with a sentence, or it ends, keeps what it promises, and adds up."""
    ended = run_to_an_end(fields)
    if ended is not None:
        result, events = ended
        check_events(events)
        check_promises(result)
        check_figures(result, events)
