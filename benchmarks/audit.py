"""The cost of the auditor: events per second over those of the oracle, scaling with cores, memory.

    make bench-audit
    python benchmarks/audit.py [--quick] [--out FILE.json] [--part speed|cores|growth|huge]

1. Speed: one run of 100 processes as a Parquet trace; the plain-Python oracle of `causality/`, fed by
   `trace.read`, compared with the auditor on Spark. Starting the session and compiling everything, by
   an audit of a small trace, are not timed.
2. Cores: `local[1]` and `local[2]`, for many runs and for one that is audited in blocks.
3. Growth: one run of 1,000 processes in blocks, of four lengths: seconds per event.
4. Huge: 50 million events of 1,000 processes, and the memory of the whole process tree: JVM,
   driver and all workers, summed four times a second.

The runs are synthetic: senders and receivers are random, and a message is delivered after a fixed
number of others was sent, so that deliveries at a process are in the order of sending. Every
measurement has its own process; rounds alternate, and the best of each counts. Exit code 1 if a bar is
missed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ROOT = Path(__file__).parents[1]
SPEED_BAR = 50.0  # times the events per second of the oracle, at 100 processes
MEMORY_BAR = 8.0  # GB for the process tree, 50 million events of 1,000 processes
GROWTH_BAR = 1.5  # seconds per event, longest run over shortest
ROWS = 1 << 20  # per row group
IN_FLIGHT = 2_000  # messages


# ---- runs ----


@numba.njit(cache=True)
def _counts(process: Any, seq: Any, counter: Any) -> None:
    for event in range(len(process)):
        counter[process[event]] += 1
        seq[event] = counter[process[event]]


def write_run(path: Path, run: str, processes: int, messages: int, seed: int) -> int:
    """Write a run, one row group at a time; returns how many events it has."""
    names = pa.array([f"p{index:04}" for index in range(processes)])
    rng = np.random.default_rng(seed)
    sender = rng.integers(0, processes, messages, dtype=np.int32)
    receiver = ((sender + rng.integers(1, processes, messages)) % processes).astype(np.int32)
    number = np.empty(messages, np.int64)
    _counts(sender, number, np.zeros(processes, np.int64))
    counter = np.zeros(processes, np.int64)
    in_flight = min(IN_FLIGHT, messages)
    fields = ("run", "process", "seq", "kind", "sender", "mid", "to", "time_ns")
    zeros = ("payload_bytes", "meta_bytes")
    with pq.ParquetWriter(path, _schema(), compression="zstd") as writer:
        for begin in range(0, messages + in_flight, ROWS // 2):
            turn = np.arange(begin, min(begin + ROWS // 2, messages + in_flight))
            # Each turn sends one message and delivers an older one.
            message = np.stack([turn, turn - in_flight], axis=1).ravel()
            is_send = np.tile([True, False], len(turn))
            in_range = (message >= 0) & (message < messages)
            message, is_send = message[in_range], is_send[in_range]
            process = np.where(is_send, sender[message], receiver[message])
            seq = np.empty(len(message), np.int64)
            _counts(process, seq, counter)
            sizes = np.concatenate([[0], np.cumsum(is_send)]).astype(np.int32)
            to = pa.ListArray.from_arrays(
                pa.array(sizes),
                names.take(pa.array(receiver[message[is_send]])),
                mask=pa.array(~is_send),
            )
            columns = dict(
                zip(
                    fields,
                    (
                        pa.array([run] * len(message)),
                        names.take(pa.array(process)),
                        seq,
                        pa.array(["deliver", "send"]).take(pa.array(is_send.astype(np.int8))),
                        names.take(pa.array(sender[message])),
                        number[message],
                        to,
                        message,
                    ),
                    strict=True,
                )
            )
            columns |= dict.fromkeys(zeros, np.zeros(len(message), np.int64))
            columns["detail"] = pa.array([""] * len(message))
            writer.write_table(pa.table(columns).cast(_schema()))
    return 2 * messages


def _schema() -> Any:
    from beforehand.pipeline.schemas import EVENTS

    return EVENTS


# ---- measuring, each time in its own process ----


def by_oracle(folder: str) -> dict[str, Any]:
    """The plain-Python oracle on the events of the only trace in a folder."""
    from beforehand import trace
    from beforehand.causality import MessageId, Oracle

    oracle = Oracle()
    events = 0
    began = time.perf_counter()
    for event in trace.read(folder):
        events += 1
        if event.kind == "send":
            oracle.send(event.process, event.to or (), event.mid)
        elif event.kind == "deliver":
            oracle.deliver(event.process, MessageId(event.sender or "", event.mid or 0))
    missing = len(oracle.undelivered())
    seconds = time.perf_counter() - began
    assert not oracle.violations and not missing, "the run should be clean"
    return {"events": events, "seconds": seconds}


def by_auditor(folder: str, warm_up: str, cores: int, large: int) -> dict[str, Any]:
    """The auditor on the given number of cores, after a warm-up."""
    from beforehand.pipeline.audit import audit
    from beforehand.pipeline.engine.spark import SparkEngine

    engine = SparkEngine(f"local[{cores}]")
    engine.expect(float("inf"))  # tuned for much work
    for limit in {large, 0} if large < 10**9 else {large}:
        with audit(engine, [warm_up], large=limit):
            pass
    best = float("inf")
    with Memory() as memory:
        for _ in range(3):
            began = time.perf_counter()
            with audit(engine, [folder], large=large) as outcome:
                best = min(best, time.perf_counter() - began)
                events = outcome.events
                assert outcome.exit_code == 0, "the run should be clean"
            if best > 10:
                break  # long enough to be stable
    engine.close()
    return {"events": events, "seconds": best, "peak_gigabytes": memory.peak / 2**30}


class Memory:
    """Samples the total memory of this process and its descendants."""

    def __init__(self) -> None:
        self.peak = 0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Memory:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(0.25):
            self.peak = max(self.peak, _resident(_tree(os.getpid())))


def _tree(root: int) -> set[int]:
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents.setdefault(int(fields[1]), []).append(int(entry.name))
    processes, waiting = set(), [root]
    while waiting:
        process = waiting.pop()
        processes.add(process)
        waiting += parents.get(process, [])
    return processes


def _resident(processes: set[int]) -> int:
    """Bytes; shared pages are counted once per process, so this overstates the total."""
    pages = 0
    for process in processes:
        try:
            pages += int(Path(f"/proc/{process}/statm").read_text().split()[1])
        except OSError:
            continue
    return pages * os.sysconf("SC_PAGE_SIZE")


MEASUREMENTS: dict[str, Callable[..., dict[str, Any]]] = {
    "by_oracle": by_oracle,
    "by_auditor": by_auditor,
}


def in_subprocess(name: str, *arguments: object) -> dict[str, Any]:
    """Run a measurement in a new interpreter."""
    call = json.dumps([name, *arguments])
    ran = subprocess.run(
        [sys.executable, __file__, "--call", call], capture_output=True, text=True, check=False
    )
    if ran.returncode:
        raise SystemExit(f"{name} failed:\n{ran.stderr}")
    figures: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    figures["events_per_second"] = figures["events"] / figures["seconds"]
    return figures


WHOLE, BLOCKS = 10**9, 0  # how many events of a run one task may hold


def measure(parts: set[str], quick: bool, scratch: Path) -> dict[str, Any]:
    """All measurements."""
    warm_up = folder(scratch, "warm-up", 1, 100, 20_000)
    report: dict[str, Any] = {}
    if "speed" in parts:
        traces = folder(scratch, "speed", 1, 100, 200_000 if quick else 4_900_000)
        print("speed: the oracle", file=sys.stderr)
        report["speed"] = {
            "oracle": in_subprocess("by_oracle", traces),
            "auditor": in_subprocess("by_auditor", traces, warm_up, os.cpu_count(), WHOLE),
        }
    if "cores" in parts:
        many = folder(scratch, "many", 40, 100, 5_000 if quick else 50_000)
        one = folder(scratch, "one", 1, 1_000, 100_000 if quick else 2_000_000)
        report["cores"] = {
            f"{name}, local[{cores}]": in_subprocess("by_auditor", traces, warm_up, cores, large)
            for name, traces, large in (
                ("40 runs", many, WHOLE),
                ("one run in blocks", one, BLOCKS),
            )
            for cores in (1, 2)
        }
    if "growth" in parts:
        sizes = [size // 20 for size in GROWTH] if quick else GROWTH
        report["growth"] = {
            f"{2 * size:,} events": in_subprocess(
                "by_auditor",
                folder(scratch, f"growth-{size}", 1, 1_000, size),
                warm_up,
                os.cpu_count(),
                BLOCKS,
            )
            for size in sizes
        }
    if "huge" in parts:
        traces = folder(scratch, "huge", 1, 1_000, 500_000 if quick else 25_000_000)
        figures = in_subprocess("by_auditor", traces, warm_up, os.cpu_count(), BLOCKS)
        report["huge"] = {f"{figures['events']:,} events": figures}
    return report


GROWTH = [2_500_000, 5_000_000, 10_000_000]  # messages


def folder(scratch: Path, name: str, runs: int, processes: int, messages: int) -> str:
    """A folder with some runs of a size."""
    path = scratch / name
    path.mkdir()
    for number in range(runs):
        write_run(path / f"{number}.parquet", f"run-{number}", processes, messages, number)
    return str(path)


def judge(report: dict[str, Any], quick: bool) -> list[tuple[str, float, float, bool]]:
    """Claim, measured figure, bar and verdict; a quick run is too short for most bars."""
    verdicts = []
    if "speed" in report and not quick:
        speed = report["speed"]
        ratio = speed["auditor"]["events_per_second"] / speed["oracle"]["events_per_second"]
        verdicts.append(
            ("times as fast as the oracle, 100 processes", ratio, SPEED_BAR, ratio >= SPEED_BAR)
        )
    if "growth" in report and not quick:
        costs = [figures["seconds"] / figures["events"] for figures in report["growth"].values()]
        ratio = costs[-1] / costs[0]
        verdicts.append(
            ("seconds per event, longest run over shortest", ratio, GROWTH_BAR, ratio <= GROWTH_BAR)
        )
    for name, figures in report.get("huge", {}).items():
        peak = figures["peak_gigabytes"]
        verdicts.append(
            (f"GB in memory, {name}, 1,000 processes", peak, MEMORY_BAR, peak <= MEMORY_BAR)
        )
    return verdicts


def show(report: dict[str, Any], bars: list[tuple[str, float, float, bool]]) -> None:
    """Print everything as tables."""
    from beforehand.cli.ui.output import print_table

    rows = [
        (
            part,
            name,
            f"{figures['events']:,}",
            f"{figures['seconds']:.1f}",
            f"{figures['events_per_second']:,.0f}",
            f"{figures['peak_gigabytes']:.2f}" if "peak_gigabytes" in figures else "",
        )
        for part in ("speed", "cores", "growth", "huge")
        for name, figures in report.get(part, {}).items()
    ]
    print_table(("part", "what", "events", "seconds", "events/s", "peak GB"), rows)
    print_table(
        ("claim", "measured", "bar", "met"),
        [
            (claim, f"{value:.2f}", f"{bar}", "yes" if met else "NO")
            for claim, value, bar, met in bars
        ],
    )


def main() -> int:
    """Measure, show, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="short runs, to see that it works")
    parser.add_argument("--part", choices=PARTS, action="append", help="only this; repeatable")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "benchmarks" / "audit.json")
    parser.add_argument("--call", help=argparse.SUPPRESS)  # one measurement, for `in_subprocess`
    options = parser.parse_args()
    if options.call:
        name, *arguments = json.loads(options.call)
        print(json.dumps(MEASUREMENTS[name](*arguments)))
        return 0
    with tempfile.TemporaryDirectory(prefix="beforehand-audit-") as scratch:
        report = measure(set(options.part or PARTS), options.quick, Path(scratch))
    verdicts = judge(report, options.quick)
    report |= {
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "bars": [dict(zip(("claim", "measured", "bar", "met"), v, strict=True)) for v in verdicts],
    }
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(report, indent=2) + "\n")
    show(report, verdicts)
    print(f"written to {options.out}")
    return 0 if all(met for *_, met in verdicts) else 1


PARTS = ("speed", "cores", "growth", "huge")

if __name__ == "__main__":
    sys.exit(main())
