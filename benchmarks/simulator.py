"""The cost of the simulator: events per second, work per event, memory, and the cost of a trace.

    make bench            builds the compiled cores and runs this after benchmarks/cores.py
    python benchmarks/simulator.py [--quick] [--out FILE.json]

Four parts, each measured side by side in one run:

1. Speed: real hybrid cores under two workloads, compared with SimPy, whose processes only wait. Both
   have the same number of processes, which start at the same times, and the same number of events: for
   each of ours SimPy has a timeout. Setting up counts, and the garbage collector is off, for both.
   The order in which processes run decides how much the caches help, so it is the same for both: on
   a ring of neighbours they run one after the other, as with timeouts of constant length;
   among random peers they run in random order, as with timeouts of random length.
2. Growth, from 100 to 10,000 processes: microseconds per event, which grow for both because the
   state of so many processes fits no cache, and lines of Python executed per event, which are counted
   in the pure build and show what a clock cannot: whether the work is the same.
3. Scale: 10,000 processes with 100 messages each; and memory, which must follow the messages in flight
   and not those already delivered.
4. Tracing: the same run with every event recorded into a Parquet file.

Every measurement has its own interpreter. Rounds alternate, and the best of each counts, so that
background load affects all of them. Exit code 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from beforehand.simulator import Result, Scenario

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # a script sees its own folder only

from benchmarks.bars import Verdict, at_least, at_most, present, table  # noqa: E402

BUILDS = {"pure": ROOT / "src", "compiled": ROOT / "build" / "compiled"}
WORKLOADS = ("ring:10", "uniform:10")
LENGTHS = 1 << 12  # different random timeouts
SIMPY_ORDER = {"ring:10": "SimPy, in turn", "uniform:10": "SimPy, at random"}
CONTENDERS = tuple(name for workload in WORKLOADS for name in (workload, SIMPY_ORDER[workload]))
SIZES = (100, 1_000, 10_000)
SMALLEST, LARGEST = SIZES[0], SIZES[-1]
INTERVAL_MS, DELAY_MS = 10, 5
EVENTS_PER_MESSAGE = 4  # about: the send, and the arrivals of message, acknowledgement and permit
EVENTS = 1_200_000
WINDOW = 1 << 13  # events in which lines are counted
WARM_UP = 8  # windows before that
LITTLE, MUCH = 100, 800  # messages per process, to compare memory

SIMPY_BAR = 1.0  # our events per second over SimPy's, compiled
# With 10,000 processes both wait for memory, and real cores have more of it than processes that only
# wait: there the ratio, about 1, is reported without a bar.
BARRED = (100, 1_000)
WORK_BAR = 1.1  # lines per event, most over least
MEMORY_BAR = 1.15  # peak memory, much over little


# ---- measuring, each time in its own process ----


def scenario(workload: str, processes: int, messages: int) -> Scenario:
    """Constant delay and interval, so that SimPy can be given the same times."""
    from beforehand.simulator import Scenario

    return Scenario(
        protocol="hybrid",
        workload=workload,
        processes=processes,
        messages=messages,
        interval=f"{INTERVAL_MS}ms",
        delay=f"{DELAY_MS}ms",
    )


def simulated(workload: str, processes: int, messages: int) -> dict[str, float]:
    """One run, without a recorder."""
    from beforehand.simulator import run

    return figures(run(scenario(workload, processes, messages)))


def figures(result: Result) -> dict[str, float]:
    """The figures of a run, and the peak memory of this process."""
    metrics = result.metrics
    if result.outcome != "complete" or metrics.delivered != metrics.sent:
        raise SystemExit(f"the run is {result.outcome}: {metrics}")
    return {
        "sent": metrics.sent,
        "events": metrics.events,
        "seconds": result.seconds,
        "events_per_second": result.events_per_second,
        "microseconds_per_event": 1e6 / result.events_per_second,
        "most_in_transit_from_one_sender": metrics.most_in_transit,
        "peak_megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def waiting(order: str, processes: int, events: int) -> dict[str, float]:
    """SimPy: that many processes, and altogether that many timeouts."""
    import simpy

    gc.disable()  # as `run` does
    interval = INTERVAL_MS * 10**6
    drawn = random.Random(1)
    # Drawn beforehand: the time that takes is not SimPy's.
    lengths = [
        interval if order == "SimPy, in turn" else drawn.randrange(2 * interval)
        for _ in range(LENGTHS)
    ]
    began = time.perf_counter()
    env = simpy.Environment()
    for index in range(processes):
        count = events // processes + (index < events % processes)
        env.process(_wait(env, interval * index // processes, count, lengths, index))
    env.run()
    seconds = time.perf_counter() - began
    return {
        "events": events,
        "seconds": seconds,
        "events_per_second": events / seconds,
        "microseconds_per_event": seconds / events * 1e6,
    }


def _wait(
    env: Any, first: int, count: int, lengths: list[int], offset: int
) -> Generator[Any, Any, None]:
    yield env.timeout(first)
    for number in range(offset, offset + count - 1):
        yield env.timeout(lengths[number & (LENGTHS - 1)])


def work(workload: str, processes: int) -> float:
    """Lines executed per event, in the middle of a run.

    A run does more work at first: cores are sampled often, histograms grow. So the
    lines are counted in a window that begins after the same number of events at every size.
    """
    from tests.support.work import lines_per_event

    messages = 1 + (WARM_UP + 2) * WINDOW // (EVENTS_PER_MESSAGE - 1) // processes
    return lines_per_event(scenario(workload, processes, messages), WINDOW, skipped=WARM_UP)


def scale(processes: int, messages: int) -> dict[str, float]:
    """A run with the defaults of the command line, apart from its size."""
    from beforehand.simulator import Scenario, run

    return figures(run(Scenario(protocol="hybrid", processes=processes, messages=messages)))


def in_flight(processes: int, messages: int) -> int:
    """The most messages in flight (sent and not yet delivered) in the run above, from its trace."""
    from beforehand import trace
    from beforehand.simulator import Scenario, run

    class Counter(trace.Sink):
        """Tracks the level and stores nothing."""

        level = 0
        peak = 0

        def write(self, columns: trace.Columns) -> None:
            for kind in columns.kind:
                if kind == "send":
                    self.level += 1
                    self.peak = max(self.peak, self.level)
                elif kind == "deliver":
                    self.level -= 1

        def close(self) -> None:
            if self.level:
                raise SystemExit(f"{self.level} messages were not delivered")

        def abort(self) -> None:
            pass

    counter = Counter()
    with trace.Recorder("in flight", counter) as recorder:
        run(Scenario(protocol="hybrid", processes=processes, messages=messages), recorder=recorder)
    return counter.peak


def traced(workload: str, processes: int, messages: int) -> dict[str, float]:
    """One run with its trace in a Parquet file, which is finished within the time."""
    from beforehand import trace
    from beforehand.simulator import run

    planned = scenario(workload, processes, messages)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.parquet"
        sink = trace.create(path)  # imports pyarrow, which is not part of the cost of a run
        began = time.perf_counter()
        with trace.Recorder("traced", sink) as recorder:
            result = run(planned, recorder=recorder)
        seconds = time.perf_counter() - began
        return {
            **figures(result),
            "seconds": seconds,
            "events_per_second": result.metrics.events / seconds,
            "microseconds_per_event": seconds / result.metrics.events * 1e6,
            "megabytes_on_disk": path.stat().st_size / 10**6,
        }


MEASUREMENTS = {
    measurement.__name__: measurement
    for measurement in (simulated, waiting, work, scale, in_flight, traced)
}


def in_build(build: str, *call: object) -> Any:
    """Run one measurement in a fresh interpreter that imports the given build."""
    path = os.pathsep.join((str(BUILDS[build]), str(ROOT)))  # the root for `tests.support`
    command = [sys.executable, __file__, "--call", json.dumps(call)]
    environment = {**os.environ, "PYTHONPATH": path}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True)
    if ran.returncode:
        raise SystemExit(f"{build} {call}:\n{ran.stderr}")
    return json.loads(ran.stdout)


# ---- the whole run ----


def report_progress(part: str) -> None:
    """Report progress."""
    print(f"  measured {part}", file=sys.stderr, flush=True)


def keep_best(best: dict[str, Any], name: str, figures: dict[str, float]) -> None:
    """The fastest of all rounds."""
    if name not in best or figures["seconds"] < best[name]["seconds"]:
        best[name] = figures


def measure_speed(quick: bool, build: str) -> dict[int, dict[str, dict[str, float]]]:
    """Processes -> workload, or SimPy in the same order -> figures."""
    events = EVENTS // (4 if quick else 1)
    best: dict[int, dict[str, dict[str, float]]] = {size: {} for size in SIZES}
    for _ in range(2 if quick else 4):
        for size in SIZES:
            messages = max(events // (EVENTS_PER_MESSAGE * size), 1)
            for workload in WORKLOADS:
                ours = in_build(build, "simulated", workload, size, messages)
                keep_best(best[size], workload, ours)
                simpy = in_build(build, "waiting", SIMPY_ORDER[workload], size, ours["events"])
                keep_best(best[size], SIMPY_ORDER[workload], simpy)
    report_progress("speed")
    return best


def measure_pure(quick: bool) -> dict[str, dict[str, float]]:
    """The pure build at the smallest size: workload -> figures."""
    messages = EVENTS // (40 if quick else 10) // (EVENTS_PER_MESSAGE * SMALLEST)
    best: dict[str, dict[str, float]] = {}
    for _ in range(1 if quick else 2):
        for workload in WORKLOADS:
            pure = in_build("pure", "simulated", workload, SMALLEST, messages)
            keep_best(best, workload, pure)
    report_progress("the pure build")
    return best


def measure_work(quick: bool) -> dict[str, dict[int, float]]:
    """Workload -> processes -> lines per event."""
    lines = {
        workload: {size: in_build("pure", "work", workload, size) for size in SIZES}
        for workload in (WORKLOADS[:1] if quick else WORKLOADS)
    }
    report_progress("work")
    return lines


def measure_scale(quick: bool, build: str) -> dict[str, float]:
    """The run with the most processes."""
    messages = 10 if quick else 100
    run: dict[str, float] = in_build(build, "scale", LARGEST, messages)
    run["most_in_flight"] = in_build(build, "in_flight", LARGEST, messages)
    report_progress("scale")
    return run


def measure_memory(quick: bool, build: str) -> dict[int, dict[str, float]]:
    """Messages per process -> figures."""
    processes = 1_000
    shorter = 2 if quick else 1
    runs = {
        messages: in_build(build, "simulated", WORKLOADS[0], processes, messages // shorter)
        for messages in (LITTLE, MUCH)
    }
    report_progress("memory")
    return runs


def measure_tracing(quick: bool, build: str) -> dict[str, dict[str, float]]:
    """With a trace and without."""
    messages = EVENTS // (8 if quick else 2) // (EVENTS_PER_MESSAGE * SMALLEST)
    best: dict[str, dict[str, float]] = {}
    for _ in range(2 if quick else 3):
        for name in ("simulated", "traced"):
            keep_best(best, name, in_build(build, name, WORKLOADS[0], SMALLEST, messages))
    report_progress("tracing")
    return best


def judge(report: dict[str, Any]) -> list[Verdict]:
    """All claims."""
    speed, verdicts = report["speed"], []
    if report["build"] == "compiled":
        for size in BARRED:
            for workload in WORKLOADS:
                figure = "events_per_second"
                ratio = speed[size][workload][figure] / speed[size][SIMPY_ORDER[workload]][figure]
                claim = f"{workload}, {size:,} processes: events per second / SimPy's"
                verdicts.append(at_least(claim, ratio, SIMPY_BAR))
    for workload, sizes in report["work"].items():
        lines = [sizes[size] for size in SIZES]
        claim = f"{workload}: lines per event, {SMALLEST} to {LARGEST:,} processes, most / least"
        verdicts.append(at_most(claim, max(lines) / min(lines), WORK_BAR))
    memory = report["memory"]
    ratio = memory[MUCH]["peak_megabytes"] / memory[LITTLE]["peak_megabytes"]
    claim = f"peak memory, {MUCH // LITTLE} times the messages / once"
    verdicts.append(at_most(claim, ratio, MEMORY_BAR))
    return verdicts


def speed_table(report: dict[str, Any]) -> Any:
    """Events per second, ours and SimPy's."""
    rows = []
    for size, by_name in report["speed"].items():
        rates = [by_name[name]["events_per_second"] for name in CONTENDERS]
        cells = [f"{rate:,.0f}" for rate in rates]
        rows.append((f"{size:,} processes, {report['build']}", *cells))
    if report["pure"]:
        cells = [
            f"{report['pure'][name]['events_per_second']:,.0f}" if name in WORKLOADS else ""
            for name in CONTENDERS
        ]
        rows.append((f"{SMALLEST:,} processes, pure", *cells))
    title = "Events per second: hybrid under two workloads, and SimPy, whose processes only wait"
    return table(title, ("", *CONTENDERS), rows)


def growth_table(report: dict[str, Any]) -> Any:
    """Cost per event at each size."""
    speed = report["speed"]
    rows = []
    for name in CONTENDERS:
        times = [f"{speed[size][name]['microseconds_per_event']:.2f}" for size in SIZES]
        lines = [f"{count:.0f}" for count in report["work"].get(name, {}).values()]
        rows.append((name, " / ".join(times), " / ".join(lines)))
    title = "Cost per event at " + " / ".join(f"{size:,}" for size in SIZES) + " processes"
    return table(title, ("", "microseconds", "lines executed (pure)"), rows)


def runs_table(report: dict[str, Any]) -> Any:
    """Scale, memory and tracing."""
    runs = {
        f"{LARGEST:,} processes, uniform": report["scale"],
        f"1,000 processes, {WORKLOADS[0]}": report["memory"][LITTLE],
        f"the same, {MUCH // LITTLE} times as long": report["memory"][MUCH],
        f"{SMALLEST} processes, {WORKLOADS[0]}": report["tracing"]["simulated"],
        "the same, traced into Parquet": report["tracing"]["traced"],
    }
    rows = [
        (
            name,
            f"{run['sent']:,}",
            f"{run['events']:,}",
            f"{run['seconds']:.2f}",
            f"{run['events_per_second']:,.0f}",
            f"{run['peak_megabytes']:,.0f}",
            f"{run['most_in_flight']:,}" if "most_in_flight" in run else "",
        )
        for name, run in runs.items()
    ]
    columns = ("", "messages", "events", "seconds", "events/s", "peak MB", "in flight at most")
    return table("Scale, memory and tracing", columns, rows)


def main() -> int:
    """Measure, show, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="fewer events and rounds")
    parser.add_argument(
        "--out", type=Path, default=ROOT / "build" / "benchmarks" / "simulator.json"
    )
    parser.add_argument("--call", help=argparse.SUPPRESS)  # one measurement, for in_build
    options = parser.parse_args()
    if options.call:
        name, *arguments = json.loads(options.call)
        print(json.dumps(MEASUREMENTS[name](*arguments)))
        return 0
    quick = options.quick
    compiled = (BUILDS["compiled"] / "beforehand").is_dir()
    build = "compiled" if compiled else "pure"
    if not compiled:
        print("no compiled build (make compiled): measuring the pure modules only", file=sys.stderr)
    report: dict[str, Any] = {
        "build": build,
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "speed": measure_speed(quick or not compiled, build),
        "pure": measure_pure(quick) if compiled else {},
        "work": measure_work(quick),
        "scale": measure_scale(quick or not compiled, build),
        "memory": measure_memory(quick or not compiled, build),
        "tracing": measure_tracing(quick or not compiled, build),
    }
    verdicts = judge(report)
    return present(report, verdicts, options.out, (speed_table, growth_table, runs_table))


if __name__ == "__main__":
    sys.exit(main())
