"""The figures of `runtime.py` as tables, for a terminal or in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.runtime_parts import CANDIDATES, CUBIC, DELAY, UDP, ZMQ

Verdict = tuple[str, float, float, bool]  # claim, measured, bar, met
Row = tuple[str, ...]
Table = tuple[str, Row, Sequence[Row]]  # title, columns, rows


def tables(report: dict[str, Any], verdicts: Sequence[Verdict]) -> Iterator[Table]:
    """All measurements, and how they compare with the bars."""
    for part, tabulate in MAKERS.items():
        if part in report:
            yield from tabulate(report[part])
    rows = [
        (claim, f"{value:.2f}", f"{bar}", "met" if met else "MISSED")
        for claim, value, bar, met in verdicts
    ]
    if rows:
        yield "Bars", ("claim", "measured", "bar", "verdict"), rows


def _throughput(report: dict[str, Any]) -> Iterator[Table]:
    for size, rates in report.items():
        rows = [
            (label, f"{rates[label]['value']:,.0f}", f"{rates[label]['ratio']:.2f}")
            for label, _, _ in CANDIDATES
            if label in rates
        ]
        yield f"Payloads of {size} bytes", ("what", "messages/s", f"over {ZMQ}"), rows


def _echo(report: dict[str, Any]) -> Iterator[Table]:
    columns = ("what", "p50, µs", "p99, µs", f"p50 over {UDP}", f"p99 over {UDP}")
    rows = [
        (
            label,
            *(f"{report[quantile][label]['value']:.0f}" for quantile in ("p50", "p99")),
            *(f"{report[quantile][label]['ratio']:.2f}" for quantile in ("p50", "p99")),
        )
        for label in report["p50"]
    ]
    yield "Echo of 32 bytes, one message at a time", columns, rows


def _wire(report: dict[str, Any]) -> Iterator[Table]:
    columns = ("what", "bytes there", "bytes back", "over payload")
    rows = [
        (label, *(f"{figures[key]:.2f}" for key in ("there", "back", "over_payload")))
        for label, figures in report.items()
    ]
    yield "On the wire for a message of 32 bytes", columns, rows


def _loss(report: dict[str, Any]) -> Iterator[Table]:
    title = f"Payloads of 1 KiB over a link that loses packets, {DELAY * 1e3:.0f} ms each way"
    if "left_out" in report:
        yield title, ("skipped",), [(report["left_out"],)]
        return
    rows = [
        (label, loss_rate, f"{rates[label]['value'] / 1e6:.1f}", f"{rates[label]['ratio']:.2f}")
        for loss_rate, rates in report.items()
        for label in rates
        if label != "rounds"
    ]
    yield title, ("what", "loss", "MB/s", f"over {CUBIC}"), rows


def _mesh(report: dict[str, Any]) -> Iterator[Table]:
    first = next(iter(report.values()))["each"]
    columns = ("processes", "messages/s each", "of that with 2", "least", "messages/s in all")
    rows = [
        (
            count,
            f"{figures['each']:,.0f}",
            f"{figures['each'] / first:.2f}",
            f"{figures['least']:,.0f}",
            f"{figures['all']:,.0f}",
        )
        for count, figures in report.items()
    ]
    yield "All to all, payloads of 32 bytes, batch calls", columns, rows


def _memory(report: dict[str, Any]) -> Iterator[Table]:
    rows = [(label, f"{size:,.0f}") for label, size in report.items()]
    yield "Memory", ("for each", "bytes"), rows


MAKERS = {
    "throughput": _throughput,
    "echo": _echo,
    "wire": _wire,
    "loss": _loss,
    "mesh": _mesh,
    "memory": _memory,
}


def markdown(table: Table) -> str:
    """A table as a README has it."""
    title, columns, rows = table
    rule = ("---", *("---:" for _ in columns[1:]))
    lines = [f"| {' | '.join(row)} |" for row in (columns, rule, *rows)]
    return "\n".join((f"**{title}**", "", *lines, ""))
