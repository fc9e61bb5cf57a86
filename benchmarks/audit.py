"""What the auditor costs: events per second beside the oracle, on one core and on two, and memory.

    make bench-audit
    python benchmarks/audit.py [--quick] [--out FILE.json] [--part speed|cores|growth|huge]

1. Speed: one run of 100 processes as a Parquet trace; the plain-Python oracle of `causality/`, told each
   event by `trace.read`, beside the auditor on Spark. The session is started, and everything was
   compiled by an audit of a small trace, before the clock starts.
2. Cores: `local[1]` and `local[2]`, for many runs and for one that is judged in blocks.
3. Growth: one run of 1,000 processes in blocks, of four lengths: seconds per event.
4. Huge: 50 million events of 1,000 processes, and the memory of the whole process tree meanwhile: what
   the JVM, the driver and all workers have in memory, added up four times a second.

The runs are made here: anybody sends to anybody, and a message is delivered after a fixed number of
others was sent, so that deliveries at a process are in the order of sending. Every measurement has a
process of its own; rounds alternate, the best of each counts. Exit code 1 if a bar is missed.
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
UNDER_WAY = 2_000  # messages


# ---- runs ----


@numba.njit(cache=True)
def _counts(process: Any, seq: Any, counter: Any) -> None:
    for event in range(len(process)):
        counter[process[event]] += 1
        seq[event] = counter[process[event]]


def write_run(path: Path, run: str, processes: int, messages: int, seed: int) -> int:
    """Write a run, a piece at a time; how many events it has."""
    names = pa.array([f"p{index:04}" for index in range(processes)])
    rng = np.random.default_rng(seed)
    sender = rng.integers(0, processes, messages, dtype=np.int32)
    receiver = ((sender + rng.integers(1, processes, messages)) % processes).astype(np.int32)
    number = np.empty(messages, np.int64)
    _counts(sender, number, np.zeros(processes, np.int64))
    counter = np.zeros(processes, np.int64)
    under_way = min(UNDER_WAY, messages)
    fields = ("run", "process", "seq", "kind", "sender", "mid", "to", "time_ns")
    zeros = ("payload_bytes", "meta_bytes")
    with pq.ParquetWriter(path, _schema(), compression="zstd") as writer:
        for begin in range(0, messages + under_way, ROWS // 2):
            turn = np.arange(begin, min(begin + ROWS // 2, messages + under_way))
            # Each turn sends one message and delivers an older one.
            which = np.stack([turn, turn - under_way], axis=1).ravel()
            is_send = np.tile([True, False], len(turn))
            there = (which >= 0) & (which < messages)
            which, is_send = which[there], is_send[there]
            process = np.where(is_send, sender[which], receiver[which])
            seq = np.empty(len(which), np.int64)
            _counts(process, seq, counter)
            sizes = np.concatenate([[0], np.cumsum(is_send)]).astype(np.int32)
            to = pa.ListArray.from_arrays(
                pa.array(sizes),
                names.take(pa.array(receiver[which[is_send]])),
                mask=pa.array(~is_send),
            )
            columns = dict(
                zip(
                    fields,
                    (
                        pa.array([run] * len(which)),
                        names.take(pa.array(process)),
                        seq,
                        pa.array(["deliver", "send"]).take(pa.array(is_send.astype(np.int8))),
                        names.take(pa.array(sender[which])),
                        number[which],
                        to,
                        which,
                    ),
                    strict=True,
                )
            )
            columns |= dict.fromkeys(zeros, np.zeros(len(which), np.int64))
            columns["detail"] = pa.array([""] * len(which))
            writer.write_table(pa.table(columns).cast(_schema()))
    return 2 * messages


def _schema() -> Any:
    from beforehand.pipeline.arrow import arrow_schema
    from beforehand.pipeline.schemas import EVENTS

    return arrow_schema(EVENTS)


# ---- measuring, in a process of its own each time ----


def by_oracle(folder: str) -> dict[str, Any]:
    """The plain-Python oracle, told the events of the only trace in a folder."""
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
    assert not oracle.violations and not missing, "the run was to be clean"
    return {"events": events, "seconds": seconds}


def by_auditor(folder: str, warm_up: str, cores: int, large: int) -> dict[str, Any]:
    """The auditor, on some cores, after it has warmed up."""
    from beforehand.pipeline import session
    from beforehand.pipeline.audit import audit

    spark = session.start(f"local[{cores}]")
    for limit in {large, 0} if large < 10**9 else {large}:
        audit(spark, [warm_up], large=limit).close()
    best = float("inf")
    with Memory() as memory:
        for _ in range(3):
            began = time.perf_counter()
            found = audit(spark, [folder], large=large)
            best = min(best, time.perf_counter() - began)
            events = found.events
            assert found.exit_code == 0, "the run was to be clean"
            found.close()
            if best > 10:
                break  # long enough to be even
    spark.stop()
    return {"events": events, "seconds": best, "peak_gigabytes": memory.peak / 2**30}


class Memory:
    """Watches how much memory this process and all below it have, added up."""

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
    found, waiting = set(), [root]
    while waiting:
        each = waiting.pop()
        found.add(each)
        waiting += parents.get(each, [])
    return found


def _resident(processes: set[int]) -> int:
    """Bytes; what processes share is counted for each, so it is rather more than there is."""
    pages = 0
    for each in processes:
        try:
            pages += int(Path(f"/proc/{each}/statm").read_text().split()[1])
        except OSError:
            continue
    return pages * os.sysconf("SC_PAGE_SIZE")


MEASUREMENTS: dict[str, Callable[..., dict[str, Any]]] = {
    "by_oracle": by_oracle,
    "by_auditor": by_auditor,
}


def alone(name: str, *arguments: object) -> dict[str, Any]:
    """Make a measurement in a new interpreter."""
    call = json.dumps([name, *arguments])
    ran = subprocess.run(
        [sys.executable, __file__, "--call", call], capture_output=True, text=True, check=False
    )
    if ran.returncode:
        raise SystemExit(f"{name} failed:\n{ran.stderr}")
    found: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    found["events_per_second"] = found["events"] / found["seconds"]
    return found


WHOLE, BLOCKS = 10**9, 0  # how many events of a run one task may hold


def measure(parts: set[str], quick: bool, scratch: Path) -> dict[str, Any]:
    """All measurements."""
    warm_up = folder(scratch, "warm-up", 1, 100, 20_000)
    report: dict[str, Any] = {}
    if "speed" in parts:
        place = folder(scratch, "speed", 1, 100, 200_000 if quick else 4_900_000)
        print("speed: the oracle", file=sys.stderr)
        report["speed"] = {
            "oracle": alone("by_oracle", place),
            "auditor": alone("by_auditor", place, warm_up, os.cpu_count(), WHOLE),
        }
    if "cores" in parts:
        many = folder(scratch, "many", 40, 100, 5_000 if quick else 50_000)
        one = folder(scratch, "one", 1, 1_000, 100_000 if quick else 2_000_000)
        report["cores"] = {
            f"{name}, local[{cores}]": alone("by_auditor", place, warm_up, cores, large)
            for name, place, large in (("40 runs", many, WHOLE), ("one run in blocks", one, BLOCKS))
            for cores in (1, 2)
        }
    if "growth" in parts:
        sizes = [size // 20 for size in GROWTH] if quick else GROWTH
        report["growth"] = {
            f"{2 * size:,} events": alone(
                "by_auditor",
                folder(scratch, f"growth-{size}", 1, 1_000, size),
                warm_up,
                os.cpu_count(),
                BLOCKS,
            )
            for size in sizes
        }
    if "huge" in parts:
        place = folder(scratch, "huge", 1, 1_000, 500_000 if quick else 25_000_000)
        found = alone("by_auditor", place, warm_up, os.cpu_count(), BLOCKS)
        report["huge"] = {f"{found['events']:,} events": found}
    return report


GROWTH = [2_500_000, 5_000_000, 10_000_000]  # messages


def folder(scratch: Path, name: str, runs: int, processes: int, messages: int) -> str:
    """A folder with some runs of a size."""
    place = scratch / name
    place.mkdir()
    for number in range(runs):
        write_run(place / f"{number}.parquet", f"run-{number}", processes, messages, number)
    return str(place)


def judge(report: dict[str, Any], quick: bool) -> list[tuple[str, float, float, bool]]:
    """What was claimed, measured and demanded; a quick run is too short to be held to most of it."""
    found = []
    if "speed" in report and not quick:
        speed = report["speed"]
        ratio = speed["auditor"]["events_per_second"] / speed["oracle"]["events_per_second"]
        found.append(
            ("times as fast as the oracle, 100 processes", ratio, SPEED_BAR, ratio >= SPEED_BAR)
        )
    if "growth" in report and not quick:
        costs = [each["seconds"] / each["events"] for each in report["growth"].values()]
        ratio = costs[-1] / costs[0]
        found.append(
            ("seconds per event, longest run over shortest", ratio, GROWTH_BAR, ratio <= GROWTH_BAR)
        )
    for name, each in report.get("huge", {}).items():
        peak = each["peak_gigabytes"]
        found.append(
            (f"GB in memory, {name}, 1,000 processes", peak, MEMORY_BAR, peak <= MEMORY_BAR)
        )
    return found


def show(report: dict[str, Any], bars: list[tuple[str, float, float, bool]]) -> None:
    """Print everything as tables."""
    from beforehand.cli.ui.output import print_table

    rows = [
        (
            part,
            name,
            f"{each['events']:,}",
            f"{each['seconds']:.1f}",
            f"{each['events_per_second']:,.0f}",
            f"{each['peak_gigabytes']:.2f}" if "peak_gigabytes" in each else "",
        )
        for part in ("speed", "cores", "growth", "huge")
        for name, each in report.get(part, {}).items()
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
    parser.add_argument("--call", help=argparse.SUPPRESS)  # one measurement, for `alone`
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
