"""Nédelec et al. ("Causal Broadcast: How to Forget?"), its evaluation: figure 5 and table 1, measured.

    python benchmarks/prc.py [--sizes 100,1000,10000] [--minutes 50,50,1] [--quick]
                             [--only figure5|table1] [--out FILE.json]

1. Figure 5 (`prc_figure5.py`): `prc` on an overlay that shuffles, with 10 broadcasts per second, while
   delays grow from 1 ms to 2.5 s. 100 processes take a minute or two, 1,000 about 40 (420 million
   frames); 10,000 run the schedule shortened to one minute.
2. Table 1 (`prc_table1.py`): bytes, work, space and control messages of four systems as more processes
   broadcast. Work is lines of Python executed, counted in the pure build: a count, not a time.
   It takes about four minutes.

Each statement of the paper is printed with the measured figure, the bar, and whether it holds. Nothing
depends on the speed of the machine. Exit code 1 if a statement that we claim does not hold.

Differences from the paper's experiment: processes don't join, they start with links that are already
shuffled; a link is bidirectional, and set up in one direction and then in the other; alpha travels over
the new link itself, in one hop, and B-beta counts as a control frame if it is empty. Entries are
counted as in the paper: one for each message and link that will bring another copy, and one for each
message in a buffer.
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
    measure.__name__: measure
    for measure in (prc_figure5.follow, prc_table1.spread, prc_table1.work, prc_table1.added)
}


def in_build(build: str, calls: Sequence[Sequence[object]]) -> list[Any]:
    """Run measurements, one after the other, in a fresh interpreter that imports the given build."""
    path = os.pathsep.join((str(BUILDS[build]), str(ROOT)))  # the root for `tests.support`
    command = [sys.executable, __file__, "--call", json.dumps(calls)]
    environment = {**os.environ, "PYTHONPATH": path}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True)
    if ran.returncode:
        raise SystemExit(f"{build} {calls}:\n{ran.stderr}")
    results: list[Any] = json.loads(ran.stdout)
    return results


def report_progress(part: str) -> None:
    """Report progress."""
    print(f"  measured {part}", file=sys.stderr, flush=True)


def measure_figure5(settings: list[Setting], build: str) -> list[dict[str, Any]]:
    """One run for each setting."""
    summaries = []
    for setting in settings:
        [result] = in_build(build, [("follow", *astuple(setting))])
        summaries.append(prc_figure5.summary(setting, result))
        report_progress(f"figure 5, {setting.size:,} processes")
    return summaries


def measure_table1(sizes: prc_table1.Sizes, build: str) -> Measured:
    """All measurements of table 1, those of lines in the pure build."""
    anywhere, pure = prc_table1.calls(sizes)
    figures = dict(zip(anywhere, in_build(build, anywhere), strict=True))
    figures.update(zip(pure, in_build("pure", pure), strict=True))
    report_progress("table 1")
    return Measured(sizes, figures)


# ---- for people ----


def table(title: str, columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Any:
    """Text to the left, numbers to the right."""
    from rich.table import Table

    drawn = Table(title=title)
    for index, column in enumerate(columns):
        drawn.add_column(column, justify="right" if index and "bar" not in columns else "left")
    for row in rows:
        drawn.add_row(*row)
    return drawn


def show_figure5(console: Any, shown: dict[str, Any]) -> None:
    """Print the table of one run."""
    columns = (
        "minute of the paper",
        "delay, ms",
        "entries per process",
        "at most",
        "a vector",
        "control/process/s",
    )
    title = f"Figure 5: {shown['size']:,} processes, {shown['deviations']}"
    console.print(table(title, columns, prc_figure5.rows(shown)))
    crossing = prc_figure5.crossing_ms(shown)
    console.print(
        f"{shown['neighbours']:.1f} neighbours per process; {shown['links_per_shuffle']:.1f} links "
        f"(each direction counted) added per process and shuffle, paper: 7.5; "
        f"{shown['control_per_link']:.2f} control frames per added link; a vector would be smaller "
        + ("at no measured delay." if crossing is None else f"from {crossing:,.0f} ms on.")
    )


def show_table1(console: Any, table1: Measured) -> None:
    """Print all parts of table 1."""
    counts = " / ".join(str(count) for count in table1.sizes.broadcasters)
    columns = (
        "system",
        "bytes beyond payload, per frame",
        "lines executed per receipt",
        "entries after all is delivered",
        "entries at most",
    )
    for all_broadcast in (False, True):
        title = f"Table 1, {table1.growth_label(all_broadcast)} processes broadcast, N = {counts}"
        console.print(table(title, columns, table1.rows(all_broadcast)))
    degrees = tuple(str(degree) for degree in table1.sizes.degrees)
    title = f"prc by its number of links Qi, {table1.sizes.size} processes"
    console.print(table(title, ("Qi", *degrees, "exponent"), table1.degree_rows()))
    crowds = " / ".join(str(size) for size in table1.sizes.crowds)
    title = f"Table 1: frames per added link, P = {crowds}"
    columns = ("system", "way", "frames", "which, at the largest P", "paper")
    console.print(table(title, columns, table1.link_rows()))


def show(
    runs: list[dict[str, Any]],
    table1: Measured | None,
    verdicts: list[Verdict],
    remarks: list[Verdict],
) -> None:
    """Print the report as tables."""
    from rich.console import Console

    console = Console(width=None if sys.stdout.isatty() else 140)
    for shown in runs:
        show_figure5(console, shown)
    if table1 is not None:
        show_table1(console, table1)
    for title, judged in (("Bars", verdicts), ("Not claimed", remarks)):
        rows = [(*rest, "holds" if holds else "DOES NOT HOLD") for *rest, holds in judged]
        if rows:
            console.print(table(title, ("statement", "measured", "bar", ""), rows))


# ---- the whole run ----


def chosen(sizes: str, minutes: str | None) -> list[Setting]:
    """The settings chosen on the command line."""
    counts = [int(value) for value in sizes.split(",")]
    if minutes is None:
        lengths = [50.0 if count <= 1_000 else 1.0 for count in counts]
    else:
        lengths = [float(value) for value in minutes.split(",")]
    if len(lengths) == 1:
        lengths *= len(counts)
    if len(lengths) != len(counts) or min(counts) < 3 or min(lengths) <= 0:
        raise SystemExit("--minutes: give one value per size, or one for all; sizes are at least 3")
    return [Setting(count, length) for count, length in zip(counts, lengths, strict=True)]


def listed(verdicts: list[Verdict]) -> list[dict[str, object]]:
    """The verdicts as JSON values."""
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
    parser.add_argument("--build", choices=tuple(BUILDS), help="default: compiled, if available")
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
            print(
                "no compiled build (make compiled): using the pure one, which is slow",
                file=sys.stderr,
            )
    settings = [QUICK] if options.quick else chosen(options.sizes, options.minutes)
    table1 = None
    if options.only != "figure5":
        table1 = measure_table1(prc_table1.QUICK if options.quick else prc_table1.Sizes(), build)
    runs = [] if options.only == "table1" else measure_figure5(settings, build)
    verdicts = [verdict for shown in runs for verdict in prc_figure5.judge(shown)]
    verdicts += prc_figure5.judge_sizes(runs)
    verdicts += [] if table1 is None else table1.judge()
    remarks = [verdict for shown in runs for verdict in prc_figure5.remark(shown)]
    report = {
        "build": build,
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "figure5": runs,
        "table1": [] if table1 is None else table1.listed(),
        "bars": listed(verdicts),
        "not_claimed": listed(remarks),
    }
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(report, indent=2) + "\n")
    show(runs, table1, verdicts, remarks)
    print(f"written to {options.out}")
    return 0 if all(holds for *_, holds in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
