"""The figures of `runtime.py` as tables, for a terminal or in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.runtime_parts import CANDIDATES, CUBIC, DELAY, UDP, ZMQ

Verdict = tuple[str, float, float, bool]  # claim, measured, bar, met
Row = tuple[str, ...]
Table = tuple[str, Row, Sequence[Row]]  # title, columns, rows


def tables(report: dict[str, Any], verdicts: Sequence[Verdict]) -> Iterator[Table]:
    """All that was measured, and how it compares with the bars."""
    for part, made in MAKERS.items():
        if part in report:
            yield from made(report[part])
    rows = [
        (claim, f"{value:.2f}", f"{bar}", "met" if met else "MISSED")
        for claim, value, bar, met in verdicts
    ]
    if rows:
        yield "Bars", ("claim", "measured", "bar", "verdict"), rows


def _throughput(found: dict[str, Any]) -> Iterator[Table]:
    for size, rates in found.items():
        rows = [
            (label, f"{rates[label]['value']:,.0f}", f"{rates[label]['ratio']:.2f}")
            for label, _, _ in CANDIDATES
            if label in rates
        ]
        yield f"Payloads of {size} bytes", ("what", "messages/s", f"over {ZMQ}"), rows


def _echo(found: dict[str, Any]) -> Iterator[Table]:
    columns = ("what", "p50, µs", "p99, µs", f"p50 over {UDP}", f"p99 over {UDP}")
    rows = [
        (
            label,
            *(f"{found[quantile][label]['value']:.0f}" for quantile in ("p50", "p99")),
            *(f"{found[quantile][label]['ratio']:.2f}" for quantile in ("p50", "p99")),
        )
        for label in found["p50"]
    ]
    yield "Echo of 32 bytes, one message at a time", columns, rows


def _wire(found: dict[str, Any]) -> Iterator[Table]:
    columns = ("what", "bytes there", "bytes back", "over payload")
    rows = [
        (label, *(f"{each[key]:.2f}" for key in ("there", "back", "over_payload")))
        for label, each in found.items()
    ]
    yield "On the wire for a message of 32 bytes", columns, rows


def _loss(found: dict[str, Any]) -> Iterator[Table]:
    title = f"Payloads of 1 KiB over a link that loses packets, {DELAY * 1e3:.0f} ms each way"
    if "left_out" in found:
        yield title, ("left out",), [(found["left_out"],)]
        return
    rows = [
        (label, chance, f"{rates[label]['value'] / 1e6:.1f}", f"{rates[label]['ratio']:.2f}")
        for chance, rates in found.items()
        for label in rates
        if label != "rounds"
    ]
    yield title, ("what", "loss", "MB/s", f"over {CUBIC}"), rows


def _mesh(found: dict[str, Any]) -> Iterator[Table]:
    first = next(iter(found.values()))["each"]
    columns = ("processes", "messages/s each", "of that with 2", "least", "messages/s in all")
    rows = [
        (
            count,
            f"{each['each']:,.0f}",
            f"{each['each'] / first:.2f}",
            f"{each['least']:,.0f}",
            f"{each['all']:,.0f}",
        )
        for count, each in found.items()
    ]
    yield "All to all, payloads of 32 bytes, batch calls", columns, rows


def _memory(found: dict[str, Any]) -> Iterator[Table]:
    rows = [(label, f"{size:,.0f}") for label, size in found.items()]
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
