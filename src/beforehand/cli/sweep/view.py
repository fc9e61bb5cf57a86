"""The results of a sweep, for people and for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer

from beforehand.cli.ui.output import print_table
from beforehand.results.format import duration

if TYPE_CHECKING:
    from beforehand.pipeline.sweep import Skipped, SweepResult

ROWS = 200  # of a table, at most
FAILURES = 5  # to print in full
SEPARATOR = ", "  # between the parts of a setting
NAMES = ("protocol", "workload", "network", "n", "seed", "setting")  # what distinguishes runs
FIGURES = ("outcome", "latency", "p99", "held", "meta B/msg", "control/msg", "integers")

# Titles and columns of Table 1, claimed and measured; k is the exponent of the growth.
CLAIMS = (
    ("protocol", "protocol"),
    ("message space", "claimed_message_space"),
    ("bytes", "metadata_bytes"),
    ("k", "metadata_exponent"),
    ("process space", "claimed_process_space"),
    ("integers", "integers_mean"),
    ("k", "state_exponent"),
    ("work µs", "work_us"),
    ("k", "work_exponent"),
    ("latency ms", "latency_ms"),
    ("non-causal", "claimed_noncausal"),
    ("ms", "noncausal_ms"),
    ("in transit", "claimed_in_transit"),
    ("most", "most_in_transit"),
    ("control/msg", "control_frames"),
)


def show_skipped(skipped: Sequence[Skipped]) -> None:
    """Print the combinations that cannot be run, before the sweep starts."""
    by_reason: dict[str, list[str]] = {}
    for combination in skipped:
        by_reason.setdefault(combination.reason, []).append(combination.what)
    for reason, combinations in by_reason.items():
        more = f" and {len(combinations) - 1:,} more" if len(combinations) > 1 else ""
        typer.echo(f"skipped {combinations[0]}{more}: {reason}", err=True)


def to_dict(
    swept: SweepResult, rows: list[dict[str, Any]], tables: dict[str, Any]
) -> dict[str, Any]:
    """The results as JSON."""
    return {
        "done": swept.done,
        "failed": swept.failed,
        "reused": swept.reused,
        "skipped": [{"what": skip.what, "reason": skip.reason} for skip in swept.skipped],
        "traces": list(swept.traces),
        "results": [{**row, "scenario": json.loads(row["scenario"])} for row in rows],
        **tables,
    }


def show(swept: SweepResult, rows: list[dict[str, Any]], out: str) -> None:
    """Print the table of the runs, the failures and the totals."""
    failed = [row for row in rows if row["error"] is not None]
    good = [row for row in rows if row["error"] is None]
    titles = [*NAMES, *FIGURES, "violations"]
    common = _common(good)
    if common:
        typer.echo(f"All runs with {', '.join(common)}")
    cells = [_cells(row, common) for row in good[:ROWS]]
    # Columns without values are left out: most sweeps are not audited, many have no settings.
    used = [index for index in range(len(titles)) if any(line[index] for line in cells)]
    if cells:
        print_table(
            [titles[index] for index in used],
            [[line[index] for index in used] for line in cells],
            keys=sum(titles[index] in NAMES for index in used),
        )
    if len(good) > ROWS:
        typer.echo(f"... and {len(good) - ROWS:,} more rows; --json prints all of them.")
    for row in failed[:FAILURES]:
        what = f"{row['protocol']}, {row['workload']}, {row['network']}, seed {row['seed']}"
        typer.echo(f"failed: run {row['run']} ({what}): {row['error']}", err=True)
    if len(failed) > FAILURES:
        typer.echo(f"... and {len(failed) - FAILURES:,} more that failed.", err=True)
    skipped = f", {len(swept.skipped):,} combinations skipped" if swept.skipped else ""
    typer.echo(
        f"{swept.done:,} runs done, {swept.failed:,} failed, {swept.reused:,} reused"
        f"{skipped}; results in {out}"
    )


def _common(rows: list[dict[str, Any]]) -> list[str]:
    """The settings that all runs share: printed once, not in every row."""
    if not rows:
        return []
    first, *others = [row["setting"].split(SEPARATOR) for row in rows]
    return [part for part in first if part and all(part in other for other in others)]


def _cells(row: dict[str, Any], common: list[str]) -> list[str]:
    judged = "" if row["violations"] is None else f"{row['violations']:,}"
    return [
        row["protocol"],
        row["workload"],
        row["network"],
        f"{row['processes']:,}",
        str(row["seed"]),
        SEPARATOR.join(part for part in row["setting"].split(SEPARATOR) if part not in common),
        row["outcome"],
        duration(round(row["latency_mean"])),
        duration(row["latency_p99"]),
        duration(round(row["held_time_mean"])),
        f"{row['metadata_bytes_per_message']:,.1f}",
        f"{row['control_frames_per_message']:,.2f}",
        f"{row['integers_mean']:,.1f}",
        judged,
    ]


def show_tables(tables: dict[str, list[dict[str, Any]]]) -> None:
    """Print Table 1 with its measured counterpart, and the growth exponents."""
    typer.echo("\nTable 1, claimed and measured (k: growth with the number of processes, n^k)")
    cells = [[_figure(row[column]) for _, column in CLAIMS] for row in tables["table1"]]
    print_table([title for title, _ in CLAIMS], cells)
    if not tables["exponents"]:
        typer.echo(
            "\nNo growth exponents: they need at least three values of an axis, such as sizes."
        )
        return
    typer.echo("\nGrowth exponents")
    titles = ["protocol", "y", "x", "exponent", "r2", "from", "to", "runs", "workload", "network"]
    names = ("protocol", "y", "x", "exponent", "r2", "low", "high", "used", "workload", "network")
    cells = [[_figure(row[name]) for name in names] for row in tables["exponents"]]
    print_table(titles, cells, keys=3)


def _figure(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:,.2f}" if isinstance(value, float) else str(value)
