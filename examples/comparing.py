"""The cost of causal delivery: the same workload under every protocol, on a network that loses frames.

First services in three layers that call each other and reply; then processes that broadcast, on the
overlay that their protocol needs while neighbours are exchanged. Each protocol is given the same
requests, the same delays and the same losses, and the oracle checks every delivery.

    python examples/comparing.py
"""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

from beforehand import protocols
from beforehand.simulator import Result, Scenario, run

SEED = 1


SERVICES = {"workload": "fanout:3,2", "messages": 25, "interval": "20ms"}
BROADCASTS = {"workload": "broadcast:100,0s,1s"}
CHANGING = {"overlay": "spray:500ms"}  # link-memory is for overlays that stay as they are


def compared(protocol: str, fields: dict[str, Any]) -> Result:
    """Twelve processes, 5 % of all frames lost."""
    return run(
        Scenario(protocol=protocol, processes=12, loss=0.05, seed=SEED, **fields), audit=True
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


def table(title: str, results: list[Result]) -> Table:
    """One line for each protocol."""
    drawn = Table(title=f"{title}, 5 % loss, seed {SEED}; times in ms of virtual time")
    for column in (
        "protocol",
        "p50",
        "p99",
        "held",
        "bytes/message",
        "integers",
        "wrong or missing",
    ):
        drawn.add_column(column, justify="left" if column == "protocol" else "right")
    for result in results:
        drawn.add_row(*row(result))
    return drawn


def main() -> None:
    """Run them all and draw the tables."""
    known = [protocols.describe(name) for name in protocols.names()]
    services = [
        compared(protocol.name, SERVICES) for protocol in known if "unicast" in protocol.casts
    ]
    broadcasts = []
    for protocol in known:
        if "broadcast" in protocol.casts or protocol.name == "hybrid":
            changing = protocol.overlay == "links" and protocol.name != "link-memory"
            broadcasts.append(compared(protocol.name, BROADCASTS | (CHANGING if changing else {})))
    console = Console(width=100)
    console.print(table("12 services", services))
    console.print(table("12 processes that broadcast", broadcasts))


if __name__ == "__main__":
    main()
