"""Bars that a benchmark has to meet, and how it shows and keeps what it measured."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

Verdict = tuple[str, float, str, bool]  # claim, figure, bar, met


def at_least(claim: str, ratio: float, bar: float) -> Verdict:
    """Whether a figure is large enough."""
    return claim, ratio, f">= {bar:.2f}", ratio >= bar


def at_most(claim: str, ratio: float, bar: float) -> Verdict:
    """Whether a figure is small enough."""
    return claim, ratio, f"<= {bar:.2f}", ratio <= bar


def table(title: str, columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Any:
    """Text to the left, numbers to the right."""
    from rich.table import Table

    drawn = Table(title=title)
    for index, column in enumerate(columns):
        drawn.add_column(column, justify="right" if index and title != "Bars" else "left")
    for row in rows:
        drawn.add_row(*row)
    return drawn


def present(
    report: dict[str, Any],
    verdicts: Sequence[Verdict],
    out: Path,
    draws: Sequence[Callable[[dict[str, Any]], Any]],
) -> int:
    """Show the report as tables, with its bars, and keep it as JSON; returns the exit code."""
    from rich.console import Console

    named = [dict(zip(("claim", "measured", "bar", "met"), v, strict=True)) for v in verdicts]
    report["bars"] = named
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(report, indent=2) + "\n")
    console = Console(width=None if sys.stdout.isatty() else 120)
    for draw in draws:
        console.print(draw(report))
    bars = [
        (claim, f"{ratio:,.2f}", bar, "met" if met else "MISSED")
        for claim, ratio, bar, met in verdicts
    ]
    console.print(table("Bars", ("claim", "measured", "bar", ""), bars))
    print(f"written to {out}")
    return 0 if all(met for *_, met in verdicts) else 1
