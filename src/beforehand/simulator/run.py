"""Run a scenario."""

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from beforehand import protocols
from beforehand.causality.oracle import Oracle
from beforehand.simulator.measures.meters import Meters
from beforehand.simulator.result import Metrics, Result
from beforehand.simulator.scenario import Scenario
from beforehand.simulator.workloads.message_sizes import MessageSizes
from beforehand.simulator.workloads.workload import Workload
from beforehand.simulator.world.event_queue import MAX_TIME, TimingWheel
from beforehand.simulator.world.faults import FaultPlan
from beforehand.simulator.world.network import Network
from beforehand.simulator.world.observers import Observer
from beforehand.simulator.world.processes import Population, Process
from beforehand.simulator.world.random_streams import Stream
from beforehand.simulator.world.run_setup import RunSetup
from beforehand.simulator.world.simulation import Simulation
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

    `audit` lets the oracle judge every delivery. `recorder` receives every event, and is left open.
    """
    queue = TimingWheel()
    oracle = Oracle() if audit else None
    observer = Observer(queue, recorder, oracle) if audit or recorder is not None else None
    workload = scenario.make_workload()
    began = time.perf_counter()
    with _collector_paused():
        simulation = Simulation(_setup(scenario, workload, queue, observer))
        simulation.start(scenario.make_stops())
        until = MAX_TIME if scenario.until_ns is None else scenario.until_ns
        expected = workload.expected()
        if progress is None:
            simulation.run(until, None)
        else:
            progress(0, expected)
            simulation.run(until, lambda sent: progress(sent, expected))
    seconds = time.perf_counter() - began
    return _result(scenario, workload, simulation, observer, seconds)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """A run discards no reference cycles, so collecting them would be wasted work."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _setup(
    scenario: Scenario, workload: Workload, queue: TimingWheel, observer: Observer | None
) -> RunSetup:
    protocol = protocols.describe(scenario.protocol)
    return RunSetup(
        queue=queue,
        population=Population(_processes(scenario)),
        meters=Meters(),
        observer=observer,
        workload=workload,
        sizes=MessageSizes(
            scenario.seed,
            len(scenario.names),
            scenario.distribution("payload"),
            scenario.distribution("job"),
            scenario.share("job_share"),
        ),
        network=Network(
            scenario.make_delay(),
            scenario.distribution("jitter"),
            scenario.bandwidth_bytes,
            scenario.header,
            scenario.fifo,
            Stream(f"{scenario.seed}/network"),
        ),
        faults=FaultPlan(
            scenario.share("loss"),
            scenario.share("duplicate"),
            scenario.make_partitions(),
            Stream(f"{scenario.seed}/faults"),
        ),
        overlay=scenario.make_overlay(),
        seed=scenario.seed,
        casts=protocol.casts,
        keeps_dropped=protocol.keeps_dropped,
        split=scenario.split,
        flush_after=scenario.flush_ns,
        tick_every=scenario.tick_ns,
        sample_every=scenario.sample_ns,
    )


def _processes(scenario: Scenario) -> list[Process]:
    """All of them; those that join later are at the end."""
    processes: list[Process] = []
    for index, name in enumerate(scenario.names):
        process = Process(index, name, scenario.make_core(name))
        process.present = index < scenario.founders
        processes.append(process)
    return processes


def _result(
    scenario: Scenario,
    workload: Workload,
    simulation: Simulation,
    observer: Observer | None,
    seconds: float,
) -> Result:
    meters = simulation.meters
    end = meters.ended_at
    undelivered = simulation.open_messages.undelivered()
    unsent = max(0, workload.expected() - meters.actions)
    overlay = simulation.overlay
    metrics = Metrics(
        processes=len(simulation.population.processes),
        sent=meters.sent,
        copies=meters.copies,
        delivered=meters.delivered,
        undelivered=undelivered,
        duplicates=meters.duplicates,
        unsent=unsent,
        skipped=meters.skipped,
        execution_ns=end,
        jobs=meters.jobs,
        mean_job_start_ns=meters.job_starts / meters.jobs if meters.jobs else 0.0,
        latency=meters.latency.summary(),
        noncausal=meters.noncausal.summary()
        if simulation.open_messages.noncausal_known()
        else None,
        held_time=meters.held_time.summary(),
        held=meters.held.summary(end),
        buffered=meters.buffered.summary(end),
        unacknowledged=meters.unacknowledged.summary(),
        permits_missing=meters.permits_missing.summary(),
        integers=meters.integers.summary(),
        entries=meters.entries.summary(),
        frames=meters.frames,
        control_frames=meters.control_frames,
        control_received=meters.control_received,
        frames_lost=meters.lost,
        frames_doubled=meters.doubled,
        metadata_bytes=meters.metadata_bytes,
        wire_bytes=meters.wire_bytes,
        metadata_bytes_per_message=meters.metadata_bytes / max(1, meters.sent),
        control_frames_per_message=int(meters.control_frames) / max(1, meters.sent),
        control_per_process_second=_rate(simulation, end),
        most_in_transit=meters.most_in_transit,
        links_opened=0 if overlay is None else overlay.opened,
        links_closed=0 if overlay is None else overlay.closed,
        frames_ignored=sum(p.core.ignored_frames() for p in simulation.population.processes),
        events=simulation.queue.fired,
    )
    stalled = undelivered > 0 or (unsent > 0 and not scenario.stops)
    outcome = "cut short" if simulation.cut_short else "stalled" if stalled else "complete"
    violations = tuple(observer.violations) if observer is not None else ()
    audited = observer is not None and observer.audits()
    series = tuple(meters.series)
    return Result(scenario, metrics, outcome, audited, violations, series, seconds)


def _rate(simulation: Simulation, end: int) -> float:
    """Control frames received per second, on average over the processes that took part."""
    seconds = end / 10**9
    processes = sum(process.present for process in simulation.population.processes)
    return int(simulation.meters.control_received) / (processes * seconds) if end else 0.0
