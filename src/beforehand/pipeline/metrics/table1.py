"""Table 1 of Almeida's hybrid-buffering paper: its claims for each protocol, next to measurements.

The measured columns are means over all runs of a protocol, so compare protocols on the same grid;
`docs/sweep.md` has one. Exponents are those in n, averaged over the groups of `exponents`, and null
where the grid has fewer than three sizes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from beforehand.pipeline.metrics.claims import CLAIMS
from beforehand.pipeline.metrics.exponents import exponents
from beforehand.pipeline.metrics.rows import Row, grouped, mean, most, succeeded


def table1(results: Iterable[Row]) -> list[dict[str, Any]]:
    """A row for each protocol in the results."""
    runs = succeeded(results)
    grown = [row for row in exponents(runs) if row["x"] == "n"]
    claims = {
        claim.protocol: {
            f"claimed_{name}": text for name, text in asdict(claim).items() if name != "protocol"
        }
        for claim in CLAIMS
    }
    return [
        {
            "protocol": protocol,
            **claims.get(protocol, {}),
            **_measured(mine),
            **{
                f"{y}_exponent": mean(
                    row["exponent"] for row in grown if (row["protocol"], row["y"]) == (protocol, y)
                )
                for y in ("metadata", "state", "work")
            },
        }
        for (protocol,), mine in sorted(grouped(runs, ["protocol"]).items())
    ]


def _measured(runs: Sequence[Row]) -> dict[str, Any]:
    def average(column: str, divisor: float = 1) -> float | None:
        value = mean(row[column] for row in runs)
        return None if value is None else value / divisor

    sent = sum(row["sent"] for row in runs)
    return {
        "runs": len(runs),
        "stalled": sum(row["outcome"] == "stalled" for row in runs),
        "metadata_bytes": average("metadata_bytes_per_message"),
        "integers_mean": average("integers_mean"),
        "integers_peak": most(row["integers_peak"] for row in runs),
        "work_us": 1e6 * sum(row["seconds"] for row in runs) / sent if sent else None,
        "latency_ms": average("latency_mean", 1e6),
        "noncausal_ms": average("noncausal_mean", 1e6),
        "most_in_transit": most(row["most_in_transit"] for row in runs),
        "control_frames": average("control_frames_per_message"),
    }
