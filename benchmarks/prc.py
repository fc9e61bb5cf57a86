"""Nédelec et al. ("Causal Broadcast: How to Forget?"), its evaluation: figure 5 and table 1, measured.

    python benchmarks/prc.py [--sizes 100,1000,10000] [--minutes 50,50,1] [--quick]
                             [--only figure5|table1] [--out FILE.json]

1. Figure 5 (`prc_figure5.py`): `prc` on an overlay that shuffles, with 10 broadcasts per second, while
   delays grow from 1 ms to 2.5 s. 100 processes take a minute or two, 1,000 about 40 (420 million
   frames); 10,000 run the schedule shortened to one minute.
2. Table 1 (`prc_table1.py`): bytes, work, space and control messages of four systems as more processes
   broadcast. Work is lines of Python executed, counted in the pure build: a count, not a time.
   It takes about four minutes.

Each statement of the paper is printed with what was measured, the bar, and whether it holds. Nothing
depends on how fast the machine is. Exit code 1 if a statement does not hold that we claim.

Where this is not the paper's experiment: processes do not join, they start with their links, which have
been shuffled before; a link goes both ways, and is made in one direction and then in the other; alpha
travels over the new link itself, in one hop, and B-beta is counted among the control frames if it is
empty. Entries are counted as in the paper: one for each message and link that will bring it again, and
one for each message in a buffer.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # a script sees its own folder only

from benchmarks import prc_figure5, prc_table1  # noqa: E402
from benchmarks.prc_figure5 import STOP, Setting  # noqa: E402
from benchmarks.prc_growth import Measured  # noqa: E402

Verdict = tuple[str, str, str, bool]  # claim, measured, bar, holds

BUILDS = {"pure": ROOT / "src", "compiled": ROOT / "build" / "compiled"}
SIZES = "100,1000,10000"
QUICK = Setting(30, 0.34, shuffle_s=2, shrink=10, sample_s=0.0513)
MEASUREMENTS = {
    each.__name__: each
    for each in (prc_figure5.follow, prc_table1.spread, prc_table1.work, prc_table1.added)
}


def in_build(build: str, calls: Sequence[Sequence[object]]) -> list[Any]:
    """Run measurements, one after the other, in a fresh interpreter that imports the given build."""
    path = os.pathsep.join((str(BUILDS[build]), str(ROOT)))  # the root for `tests.support`
    command = [sys.executable, __file__, "--call", json.dumps(calls)]
    environment = {**os.environ, "PYTHONPATH": path}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True)
    if ran.returncode:
        raise SystemExit(f"{build} {calls}:\n{ran.stderr}")
    found: list[Any] = json.loads(ran.stdout)
    return found


def measured(what: str) -> None:
    """Tell how far it is."""
    print(f"  measured {what}", file=sys.stderr, flush=True)


def measure_figure5(settings: list[Setting], build: str) -> list[dict[str, Any]]:
    """One run for each setting."""
    found = []
    for setting in settings:
        [ran] = in_build(build, [("follow", *astuple(setting))])
        found.append(prc_figure5.summary(setting, ran))
        measured(f"figure 5, {setting.size:,} processes")
    return found


def measure_table1(sizes: prc_table1.Sizes, build: str) -> Measured:
    """All of it."""
    anywhere, pure = prc_table1.calls(sizes)
    found = dict(zip(anywhere, in_build(build, anywhere), strict=True))
    found.update(zip(pure, in_build("pure", pure), strict=True))
    measured("table 1")
    return Measured(sizes, found)


# ---- for people ----


def table(title: str, columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Any:
    """Text to the left, numbers to the right."""
    from rich.table import Table

    drawn = Table(title=title)
    for place, column in enumerate(columns):
        drawn.add_column(column, justify="right" if place and "bar" not in columns else "left")
    for row in rows:
        drawn.add_row(*row)
    return drawn


def show_figure5(console: Any, shown: dict[str, Any]) -> None:
    """One run."""
    columns = (
        "minute of the paper",
        "delay, ms",
        "entries per process",
        "at most",
        "a vector",
        "control/process/s",
    )
    title = f"Figure 5: {shown['size']:,} processes, {shown['told']}"
    console.print(table(title, columns, prc_figure5.rows(shown)))
    crossing = prc_figure5.crossing_ms(shown)
    console.print(
        f"{shown['neighbours']:.1f} neighbours per process; {shown['links_per_shuffle']:.1f} links "
        f"(each direction counted) added per process and shuffle, paper: 7.5; "
        f"{shown['control_per_link']:.2f} control frames per added link; a vector would be smaller "
        + ("at no delay that was seen." if crossing is None else f"from {crossing:,.0f} ms on.")
    )


def show_table1(console: Any, found: Measured) -> None:
    """All of its parts."""
    counts = " / ".join(str(count) for count in found.sizes.broadcasters)
    columns = (
        "system",
        "bytes beyond payload, per frame",
        "lines executed per receipt",
        "entries after all is delivered",
        "entries at most",
    )
    for everybody in (False, True):
        title = f"Table 1, {found.which(everybody)} processes broadcast, N = {counts}"
        console.print(table(title, columns, found.rows(everybody)))
    degrees = tuple(str(degree) for degree in found.sizes.degrees)
    title = f"prc by its number of links Qi, {found.sizes.size} processes"
    console.print(table(title, ("Qi", *degrees, "exponent"), found.degree_rows()))
    crowds = " / ".join(str(size) for size in found.sizes.crowds)
    title = f"Table 1: frames per added link, P = {crowds}"
    columns = ("system", "way", "frames", "which, at the largest P", "paper")
    console.print(table(title, columns, found.link_rows()))


def show(
    runs: list[dict[str, Any]],
    found: Measured | None,
    verdicts: list[Verdict],
    remarks: list[Verdict],
) -> None:
    """The report as tables."""
    from rich.console import Console

    console = Console(width=None if sys.stdout.isatty() else 140)
    for shown in runs:
        show_figure5(console, shown)
    if found is not None:
        show_table1(console, found)
    for title, judged in (("Bars", verdicts), ("Not claimed", remarks)):
        rows = [(*rest, "holds" if holds else "DOES NOT HOLD") for *rest, holds in judged]
        if rows:
            console.print(table(title, ("statement", "measured", "bar", ""), rows))


# ---- the whole run ----


def chosen(sizes: str, minutes: str | None) -> list[Setting]:
    """From what the command line says."""
    counts = [int(each) for each in sizes.split(",")]
    if minutes is None:
        lengths = [50.0 if count <= 1_000 else 1.0 for count in counts]
    else:
        lengths = [float(each) for each in minutes.split(",")]
    if len(lengths) == 1:
        lengths *= len(counts)
    if len(lengths) != len(counts) or min(counts) < 3 or min(lengths) <= 0:
        raise SystemExit("give as many minutes as sizes, or one for all; sizes from 3 on")
    return [Setting(count, length) for count, length in zip(counts, lengths, strict=True)]


def listed(verdicts: list[Verdict]) -> list[dict[str, object]]:
    """As JSON can hold them."""
    return [dict(zip(("claim", "measured", "bar", "holds"), v, strict=True)) for v in verdicts]


def main() -> int:
    """Measure, show, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--sizes", default=SIZES, help=f"of figure 5; default {SIZES}")
    parser.add_argument(
        "--minutes",
        help=f"that stand for the paper's {STOP}; default {STOP}, above 1,000 processes 1",
    )
    parser.add_argument("--quick", action="store_true", help="small systems, a few seconds")
    parser.add_argument("--only", choices=("figure5", "table1"), help="default: both")
    parser.add_argument("--build", choices=tuple(BUILDS), help="default: compiled, if it is there")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "benchmarks" / "prc.json")
    parser.add_argument("--call", help=argparse.SUPPRESS)  # measurements, for in_build
    options = parser.parse_args()
    if options.call:
        print(json.dumps([MEASUREMENTS[name](*rest) for name, *rest in json.loads(options.call)]))
        return 0
    build = options.build
    if build is None:
        build = "compiled" if (BUILDS["compiled"] / "beforehand").is_dir() else "pure"
        if build == "pure":
            print("no compiled build (make compiled): the pure one, slowly", file=sys.stderr)
    settings = [QUICK] if options.quick else chosen(options.sizes, options.minutes)
    found = None
    if options.only != "figure5":
        found = measure_table1(prc_table1.QUICK if options.quick else prc_table1.Sizes(), build)
    runs = [] if options.only == "table1" else measure_figure5(settings, build)
    verdicts = [verdict for shown in runs for verdict in prc_figure5.judge(shown)]
    verdicts += prc_figure5.judge_sizes(runs)
    verdicts += [] if found is None else found.judge()
    remarks = [each for shown in runs for each in prc_figure5.remark(shown)]
    report = {
        "build": build,
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "figure5": runs,
        "table1": [] if found is None else found.listed(),
        "bars": listed(verdicts),
        "not_claimed": listed(remarks),
    }
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(report, indent=2) + "\n")
    show(runs, found, verdicts, remarks)
    print(f"written to {options.out}")
    return 0 if all(holds for *_, holds in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
