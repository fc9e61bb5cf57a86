"""The result of a simulation, for people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from beforehand.cli.ui.output import print_table, print_text
from beforehand.results.format import duration
from beforehand.results.layout import SimulationFolder

if TYPE_CHECKING:
    from beforehand.simulator import Result


SHOWN = 3  # violations to print in full
LINES = 24  # rows of a time series, at most


def show(result: Result, out: Path | None) -> None:
    """Print the figures, and the verdict if there is one."""
    scenario, metrics = result.scenario, result.metrics
    on = " on a reliable link" if scenario.linked() else ""
    if scenario.overlay_setup.layout is not None:
        on += f", overlay {scenario.overlay_setup.name}"
    typer.echo(
        f"{scenario.protocol}{on}, {metrics.processes:,} processes, "
        f"workload {scenario.workload}, seed {scenario.seed}: {result.outcome}"
    )
    print_table(("figure", "value", "more"), _rows(result))
    if result.series:
        _show_series(result)
    if metrics.undelivered:
        typer.echo(f"{metrics.undelivered:,} copies of messages were never delivered.")
    if metrics.duplicates:
        typer.echo(f"{metrics.duplicates:,} deliveries were repetitions.")
    if result.audited:
        _show_verdict(result)
    if out is not None:
        typer.echo(
            f"Trace: {out / SimulationFolder.TRACE}, figures: {out / SimulationFolder.RESULT}"
        )


def _show_verdict(result: Result) -> None:
    violations = result.violations
    if not violations:
        what = "causal order held, and nothing was delivered twice"
        missing = result.metrics.undelivered
        print_text(f"audit: {what}" + (f", but {missing:,} are missing." if missing else "."))
        return
    kinds = sorted({violation.kind for violation in violations})
    counts = ", ".join(f"{sum(v.kind == kind for v in violations):,} {kind}" for kind in kinds)
    print_text(f"audit: {len(violations):,} violations ({counts}); the first:")
    for violation in violations[:SHOWN]:
        print_text(f"  {violation}")


def _rows(result: Result) -> list[tuple[str, str, str]]:
    m = result.metrics
    noncausal = ("too congested to follow", "") if m.noncausal is None else _durations(m.noncausal)
    rows = [
        ("messages sent", f"{m.sent:,}", f"{m.delivered:,} deliveries"),
        ("execution time", duration(m.execution_ns), f"{m.events:,} events"),
        ("delivery latency", *_durations(m.latency)),
        ("non-causal latency", *noncausal),
        ("held at the sender", *_durations(m.held_time)),
        ("messages held", *_level(m.held)),
        ("messages buffered", *_level(m.buffered)),
        ("unacknowledged, per process", *_level(m.unacknowledged)),
        ("permits missing, per process", *_level(m.permits_missing)),
        ("integers of state, per process", *_level(m.integers)),
        ("entries about messages, per process", *_level(m.entries)),
        ("metadata per message", f"{m.metadata_bytes_per_message:,.1f} bytes", ""),
        (
            "control frames per message",
            f"{m.control_frames_per_message:,.2f}",
            f"{m.control_per_process_second:,.2f} received per process and second",
        ),
        (
            "bytes on the wire",
            f"{m.wire_bytes:,}",
            f"{m.frames:,} frames, {m.frames_lost:,} lost, {m.frames_doubled:,} doubled",
        ),
        ("in transit from one sender", f"at most {m.most_in_transit:,}", ""),
    ]
    if m.jobs:
        start = duration(round(m.mean_job_start_ns))
        rows.insert(2, ("mean job start", start, f"{m.jobs:,} jobs"))
    if result.scenario.overlay_setup.layout is not None:
        rows.append(
            (
                "links opened",
                f"{m.links_opened:,}",
                f"{m.links_closed:,} closed, {m.frames_ignored:,} frames out of turn",
            )
        )
    if m.unsent or m.skipped:
        rows.append(("not sent", f"{m.unsent:,}", f"{m.skipped:,} more had nobody left to go to"))
    speed = f"{result.events_per_second:,.0f} events per second"
    rows.append(("simulator", speed, f"{result.seconds:.2f} s"))
    return rows


def _show_series(result: Result) -> None:
    """Print as many rows as fit on a screen; JSON has all."""
    step = -(-len(result.series) // LINES)
    shown = [*result.series[:-1:step], result.series[-1]]
    columns = ("time", "processes", "delay", "entries", "at most", "control/s", "delivered")
    print_table(
        columns,
        [
            (
                duration(moment.time_ns),
                f"{moment.processes:,}",
                duration(moment.delay_ns),
                f"{moment.entries:,.1f}",
                f"{moment.most_entries:,}",
                f"{moment.control_per_second:,.2f}",
                f"{moment.delivered:,}",
            )
            for moment in shown
        ],
    )


def _durations(times: Any) -> tuple[str, str]:
    rest = f"p50 {duration(times.p50)}, p99 {duration(times.p99)}, max {duration(times.max)}"
    return f"mean {duration(round(times.mean))}", rest


def _level(level: Any) -> tuple[str, str]:
    return f"mean {level.mean:,.1f}", f"peak {level.peak:,}"
