"""Run a scenario."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from beforehand import protocols
from beforehand.causality.oracle import Oracle
from beforehand.simulator.result import Metrics, Result
from beforehand.simulator.scenario import Scenario
from beforehand.simulator.workloads.message_sizes import Contents
from beforehand.simulator.workloads.workload import Workload
from beforehand.simulator.world.engine import MAX_TIME
from beforehand.simulator.world.faults import Faults
from beforehand.simulator.world.network import Network
from beforehand.simulator.world.observers import Watcher
from beforehand.simulator.world.processes import Process
from beforehand.simulator.world.random_streams import Stream
from beforehand.simulator.world.world import World
from beforehand.trace.recorder import Recorder

Progress = Callable[[int, int], None]  # messages sent, messages expected


def run(
    scenario: Scenario,
    *,
    audit: bool = False,
    recorder: Recorder | None = None,
    progress: Progress | None = None,
) -> Result:
    """Run a scenario to its end; the same scenario always gives the same metrics and trace.

    `audit` lets the oracle judge every delivery. `recorder` is given every event, and is left open.
    """
    oracle = Oracle() if audit else None
    watcher = Watcher(recorder, oracle) if audit or recorder is not None else None
    workload = scenario.make_workload()
    began = time.perf_counter()
    with _collector_paused():
        world = _world(scenario, workload, watcher)
        world.start(scenario.make_stops())
        until = MAX_TIME if scenario.until_ns is None else scenario.until_ns
        expected = workload.expected()
        if progress is None:
            world.run(until, None)
        else:
            progress(0, expected)
            world.run(until, lambda sent: progress(sent, expected))
    seconds = time.perf_counter() - began
    return _result(scenario, workload, world, watcher, seconds)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Nothing in a run makes cycles that are thrown away, so looking for them is wasted."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _world(scenario: Scenario, workload: Workload, watcher: Watcher | None) -> World:
    return World(
        _processes(scenario),
        Contents(
            scenario.seed,
            len(scenario.names),
            scenario.distribution("payload"),
            scenario.distribution("job"),
            scenario.job_share,
        ),
        Network(
            scenario.make_delay(),
            scenario.distribution("jitter"),
            scenario.bandwidth_bytes,
            scenario.header,
            scenario.fifo,
            Stream(f"{scenario.seed}/network"),
        ),
        Faults(
            scenario.loss,
            scenario.duplicate,
            scenario.make_partitions(),
            Stream(f"{scenario.seed}/faults"),
        ),
        scenario.make_overlay(),
        workload,
        watcher,
        scenario.seed,
        scenario.split,
        protocols.describe(scenario.protocol).casts,
        scenario.flush_ns,
        scenario.tick_ns,
        scenario.sample_ns,
    )


def _processes(scenario: Scenario) -> list[Process]:
    """All of them, with those who will join later at the end."""
    found: list[Process] = []
    for index, name in enumerate(scenario.names):
        process = Process(index, name, scenario.make_core(name))
        process.present = index < scenario.founders
        found.append(process)
    return found


def _result(
    scenario: Scenario, workload: Workload, world: World, watcher: Watcher | None, seconds: float
) -> Result:
    meters = world.meters
    end = int(world.ended_at)
    undelivered = sum(
        not copy.closed
        for process in world.processes
        if not process.stopped
        for message in process.open_messages()
        for copy in message.copies()
    )
    unsent = max(0, workload.expected() - int(meters.actions))
    metrics = Metrics(
        processes=len(world.processes),
        sent=int(meters.sent),
        copies=int(meters.copies),
        delivered=int(meters.delivered),
        undelivered=undelivered,
        duplicates=int(meters.duplicates),
        unsent=unsent,
        skipped=int(meters.skipped),
        execution_ns=end,
        jobs=int(meters.jobs),
        mean_job_start_ns=meters.job_starts / int(meters.jobs) if meters.jobs else 0.0,
        latency=meters.latency.summary(),
        noncausal=meters.noncausal.summary() if world.noncausal_known() else None,
        held_time=meters.held_time.summary(),
        held=meters.held.summary(end),
        buffered=meters.buffered.summary(end),
        unacknowledged=meters.unacknowledged.summary(),
        permits_missing=meters.permits_missing.summary(),
        integers=meters.integers.summary(),
        entries=meters.entries.summary(),
        frames=int(meters.frames),
        control_frames=int(meters.control_frames),
        control_received=int(meters.control_received),
        frames_lost=int(meters.lost),
        frames_doubled=int(meters.doubled),
        metadata_bytes=meters.metadata_bytes,
        wire_bytes=meters.wire_bytes,
        metadata_bytes_per_message=meters.metadata_bytes / max(1, int(meters.sent)),
        control_frames_per_message=int(meters.control_frames) / max(1, int(meters.sent)),
        control_per_process_second=_rate(world, end),
        most_in_transit=int(meters.most_in_transit),
        links_opened=world.links_opened(),
        links_closed=world.links_closed(),
        frames_ignored=world.frames_ignored(),
        events=int(world.engine.happened),
    )
    stalled = undelivered > 0 or (unsent > 0 and not scenario.stops)
    outcome = "cut short" if world.cut_short else "stalled" if stalled else "complete"
    violations = tuple(watcher.violations) if watcher is not None else ()
    audited = watcher is not None and watcher.judges()
    series = tuple(meters.series)
    return Result(scenario, metrics, outcome, audited, violations, series, seconds)


def _rate(world: World, end: int) -> float:
    """Control frames that a process received per second, on average over those that there were."""
    seconds = end / 10**9
    processes = sum(process.present for process in world.processes)
    return int(world.meters.control_received) / (processes * seconds) if end else 0.0
