"""The two engines of the pipeline next to each other: seconds and CPU seconds of whole commands.

    make bench-engines
    python benchmarks/engines.py [--quick] [--rounds N] [--out FILE.json]

1. Small inputs: `ingest` of 1,000 rows, `audit` of 40,000 events and `study` of the built-in workload,
   each as a user runs it, from the start of Python to its exit. CPU seconds are those of all its
   processes: the JVM, its Python workers, and whatever they start.
2. Where they cross: `ingest` of lists of messages, from 1,000 to 5 million rows, in files of 100,000.

Rounds alternate between the engines. The first part begins with a round that nobody counts: it fills the
caches that a second command finds (bytecode, compiled loops, Java's archive of classes). Medians. Exit
code 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.bars import Verdict, at_most, present, table  # noqa: E402

ENGINES = ("spark", "local")
SIZES = (1_000, 10_000, 100_000, 1_000_000, 5_000_000)
QUICK_SIZES = (1_000, 10_000)
ROWS_PER_FILE = 100_000
PROCESSES = 200
EVENTS = 40_000  # of the audited trace
SET_CHILD_SUBREAPER = 36  # of prctl: orphans of our children become ours, so that they are counted

SPARK_BARS = {"ingest 1,000 rows": 20.0, "audit 40,000 events": 18.0, "study": 55.0}  # CPU seconds
LOCAL_BARS = {"ingest 1,000 rows": 2.0, "audit 40,000 events": 2.0, "study": 15.0}  # seconds


class Cost(NamedTuple):
    """What a command took."""

    seconds: float
    cpu: float


def run(arguments: list[str]) -> Cost:
    """Run a command of ours in a process of its own that reports for all its descendants."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        began = time.monotonic()
        command = [sys.executable, "-m", "beforehand", *arguments]
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        seconds = time.monotonic() - began
        while True:
            try:
                os.wait()
            except ChildProcessError:
                break
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        line = f"{seconds} {used.ru_utime + used.ru_stime} {done.returncode}\n{done.stderr}"
        os.write(writer, line.encode()[-4000:] if done.returncode else line.encode()[:200])
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        first, _, rest = pipe.read().partition("\n")
    os.waitpid(child, 0)
    wall, cpu, code = first.split()
    if code != "0":
        sys.exit(f"{' '.join(arguments)}: exit code {code}\n{rest}")
    return Cost(float(wall), float(cpu))


def compared(
    arguments: list[str], folder: Path, rounds: int, warm_up: bool = True
) -> dict[str, Any]:
    """The same command on both engines, in alternating rounds."""
    costs: dict[str, list[Cost]] = {engine: [] for engine in ENGINES}
    for number in range(rounds + warm_up):
        for engine in ENGINES:
            out = folder / f"out-{engine}"
            shutil.rmtree(out, ignore_errors=True)
            cost = run([*arguments, "--out", str(out), "--engine", engine])
            if number >= warm_up:
                costs[engine].append(cost)
    return {
        engine: {
            "seconds": median(cost.seconds for cost in mine),
            "cpu": median(cost.cpu for cost in mine),
        }
        for engine, mine in costs.items()
    }


# ---- inputs ----


def write_rows(folder: Path, rows: int, seed: int) -> Path:
    """Lists of messages: sender, receiver and time."""
    source = folder / f"rows-{rows}"
    source.mkdir()
    rng = random.Random(seed)
    for first in range(0, rows, ROWS_PER_FILE):
        with open(source / f"{first:09}.csv", "w", encoding="utf-8") as file:
            file.write("sender,receiver,time\n")
            for row in range(first, min(first + ROWS_PER_FILE, rows)):
                sender, receiver = rng.sample(range(PROCESSES), 2)
                file.write(f"p{sender},p{receiver},{row}\n")
    return source


def write_trace(folder: Path, events: int) -> Path:
    """A trace of the simulator of about this many events."""
    out = folder / "trace"
    processes = 20
    # A message is recorded when it is sent, released, received and delivered, and so are its controls.
    messages = events // (processes * 6)
    arguments = ["--processes", str(processes), "--messages", str(messages), "--out", str(out)]
    run(["simulate", "--protocol", "hybrid-sps", *arguments])
    return out


# ---- parts ----


def small_inputs(folder: Path, rounds: int) -> dict[str, Any]:
    """The three commands of the bars."""
    rows = write_rows(folder, 1_000, seed=1)
    trace = write_trace(folder, EVENTS)
    return {
        "ingest 1,000 rows": compared(["ingest", str(rows)], folder, rounds),
        "audit 40,000 events": compared(["audit", str(trace)], folder, rounds),
        "study": compared(["study"], folder, rounds),
    }


def crossing(folder: Path, sizes: tuple[int, ...], rounds: int) -> dict[str, Any]:
    """Ingest of growing inputs."""
    figures = {}
    for size in sizes:
        source = folder / f"rows-{size}"
        if not source.exists():
            write_rows(folder, size, seed=1)
        figures[f"{size:,}"] = compared(["ingest", str(source)], folder, rounds, warm_up=False)
        shutil.rmtree(source)
    return figures


def bars(report: dict[str, Any]) -> list[Verdict]:
    """What the engines have to meet on small inputs."""
    small = report["small"]
    return [
        at_most(f"spark, {name}: CPU s", small[name]["spark"]["cpu"], bar)
        for name, bar in SPARK_BARS.items()
    ] + [
        at_most(f"local, {name}: s", small[name]["local"]["seconds"], bar)
        for name, bar in LOCAL_BARS.items()
    ]


def _draw(title: str, key: str) -> Any:
    def draw(report: dict[str, Any]) -> Any:
        columns = ("", "spark, s", "local, s", "spark, CPU s", "local, CPU s", "spark / local, s")
        rows = [
            (
                name,
                f"{of['spark']['seconds']:.1f}",
                f"{of['local']['seconds']:.1f}",
                f"{of['spark']['cpu']:.1f}",
                f"{of['local']['cpu']:.1f}",
                f"{of['spark']['seconds'] / of['local']['seconds']:.2f}",
            )
            for name, of in report[key].items()
        ]
        return table(title, columns, rows)

    return draw


def main() -> int:
    """Measure, show and keep the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, one round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("build/benchmarks/engines.json"))
    options = parser.parse_args()
    rounds = 1 if options.quick else options.rounds
    with tempfile.TemporaryDirectory(prefix="beforehand-bench-") as name:
        folder = Path(name)
        report = {
            "small": small_inputs(folder, rounds),
            "crossing": crossing(folder, QUICK_SIZES if options.quick else SIZES, 1),
        }
    draws = [_draw("Small inputs", "small"), _draw("Ingest, rows", "crossing")]
    return present(report, bars(report), options.out, draws)


if __name__ == "__main__":
    sys.exit(main())
