"""Every run ends, and reports how: runs that once went on forever, or gave up too soon."""

from __future__ import annotations

from typing import Any

import pytest

from beforehand.errors import ScenarioError
from beforehand.simulator import Program, Scenario, Send, run
from tests.simulator.traced_run import of_kind, traced

MS = 10**6
LIMIT = "10000s"  # of virtual time: no run here needs as much


def ended(**fields: Any) -> str:
    """How a run ends, and not because of the limit."""
    outcome = run(Scenario(until=LIMIT, **fields)).outcome
    assert outcome != "cut short"
    return outcome


def test_retransmissions_to_stopped_processes_do_not_keep_a_run_alive() -> None:
    """A process is gone, no peer drops it, and frames to it are always in flight."""
    fields: dict[str, Any] = {
        "processes": 20,
        "messages": 10,
        "delay": "5ms",
        "stops": ("p03@50ms",),
    }
    assert ended(protocol="hybrid", loss=0.01, **fields) == "stalled"
    alone = {"processes": 2, "messages": 1, "tick": "4ms", "stops": ("p0@0ms",)}
    assert ended(protocol="fifo", delay="5ms", **alone) == "complete"


def test_a_run_with_retransmissions_on_a_reliable_link_ends() -> None:
    """hybrid on a reliable link makes new segments of what it sends again."""
    fields = {"processes": 4, "messages": 6, "loss": 0.3, "bandwidth": "1kB/s", "delay": "5ms"}
    assert ended(protocol="hybrid", link="always", header=28, **fields) == "complete"


@pytest.mark.parametrize("protocol", ["hybrid", "fifo", "mattern", "cykas"])
def test_slow_uplinks_do_not_drown_in_retransmissions(protocol: str) -> None:
    """Ticks wait for what frames really take: a few lost frames cost little, not everything."""
    fields: dict[str, Any] = {
        "protocol": protocol,
        "processes": 16,
        "messages": 8,
        "workload": "request-reply:0.05",
        "delay": "5ms",
        "bandwidth": "10kB/s",
        "header": 28,
    }
    calm = run(Scenario(**fields)).metrics
    lossy = run(Scenario(**fields, loss=0.02, until=LIMIT)).metrics
    assert lossy.frames_lost > 0 and lossy.undelivered == lossy.unsent == 0
    assert lossy.frames < 3 * calm.frames
    assert lossy.execution_ns < 4 * calm.execution_ns


@pytest.mark.parametrize("protocol", ["hybrid", "mattern", "cykas", "rst", "ks", "fifo"])
def test_a_late_drop_finds_the_timers_running(protocol: str) -> None:
    """Nothing happened for two seconds; then the survivors go on, and lose frames again."""
    result = run(
        Scenario(
            protocol=protocol,
            processes=4,
            messages=10,
            workload="request-reply:0.5",
            delay="5ms",
            loss=0.3,
            stops=("p0@20ms",),
            drop_after="2s",
        ),
        audit=True,
    )
    assert result.outcome == "complete" and result.clean
    assert result.metrics.execution_ns > 2_000 * MS and result.metrics.sent > 20


def test_a_frame_may_take_longer_than_patience() -> None:
    """25 seconds for one frame, which is lost: it is sent again."""
    fields = {"processes": 2, "messages": 1, "delay": "5ms", "payload": "25kB", "loss": 0.4}
    result = run(Scenario(protocol="hybrid", bandwidth="1kB/s", seed=8, **fields))  # type: ignore[arg-type]
    assert result.metrics.frames_lost > 0 and result.outcome == "complete"


def test_a_drop_counts_as_progress() -> None:
    """After a minute of waiting for the dead, what it held back gets its chances."""
    program = Program([Send("x", "a", ("dead",), at_ns=MS), Send("y", "a", ("b",), after=("x",))])
    for seed in range(12):
        result = run(
            Scenario(
                protocol="mattern",
                workload="replay",
                program=program,
                delay="5ms",
                loss=0.5,
                stops=("dead@0s",),
                drop_after="60s",
                seed=seed,
            )
        )
        assert result.outcome == "complete", seed


def test_jobs_beyond_the_end_of_time_are_refused() -> None:
    """Jobs that would pile up beyond 64 bits are refused in words, in every build."""
    with pytest.raises(ScenarioError, match="the jobs of p. would end after the end of time"):
        run(
            Scenario(
                protocol="raw",
                processes=2,
                messages=400,
                interval="1ms",
                job="8760h",
                job_share=1.0,
            )
        )


def test_a_time_limit_holds_for_jobs() -> None:
    """The last delivery was before the limit, its job was not over."""
    fields = {"processes": 2, "messages": 1, "delay": "5ms", "job": "10s", "job_share": 1.0}
    result = run(Scenario(protocol="raw", until="50ms", **fields))  # type: ignore[arg-type]
    assert (result.outcome, result.metrics.execution_ns) == ("cut short", 50 * MS)


def test_jobs_of_zero_length_count() -> None:
    """Every message starts one, even if its length was drawn below zero and is none."""
    result = run(
        Scenario(protocol="raw", processes=4, messages=50, job="normal:1ms,10ms", job_share=1.0)
    )
    assert result.metrics.jobs == 200


def test_the_last_frame_counts_even_if_its_receiver_has_stopped() -> None:
    """An acknowledgement that was put off leaves at 20 ms, to a process that has stopped."""
    program = Program([Send("m", "a", ("b",))])
    result, events = traced(
        workload="replay",
        program=program,
        delay="5ms",
        options={"coalesce": True},
        flush="15ms",
        stops=("a@7ms",),
    )
    (control,) = of_kind(events, "control")
    assert control.time_ns == 20 * MS == result.metrics.execution_ns


def test_the_first_release_to_a_stopped_process_is_not_a_retransmission() -> None:
    """The first release to a process that has stopped is the first one."""
    program = Program([Send("m", "a", ("b",), at_ns=10 * MS)])
    _, events = traced(
        protocol="raw", workload="replay", program=program, delay="5ms", stops=("b@0ms",)
    )
    (release,) = of_kind(events, "release")
    assert release.detail == ""


def test_a_hold_is_recorded_once() -> None:
    """Also if both copies of a doubled frame arrive in the same nanosecond."""
    _, events = traced(
        protocol="fifo",
        processes=2,
        messages=6,
        interval="0ms",
        delay="5ms",
        loss=0.4,
        duplicate=0.5,
    )
    holds = [(e.process, e.sender, e.mid, e.detail) for e in of_kind(events, "hold")]
    assert holds and len(holds) == len(set(holds))


def test_a_replay_has_the_processes_of_the_run() -> None:
    """Also those that never sent anything, and in the same order: sites go by it."""
    fields: dict[str, Any] = {
        "protocol": "rst",
        "processes": 12,
        "messages": 2,
        "workload": "request-reply:0.8",
        "delay": "matrix:1ms,40ms;40ms,1ms",
    }
    first, events = traced(**fields)
    program = Program.from_trace(events)
    assert list(program.processes) == first.scenario.names
    fields |= {"workload": "replay", "program": program}
    again, _ = traced(**fields)
    assert again.metrics.latency == first.metrics.latency
    assert again.metrics.metadata_bytes == first.metrics.metadata_bytes
    assert again.metrics.execution_ns == first.metrics.execution_ns


def test_a_replay_of_a_fan_out_is_exact() -> None:
    """Sends that followed each other without a pause do so again, before anything else happens."""
    fields: dict[str, Any] = {"processes": 12, "messages": 5, "delay": "matrix:1ms,40ms;40ms,1ms"}
    first, events = traced(workload="fanout:3,2", **fields)
    program = Program.from_trace(events)
    again, _ = traced(workload="replay", program=program, **fields)
    assert again.metrics.execution_ns == first.metrics.execution_ns
    assert again.metrics.latency == first.metrics.latency


def test_a_long_chain_needs_no_deep_stack() -> None:
    """Fifty thousand sends, each right after the one before."""
    count = 50_000
    sends = [Send("0", "a", ("b",))]
    sends += [Send(str(n), "a", ("b",), after=(str(n - 1),)) for n in range(1, count)]
    result = run(Scenario(protocol="raw", workload="replay", program=Program(sends)))
    assert result.metrics.delivered == count


def test_a_run_lasts_until_the_deliveries_that_a_drop_allows() -> None:
    """p1 waits for p0, which crashed; it delivers its own message when it drops p0."""
    result, events = traced(
        protocol="newtop",
        processes=2,
        messages=1,
        workload="broadcast:200",
        interval="0ms",
        stops=("p0@0ms",),
        drop_after="20ms",
    )
    times = [event.time_ns for event in of_kind(events, "deliver")]
    assert times and set(times) == {20 * MS}
    assert result.metrics.execution_ns == 20 * MS


def test_a_message_of_a_dropped_process_that_is_still_delivered_is_not_a_duplicate() -> None:
    """newtop keeps what had arrived from a dropped process; each delivery counts once."""
    after_the_drop = 0
    for seed in range(5):
        result, events = traced(
            protocol="newtop",
            processes=3,
            messages=1,
            workload="broadcast:200",
            interval="0ms",
            jitter="uniform:0ms,10ms",
            seed=seed,
            stops=("p0@20ms",),
            drop_after="0ms",
        )
        deliveries = of_kind(events, "deliver")
        assert result.metrics.duplicates == 0
        assert result.metrics.delivered == len(deliveries)
        after_the_drop += sum(
            event.sender == "p0" and event.time_ns >= 20 * MS for event in deliveries
        )
    assert after_the_drop


ODD: dict[str, dict[str, Any]] = {
    "a partition that is one text": {"partitions": "1s-3s:p01"},
    "stops that are numbers": {"stops": (5,)},
    "no workload": {"workload": None},
    "no options": {"options": None},
    "an option without a name": {"options": {1: True}},
    "an option that is text": {"options": {"coalesce": "false"}},
    "an option that is none": {"options": {"processes": True}},
    "a program that is none": {"program": 5},
    "groups without end": {"workload": "groups:2,999999999"},
}


@pytest.mark.parametrize("name", ODD)
def test_odd_values_are_refused_with_a_sentence(name: str) -> None:
    """From Python anything may come; each gets a sentence."""
    with pytest.raises(ScenarioError, match="give"):
        Scenario(**ODD[name])


def test_scenarios_can_be_kept_in_sets() -> None:
    """Equal ones are one."""
    assert len({Scenario(), Scenario(), Scenario(seed=2)}) == 2
