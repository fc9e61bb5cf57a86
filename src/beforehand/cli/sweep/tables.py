"""What `beforehand sweep` prints."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer

from beforehand.cli.ui.output import print_table
from beforehand.results.format import duration

if TYPE_CHECKING:
    from beforehand.pipeline.sweep import Skipped, SweepResult

ROWS = 200  # of a table that are printed
TOLD = 5  # failures that are told in full
SEPARATOR = ", "  # between the parts of a setting
NAMES = ("protocol", "workload", "network", "n", "seed", "setting")  # what tells runs apart


def show_skipped(skipped: Sequence[Skipped]) -> None:
    """Before the start, so that nobody waits in vain for these."""
    by_reason: dict[str, list[str]] = {}
    for each in skipped:
        by_reason.setdefault(each.reason, []).append(each.what)
    for reason, found in by_reason.items():
        more = f" and {len(found) - 1:,} more" if len(found) > 1 else ""
        typer.echo(f"skipped {found[0]}{more}: {reason}", err=True)


def as_values(
    swept: SweepResult, rows: list[dict[str, Any]], tables: dict[str, Any]
) -> dict[str, Any]:
    """For programs."""
    return {
        "done": swept.done,
        "failed": swept.failed,
        "reused": swept.reused,
        "skipped": [{"what": each.what, "reason": each.reason} for each in swept.skipped],
        "traces": list(swept.traces),
        "results": [{**row, "scenario": json.loads(row["scenario"])} for row in rows],
        **tables,
    }


def show(swept: SweepResult, rows: list[dict[str, Any]], out: str) -> None:
    """The table of the runs, what failed, and how many there are."""
    failed = [row for row in rows if row["error"] is not None]
    good = [row for row in rows if row["error"] is None]
    titles = [
        *NAMES,
        *(
            "outcome",
            "latency",
            "p99",
            "held",
            "meta B/msg",
            "control/msg",
            "integers",
            "violations",
        ),
    ]
    common = _common(good)
    if common:
        typer.echo(f"all with {', '.join(common)}")
    cells = [_cells(row, common) for row in good[:ROWS]]
    # Most sweeps are not audited, and many have no further settings.
    used = [place for place in range(len(titles)) if any(line[place] for line in cells)]
    if cells:
        print_table(
            [titles[at] for at in used],
            [[line[at] for at in used] for line in cells],
            keys=sum(titles[at] in NAMES for at in used),
        )
    if len(good) > ROWS:
        typer.echo(f"... and {len(good) - ROWS:,} more rows; --json prints all of them.")
    for row in failed[:TOLD]:
        what = f"{row['protocol']}, {row['workload']}, {row['network']}, seed {row['seed']}"
        typer.echo(f"failed: run {row['run']} ({what}): {row['error']}", err=True)
    if len(failed) > TOLD:
        typer.echo(f"... and {len(failed) - TOLD:,} more that failed.", err=True)
    skipped = f", {len(swept.skipped):,} combinations skipped" if swept.skipped else ""
    typer.echo(
        f"{swept.done:,} runs done, {swept.failed:,} failed, {swept.reused:,} were there already"
        f"{skipped}; all in {out}"
    )


def _common(rows: list[dict[str, Any]]) -> list[str]:
    """Of the settings, those that all runs have: told once, not in every line."""
    if not rows:
        return []
    first, *others = [row["setting"].split(SEPARATOR) for row in rows]
    return [each for each in first if each and all(each in other for other in others)]


def _cells(row: dict[str, Any], common: list[str]) -> list[str]:
    judged = "" if row["violations"] is None else f"{row['violations']:,}"
    return [
        row["protocol"],
        row["workload"],
        row["network"],
        f"{row['processes']:,}",
        str(row["seed"]),
        SEPARATOR.join(each for each in row["setting"].split(SEPARATOR) if each not in common),
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
    """Claimed and measured, side by side."""
    typer.echo("\nTable 1, claimed and measured (k: growth with the number of processes, n^k)")
    titles = [
        *("protocol", "message space", "bytes", "k", "process space", "integers", "k"),
        *("work us", "k", "latency ms", "non-causal", "ms", "in transit", "most", "control/msg"),
    ]
    print_table(titles, [_claim_cells(row) for row in tables["table1"]])
    if not tables["exponents"]:
        typer.echo(
            "\nNo growth exponents: they need three values of what is varied, such as sizes."
        )
        return
    typer.echo("\nGrowth exponents")
    titles = ["protocol", "y", "x", "exponent", "r2", "from", "to", "runs", "workload", "network"]
    names = ("protocol", "y", "x", "exponent", "r2", "low", "high", "used", "workload", "network")
    cells = [[_figure(row[name]) for name in names] for row in tables["exponents"]]
    print_table(titles, cells, keys=3)


def _claim_cells(row: dict[str, Any]) -> list[str]:
    names = (
        *("protocol", "claimed_message_space", "metadata_bytes", "metadata_exponent"),
        *("claimed_process_space", "integers_mean", "state_exponent", "work_us", "work_exponent"),
        *("latency_ms", "claimed_noncausal", "noncausal_ms", "claimed_in_transit"),
        *("most_in_transit", "control_frames"),
    )
    return [_figure(row[name]) for name in names]


def _figure(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:,.2f}" if isinstance(value, float) else str(value)
