"""The cost of the runtime: messages per second, latency, bytes and memory, compared with common tools.

    make bench-runtime
    python benchmarks/runtime.py [--quick] [--only throughput,echo,...] [--rounds 5] [--markdown]
                                 [--loop uvloop|asyncio] [--out FILE.json]

1. `throughput`: messages delivered per second between two processes on loopback, 32 bytes and 1 KiB:
   `hybrid-sps`, plain and encrypted, message by message and with the batch calls, compared with pyzmq
   PUSH/PULL (its blocking API and zmq.asyncio), nats-py through a local server, and bare asyncio UDP.
2. `echo`: round trips of one message at a time, compared with bare asyncio UDP on the same kind of loop.
   The bar is for nodes that spin; those that sleep at once, the default, are shown too.
3. `wire`: bytes that both sides put on the wire for each message of 32 bytes, under load.
4. `loss`: goodput compared with a TCP stream (zmq) through the same relay, which loses and delays
   packets.
5. `mesh`: 2 to 16 processes that all send to all.
6. `memory`: of an idle peer, and of a message in flight.

Each candidate has two fresh processes and one turn in each round; a ratio is the median of the ratios
within the rounds, so that background load affects both sides of it. Only loopback is used.
The scheduler places all processes. It may put two that wake each other on one core, where they take
turns; `--pinned` pins single-threaded processes (`beforehand`, UDP) to a core each, and no others.
Exit code 1 if a bar is missed; a quick run is too short for the bars on speed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # a script sees its own folder only

from benchmarks import runtime_node, runtime_parts, runtime_peers, runtime_relay  # noqa: E402
from benchmarks.runtime_pairs import Setting, best_loop, run_role  # noqa: E402
from benchmarks.runtime_parts import (  # noqa: E402
    BATCH,
    ENCRYPTED,
    PARTS,
    SINGLE,
    SPIN,
    ZMQ,
    ZMQ_ASYNC,
)
from benchmarks.runtime_tables import Verdict, markdown, tables  # noqa: E402

# Times as fast as blocking pyzmq at 32 bytes, which promises only FIFO.
ZMQ_BARS = {
    BATCH: 4.0,
    SINGLE: 1.2,
    BATCH + ENCRYPTED: 2.5,
    SINGLE + ENCRYPTED: 1.0,
}
ZMQ_ASYNC_BAR = 10.0  # `await send` / `async for` over the same of zmq.asyncio
ECHO_BAR = 1.5  # times bare asyncio UDP, p50 and p99
WIRE_BAR = 1.25  # times the payload


def judge(report: dict[str, Any], quick: bool) -> list[Verdict]:
    """Claim, measured figure, bar and verdict."""
    verdicts: list[Verdict] = []
    if "throughput" in report and not quick:
        rates = report["throughput"]["32"]
        for label, bar in ZMQ_BARS.items():
            ratio = rates[label]["ratio"]
            verdicts.append((f"{label}, over {ZMQ}, 32 bytes", ratio, bar, ratio >= bar))
        ratio = rates[SINGLE]["value"] / rates[ZMQ_ASYNC]["value"]
        verdicts.append(
            (f"{SINGLE}, over {ZMQ_ASYNC}, 32 bytes", ratio, ZMQ_ASYNC_BAR, ratio >= ZMQ_ASYNC_BAR)
        )
    if "echo" in report and not quick:
        for quantile in ("p50", "p99"):
            for label in (SINGLE + SPIN, SINGLE + ENCRYPTED + SPIN):
                ratio = report["echo"][quantile][label]["ratio"]
                claim = f"echo {quantile} over bare UDP, {label}"
                verdicts.append((claim, ratio, ECHO_BAR, ratio <= ECHO_BAR))
    for label, figures in report.get("wire", {}).items():
        ratio = figures["over_payload"]
        verdicts.append(
            (f"bytes on the wire over payload, {label}", ratio, WIRE_BAR, ratio <= WIRE_BAR)
        )
    return verdicts


def show(report: dict[str, Any], verdicts: Sequence[Verdict], as_markdown: bool) -> None:
    """Print everything."""
    from beforehand.cli.ui.output import print_table

    for table in tables(report, verdicts):
        if as_markdown:
            print(markdown(table))
        else:
            title, columns, rows = table
            print(f"\n{title}")
            print_table(columns, rows)


def role_named(name: str) -> Callable[[Setting], Any]:
    """The function that a process is to run."""
    for module in (runtime_peers, runtime_node, runtime_relay, runtime_parts):
        if hasattr(module, name):
            role: Callable[[Setting], Any] = getattr(module, name)
            return role
    raise SystemExit(f"there is no role {name}")


def parse_parts(text: str) -> list[str]:
    """The parts that the command line selects."""
    chosen = text.split(",")
    for part in chosen:
        if part not in PARTS:
            raise argparse.ArgumentTypeError(f"{part}: choose from {', '.join(PARTS)}")
    return chosen


def main() -> int:
    """Measure, show, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="short runs, to see that it works")
    parser.add_argument("--only", type=parse_parts, default=list(PARTS), help=",".join(PARTS))
    parser.add_argument("--rounds", type=int, default=5, help="of throughput, echo and loss")
    parser.add_argument("--loop", choices=("uvloop", "asyncio"), default=best_loop())
    parser.add_argument(
        "--pinned", action="store_true", help="pin each single-threaded process to a core"
    )
    parser.add_argument("--markdown", action="store_true", help="tables as a README has them")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "benchmarks" / "runtime.json")
    parser.add_argument("--role", nargs=2, help=argparse.SUPPRESS)  # one process, for `Process`
    options = parser.parse_args()
    if options.role:
        name, setting_json = options.role
        run_role(role_named(name), setting_json)
        return 0
    from beforehand import _build

    report: dict[str, Any] = {
        "build": _build.describe(),
        "loop": options.loop,
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "load": round(
            os.getloadavg()[0], 1
        ),  # of other programs: above about 0.2, results are unreliable
        "pinned": options.pinned,
        "seed": runtime_parts.SEED,
    }
    print(", ".join(f"{key} {value}" for key, value in report.items()))
    setting = Setting(loop=options.loop, pinned=options.pinned)
    if options.quick:
        setting = replace(setting, warm_up=0.1, seconds=0.2)
    for part in options.only:
        report[part] = PARTS[part](setting, 1 if options.quick else options.rounds, options.quick)
    verdicts = judge(report, options.quick)
    names = ("claim", "measured", "bar", "met")
    report["bars"] = [dict(zip(names, verdict, strict=True)) for verdict in verdicts]
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(report, indent=2) + "\n")
    show(report, verdicts, options.markdown)
    print(f"written to {options.out}")
    return 0 if all(met for *_, met in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
