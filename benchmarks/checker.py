"""The cost of the checker: states per second, and the factor that each reduction saves.

    make bench-checker    builds the compiled cores and runs this
    python benchmarks/checker.py [--quick] [--out FILE.json]

Three parts, each measured side by side in one run:

1. Speed: every interleaving, nothing reduced, one worker, compared with the reference of the tests,
   which copies whole worlds as objects and keeps them in a set: it visits exactly the same states. With
   compiled cores and with pure ones: each local step is run on a core only once, so the difference is
   small where there are many worlds.
2. Reductions: the same bounds with partial-order reduction, with symmetry, with both. Numbers of states
   are exact, so a factor in states is the same on every machine; a factor in time is not.
3. Workers: one against two, where there are enough states for both.

Every row is measured in a fresh interpreter that has already loaded its compiled loops.
Rounds alternate, and the best of each counts. Exit code 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # a script sees its own folder only

from benchmarks.bars import Verdict, at_least, present, table  # noqa: E402

BUILDS = {"pure": ROOT / "src", "compiled": ROOT / "build" / "compiled"}
# Messages of each process. Unicast, to anybody; the last two are broadcasts.
BOUNDS = {
    "hybrid": "2 2 2",
    "cykas": "2 2 2",
    "mattern": "2 2 2",
    "rst": "2 2 2",
    "vector": "2 2 2",
    "prc": "1 1 1",
}
QUICK = {"cykas": "2 1 1", "vector": "1 1 1"}
REFERENCE = {"hybrid": "2 2 1", "cykas": "2 2 1", "rst": "2 2 2", "vector": "2 1 1"}
REFERENCE_QUICK = {"hybrid": "2 1 1"}
LARGE, LARGE_QUICK = ("cykas", "3 2 2"), ("cykas", "2 2 1")
MODES = {
    "full": (False, False),
    "partial order": (True, False),
    "symmetry": (False, True),
    "both": (True, True),
}

REFERENCE_BAR = 10.0  # states per second over those of copied worlds, compiled
SIX = 6  # renamings of three processes that do the same, if their cores treat all names alike
SYMMETRY_BAR = 5.0  # states, full over symmetric, with these
ORDER_BAR = 1.2  # states, full over reduced
WORKERS_BAR = 1.0  # time, one worker over two


# ---- measuring, in a process of its own each time ----


Configurations = dict[str, tuple[bool, bool, int]]  # name -> partial order, symmetry, workers
Figures = dict[str, dict[str, float]]  # by the same names


def explored(protocol: str, sends: str, configs: Configurations, rounds: int) -> Figures:
    """The same bounds in several configurations, run alternately; the fastest of each."""
    best: Figures = {}
    for _ in range(rounds):
        for name, options in configs.items():
            explore_once(protocol, "1 1 1", *options)  # loads the loops
            figures = explore_once(protocol, sends, *options)
            if name not in best or figures["seconds"] < best[name]["seconds"]:
                best[name] = figures
    return best


def explore_once(
    protocol: str, sends: str, reduce: bool, symmetry: bool, workers: int
) -> dict[str, float]:
    """One exploration."""
    from beforehand.checker.explore import check
    from beforehand.checker.setting import setting

    chosen = setting(protocol, sends=counts(sends))
    verdict = check(chosen, reduce=reduce, symmetry=symmetry, workers=workers)
    if verdict.outcome != "correct":
        raise SystemExit(f"{protocol} {sends}: {verdict}")
    counted = figures(verdict.states, verdict.transitions, verdict.seconds)
    return {**counted, "symmetries": verdict.symmetries}


def copied(protocol: str, sends: str) -> Figures:
    """The same by the reference, which copies worlds."""
    from beforehand.checker.setting import setting
    from tests.checker.reference import explore

    began = time.perf_counter()
    exploration = explore(setting(protocol, sends=counts(sends)))
    seconds = time.perf_counter() - began
    return {"worlds copied": figures(exploration.states, exploration.transitions, seconds)}


def counts(sends: str) -> list[int]:
    """How many messages each process sends."""
    return [int(count) for count in sends.split()]


def figures(states: int, transitions: int, seconds: float) -> dict[str, float]:
    """What is reported about every exploration."""
    return {
        "states": states,
        "transitions": transitions,
        "seconds": seconds,
        "states_per_second": states / seconds,
        "transitions_per_second": transitions / seconds,
    }


MEASUREMENTS = {measure.__name__: measure for measure in (explored, copied)}


def in_build(build: str, *call: object) -> Figures:
    """Run one measurement in a fresh interpreter that imports the given build."""
    path = os.pathsep.join((str(BUILDS[build]), str(ROOT)))  # the root for `tests.checker`
    command = [sys.executable, __file__, "--call", json.dumps(call)]
    environment = {**os.environ, "PYTHONPATH": path}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True)
    if ran.returncode:
        raise SystemExit(f"{build} {call}:\n{ran.stderr}")
    results: Figures = json.loads(ran.stdout)
    return results


# ---- the whole run ----


def measure_speed(quick: bool, builds: Sequence[str]) -> dict[str, Figures]:
    """Protocol and bound -> engine with each build of the cores, and the reference -> figures."""
    rows = {}
    for protocol, sends in (REFERENCE_QUICK if quick else REFERENCE).items():
        row: Figures = {}
        for build in builds:
            configs = {f"engine, {build}": (False, False, 1)}
            row |= in_build(build, "explored", protocol, sends, configs, 1 if quick else 3)
        row |= in_build(builds[-1], "copied", protocol, sends)
        rows[f"{protocol} {sends}"] = agreed(row)
    report_progress("speed")
    return rows


def agreed(row: Figures) -> Figures:
    """The same row, after checking that all explorations have visited as many states."""
    if len({figures["states"] for figures in row.values()}) > 1:
        raise SystemExit(f"not the same number of states: {row}")
    return row


def report_progress(part: str) -> None:
    """Report progress."""
    print(f"  measured {part}", file=sys.stderr, flush=True)


def measure_reductions(quick: bool, build: str) -> dict[str, Figures]:
    """Protocol and bound -> mode -> figures."""
    configs = {mode: (*flags, 1) for mode, flags in MODES.items()}
    rows = {
        f"{protocol} {sends}": in_build(
            build, "explored", protocol, sends, configs, 1 if quick else 3
        )
        for protocol, sends in (QUICK if quick else BOUNDS).items()
    }
    report_progress("the reductions")
    return rows


def measure_workers(quick: bool, build: str) -> Figures:
    """Workers -> figures."""
    configs = {str(workers): (False, False, workers) for workers in (1, 2)}
    large = LARGE_QUICK if quick else LARGE
    rows = agreed(in_build(build, "explored", *large, configs, 1 if quick else 2))
    report_progress("workers")
    return rows


def judge(report: dict[str, Any]) -> list[Verdict]:
    """All claims; those about time only where there is enough of it."""
    verdicts = []
    if not report["quick"]:
        for name, row in report["speed"].items():
            rates = [row[mode]["states_per_second"] for mode in (report["engine"], "worlds copied")]
            claim = f"{name}: states per second / those of copied worlds"
            verdicts.append(at_least(claim, rates[0] / rates[1], REFERENCE_BAR))
        times = [report["workers"][count]["seconds"] for count in ("1", "2")]
        claim = "seconds of one worker / of two"
        verdicts.append(at_least(claim, times[0] / times[1], WORKERS_BAR))
    for name, row in report["reductions"].items():
        factors = {mode: row["full"]["states"] / row[mode]["states"] for mode in MODES}
        claim = f"{name}: states, full / partial order"
        verdicts.append(at_least(claim, factors["partial order"], ORDER_BAR))
        # If two messages become deliverable at once, their order may depend on names.
        if row["symmetry"]["symmetries"] == SIX:
            claim = f"{name}: states, full / symmetry"
            verdicts.append(at_least(claim, factors["symmetry"], SYMMETRY_BAR))
    return verdicts


# ---- showing ----


def speed_table(report: dict[str, Any]) -> Any:
    """States per second, and the ratio."""
    rows = []
    for name, row in report["speed"].items():
        rates = {engine: figures["states_per_second"] for engine, figures in row.items()}
        ratio = rates[report["engine"]] / rates["worlds copied"]
        cells = [f"{rate:,.0f}" for rate in rates.values()]
        rows.append((name, f"{row['worlds copied']['states']:,}", *cells, f"{ratio:,.0f}"))
    engines = next(iter(report["speed"].values()))
    title = "States per second, nothing reduced, one worker"
    return table(title, ("", "states", *engines, "ratio"), rows)


def reductions_table(report: dict[str, Any]) -> Any:
    """States and seconds, and by what factor there are fewer."""
    rows = []
    for name, row in report["reductions"].items():
        full = row["full"]
        for mode, reduced in row.items():
            rows.append(
                (
                    name if mode == "full" else "",
                    mode,
                    f"{reduced['states']:,}",
                    f"{reduced['transitions']:,}",
                    f"{reduced['seconds']:.2f}",
                    f"{reduced['states_per_second']:,.0f}",
                    f"{full['states'] / reduced['states']:.1f}",
                    f"{full['seconds'] / reduced['seconds']:.1f}",
                )
            )
    columns = ("", "", "states", "steps", "seconds", "states/s", "states won", "time won")
    return table(f"What each reduction wins ({report['build']} cores)", columns, rows)


def workers_table(report: dict[str, Any]) -> Any:
    """One worker and two."""
    by_count = report["workers"]
    rows = [
        (
            count,
            f"{figures['states']:,}",
            f"{figures['seconds']:.2f}",
            f"{figures['states_per_second']:,.0f}",
            f"{by_count['1']['seconds'] / figures['seconds']:.2f}",
        )
        for count, figures in by_count.items()
    ]
    title = f"Workers: {report['large']}, nothing reduced"
    return table(title, ("workers", "states", "seconds", "states/s", "time won"), rows)


def main() -> int:
    """Measure, show, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="smaller bounds, one round")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "benchmarks" / "checker.json")
    parser.add_argument("--call", help=argparse.SUPPRESS)  # one measurement, for in_build
    options = parser.parse_args()
    if options.call:
        name, *arguments = json.loads(options.call)
        print(json.dumps(MEASUREMENTS[name](*arguments)))
        return 0
    quick = options.quick
    builds = [name for name, path in BUILDS.items() if (path / "beforehand").is_dir()]
    if "compiled" not in builds:
        print("no compiled build (make compiled): measuring pure cores only", file=sys.stderr)
    report: dict[str, Any] = {
        "quick": quick,
        "build": builds[-1],
        "engine": f"engine, {builds[-1]}",
        "large": " ".join(LARGE_QUICK if quick else LARGE),
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "speed": measure_speed(quick, builds),
        "reductions": measure_reductions(quick, builds[-1]),
        "workers": measure_workers(quick, builds[-1]),
    }
    verdicts = judge(report)
    return present(report, verdicts, options.out, (speed_table, reductions_table, workers_table))


if __name__ == "__main__":
    sys.exit(main())
