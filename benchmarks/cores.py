"""The cost of the cores: messages per second, bytes of metadata, integers of state.

    make bench            builds the compiled cores and runs this
    python benchmarks/cores.py [--quick] [--out FILE.json]

Two parts, each measured side by side in one run:

1. Throughput between two processes (a message is sent, delivered, acknowledged): pure and compiled
   cores, single sends and `send_many` in runs of 64. Rounds alternate, and the best of each counts, so
   that background load affects all of them.
2. Growth: 10 to 10,000 processes with 10 peers each. Each process sends one message to each of its
   peers, then everything that follows (acks, permits, releases) is carried out, and so on. Bytes are
   those of `beforehand.wire`. Protocols with open membership run all processes; `rst` and `ks`, whose
   state is sized by the membership, run 24 neighbours in a membership of that size.

Exit code 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
BUILDS = {"pure": ROOT / "src", "compiled": ROOT / "build" / "compiled"}
PAYLOAD = b"x" * 32
RUN = 64
PEERS = 10
NEIGHBOURS = 24  # processes that take part where the membership is fixed
COUNTED = 10  # processes whose bytes are counted, and how many messages they send to each peer
COUNTED_ROUNDS = 100
SIZES = (10, 100, 1_000, 10_000)

COMPILED_BAR = 4.0  # compiled over pure, `hybrid`, single sends
RUN_BAR = 3.0  # `send_many` in runs of 64 over single sends
FLAT_BAR = 1.3  # the hybrids, from 10 to 10,000 processes


# ---- measuring, in a separate process for each build ----


def throughput(protocol: str, run: int, messages: int) -> float:
    """Messages per second from a to b, one thread, every frame carried over at once."""
    from beforehand import protocols

    a, b = protocols.create(protocol, "a"), protocols.create(protocol, "b")
    batch = [PAYLOAD] * run
    transmit = protocols.Transmit
    began = time.perf_counter()
    for _ in range(messages // run):
        sent = a.send("b", PAYLOAD) if run == 1 else a.send_many("b", batch)
        for effect in sent:
            for answer in b.receive("a", effect.frame):  # type: ignore[attr-defined]
                if type(answer) is transmit:
                    a.receive("b", answer.frame)
    return messages / (time.perf_counter() - began)


class Neighbourhood:
    """Some processes of a large system, each with peers left and right of it on a ring."""

    def __init__(self, protocol: str, size: int) -> None:
        from beforehand import protocols

        self.names = [f"p{number}" for number in range(size)]
        fixed = protocols.describe(protocol).membership == "fixed"
        self.active = self.names[: NEIGHBOURS if fixed else size]
        self.cores = {
            name: protocols.create(protocol, name, processes=self.names) for name in self.active
        }
        self.peers = [self._peers_of(number) for number in range(len(self.active))]
        self.messages = 0
        self.payload_bytes = 0
        self.wire_bytes = 0
        self.control_frames = 0

    def _peers_of(self, number: int) -> list[str]:
        """At most ten, at most half of them on each side."""
        count = len(self.active)
        steps = [step for reach in range(1, PEERS // 2 + 1) for step in (reach, -reach)]
        names = dict.fromkeys(self.active[(number + step) % count] for step in steps)
        return [name for name in names if name != self.active[number]]

    def one_to_each(self, number: int, count_bytes: bool) -> None:
        """A process sends one message to each peer; then everything that follows is carried out."""
        from beforehand.protocols import Transmit

        name, cores = self.active[number], self.cores
        todo = [(name, e) for peer in self.peers[number] for e in cores[name].send(peer, PAYLOAD)]
        self.messages += len(self.peers[number])
        while todo:
            batch, todo = todo, []
            for source, effect in batch:
                if type(effect) is Transmit:
                    if count_bytes:
                        self.count(effect.frame)
                    to = effect.to
                    todo += [(to, e) for e in cores[to].receive(source, effect.frame)]

    def count(self, frame: Any) -> None:
        """Add a frame to the bytes on the wire."""
        from beforehand import wire

        self.wire_bytes += len(wire.encode(frame))
        self.control_frames += frame.messages() == 0
        self.payload_bytes += frame.messages() * (len(PAYLOAD) + 1)  # the length takes a byte


def growth(protocol: str, size: int, messages: int) -> dict[str, float]:
    """Time, bytes and state at one size, after a warm-up in which all peers connect."""
    system = Neighbourhood(protocol, size)
    count = len(system.active)
    for number in range(count):
        system.one_to_each(number, count_bytes=False)
    # Bytes first: ids grow with what a process has sent, so all sizes are counted alike.
    system.messages = 0
    for number in range(min(count, COUNTED)):
        for _ in range(1 if protocol == "rst" else COUNTED_ROUNDS):
            system.one_to_each(number, count_bytes=True)
    counted = system.messages
    gc.collect()
    gc.freeze()  # long-lived objects are no work for the collector
    rounds = max(messages // (count * PEERS), 1)
    senders = min(count, max(messages // PEERS, 1))
    system.messages = 0
    began = time.perf_counter()
    for number in range(senders):
        for _ in range(rounds):
            system.one_to_each(number, count_bytes=False)
    seconds = time.perf_counter() - began
    timed = system.messages
    gc.unfreeze()
    return {
        "messages_timed": timed,
        "microseconds_per_message": seconds / timed * 1e6,
        "metadata_bytes_per_message": (system.wire_bytes - system.payload_bytes) / counted,
        "control_frames_per_message": system.control_frames / counted,
        "integers_per_process": sum(c.integers() for c in system.cores.values()) / count,
    }


def in_build(build: str, *call: object) -> Any:
    """Run one measurement in a fresh interpreter that imports the given build."""
    environment = {**os.environ, "PYTHONPATH": str(BUILDS[build])}
    command = [sys.executable, __file__, "--call", json.dumps(call)]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True)
    if ran.returncode:
        raise SystemExit(f"{build} {call}:\n{ran.stderr}")
    return json.loads(ran.stdout)


# ---- the whole run ----


def measure_throughput(quick: bool, builds: list[str]) -> dict[str, dict[str, float]]:
    """Best of alternating rounds: protocol -> 'build, run' -> messages per second."""
    results: dict[str, dict[str, float]] = {}
    for protocol in ("hybrid", "hybrid-sps"):
        best: dict[str, float] = {}
        for _ in range(2 if quick else 5):
            for build in builds:
                for run in (1, RUN):
                    messages = (20_000 if build == "pure" else 100_000) * (1 if run == 1 else 4)
                    rate = in_build(
                        build, "throughput", protocol, run, messages // (4 if quick else 1)
                    )
                    best[f"{build}, {run}"] = max(best.get(f"{build}, {run}", 0.0), rate)
        results[protocol] = best
    return results


def affordable(protocol: str, size: int, quick: bool) -> int:
    """How many messages to time: matrix clocks take O(n) and more for each."""
    messages = 100_000 if quick else 400_000
    if protocol == "rst":
        return max(min(messages, 4_000_000 // size**2), 200 if size < 10_000 else 40)
    if protocol == "ks":
        return messages // 100
    return messages


def measure_growth(quick: bool, build: str) -> dict[str, dict[int, dict[str, float]]]:
    """Protocol -> number of processes -> figures; the best time of several rounds."""
    from beforehand import protocols

    results: dict[str, dict[int, dict[str, float]]] = {}
    for protocol in protocols.names():
        known = protocols.describe(protocol)
        if "unicast" not in known.casts or known.overlay != "none":
            continue  # it cannot choose its receivers; prc.py measures broadcasts
        results[protocol] = {}
        for _ in range(1 if protocol in ("rst", "ks") else 2 if quick else 3):
            for size in SIZES:
                figures = in_build(
                    build, "growth", protocol, size, affordable(protocol, size, quick)
                )
                before = results[protocol].get(size)
                if before is not None:
                    name = "microseconds_per_message"
                    figures[name] = min(figures[name], before[name])
                results[protocol][size] = figures
        print(f"  measured {protocol}", file=sys.stderr, flush=True)
    return results


def judge(report: dict[str, Any]) -> list[tuple[str, float, str, bool]]:
    """(claim, figure, bar, met)."""
    verdicts = []
    rates = report["throughput"]
    if "compiled" in report["builds"]:
        ratio = rates["hybrid"]["compiled, 1"] / rates["hybrid"]["pure, 1"]
        verdicts.append(
            ("hybrid: compiled / pure", ratio, f">= {COMPILED_BAR}", ratio >= COMPILED_BAR)
        )
    build = report["builds"][-1]
    for protocol, best in rates.items():
        ratio = best[f"{build}, {RUN}"] / best[f"{build}, 1"]
        claim = f"{protocol}: runs of {RUN} / single sends ({build})"
        verdicts.append((claim, ratio, f">= {RUN_BAR}", ratio >= RUN_BAR))
    for protocol in ("hybrid", "hybrid-sps", "rst"):
        for figure in ("microseconds_per_message", "metadata_bytes_per_message"):
            series = [report["growth"][protocol][size][figure] for size in SIZES]
            ratio = max(series) / min(series)
            flat = ratio <= FLAT_BAR
            claim = f"{protocol}: {figure.split('_')[0]} per message, 10 to 10,000 processes"
            if protocol == "rst":
                verdicts.append((claim, ratio, f"> {FLAT_BAR}", not flat))
            else:
                verdicts.append((claim, ratio, f"<= {FLAT_BAR}", flat))
    return verdicts


def show(report: dict[str, Any], verdicts: list[tuple[str, float, str, bool]]) -> None:
    """The report as tables."""
    from rich.console import Console
    from rich.table import Table

    console = Console(width=None if sys.stdout.isatty() else 120)
    table = Table(title="Messages per second between two processes (send, deliver, acknowledge)")
    for column in ("protocol", "build", "single sends", f"send_many, runs of {RUN}"):
        table.add_column(column, justify="left" if column in ("protocol", "build") else "right")
    for protocol, best in report["throughput"].items():
        for build in report["builds"]:
            rates = [f"{best[f'{build}, {run}']:,.0f}" for run in (1, RUN)]
            table.add_row(protocol, build, *rates)
    console.print(table)
    table = Table(
        title=f"With {PEERS} peers each ({report['builds'][-1]}), at "
        + " / ".join(f"{s:,}" for s in SIZES)
    )
    columns = {
        "microseconds per message": ("microseconds_per_message", ",.1f"),
        "metadata bytes per message, control included": ("metadata_bytes_per_message", ",.1f"),
        "integers of state per process": ("integers_per_process", ",.0f"),
    }
    table.add_column("protocol")
    for column in columns:
        table.add_column(column, justify="right")
    for protocol, sizes in report["growth"].items():
        cells = [
            " / ".join(format(sizes[size][key], form) for size in SIZES)
            for key, form in columns.values()
        ]
        table.add_row(protocol, *cells)
    console.print(table)
    table = Table(title="Bars")
    for column in ("claim", "measured", "bar", ""):
        table.add_column(column)
    for claim, ratio, bar, met in verdicts:
        table.add_row(claim, f"{ratio:,.2f}", bar, "met" if met else "MISSED")
    console.print(table)


def main() -> int:
    """Measure, show, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="fewer messages and rounds")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "benchmarks" / "cores.json")
    parser.add_argument("--call", help=argparse.SUPPRESS)  # one measurement, for in_build
    options = parser.parse_args()
    if options.call:
        name, *arguments = json.loads(options.call)
        print(json.dumps({"throughput": throughput, "growth": growth}[name](*arguments)))
        return 0
    builds = [build for build, path in BUILDS.items() if (path / "beforehand").is_dir()]
    if "compiled" not in builds:
        print("no compiled build (make compiled): measuring the pure modules only", file=sys.stderr)
    report: dict[str, Any] = {
        "builds": builds,
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "throughput": measure_throughput(options.quick, builds),
        "growth": measure_growth(options.quick, builds[-1]),
    }
    verdicts = judge(report)
    report["bars"] = [
        dict(zip(("claim", "measured", "bar", "met"), v, strict=True)) for v in verdicts
    ]
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(report, indent=2) + "\n")
    show(report, verdicts)
    print(f"written to {options.out}")
    return 0 if all(met for *_, met in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
