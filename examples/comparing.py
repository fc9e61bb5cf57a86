"""What causal delivery costs: the same traffic under every protocol, on a network that loses frames.

Services in three layers ask each other and answer. Each protocol is given the same requests, the same
delays and the same losses, and the oracle judges every delivery.

    python examples/comparing.py
"""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from beforehand import protocols
from beforehand.simulator import Result, Scenario, run

SEED = 1


def compared(protocol: str) -> Result:
    """Twelve services for half a second, 5 % of all frames lost."""
    return run(
        Scenario(
            protocol=protocol,
            processes=12,
            messages=25,
            interval="20ms",
            workload="fanout:3,2",
            loss=0.05,
            seed=SEED,
        ),
        audit=True,
    )


def row(result: Result) -> list[str]:
    """The figures that people ask for."""
    metrics = result.metrics
    wrong = len(result.violations) + metrics.undelivered + metrics.duplicates
    return [
        result.scenario.protocol,
        f"{metrics.latency.p50 / 1e6:.1f}",
        f"{metrics.latency.p99 / 1e6:.1f}",
        f"{metrics.held_time.mean / 1e6:.1f}",
        f"{metrics.metadata_bytes_per_message:.0f}",
        f"{metrics.integers.mean:.0f}",
        "nothing" if wrong == 0 else f"{wrong} deliveries",
    ]


def main() -> None:
    """Run them all and draw the table."""
    table = Table(title=f"12 services, 5 % loss, seed {SEED}; times in ms of virtual time")
    for column in (
        "protocol",
        "p50",
        "p99",
        "held",
        "bytes/message",
        "integers",
        "wrong or missing",
    ):
        table.add_column(column, justify="left" if column == "protocol" else "right")
    for name in protocols.names():
        table.add_row(*row(compared(name)))
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
