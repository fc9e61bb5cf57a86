"""The series of figure 5 in the causal-broadcast paper of Nédelec, Molli and Mostéfaoui: state and
control frames over time.

It needs runs with a `sample`, which record their state periodically.
"""

from collections.abc import Iterable
from typing import Any, Final

from beforehand.pipeline.metrics.rows import Row, grouped, mean, succeeded

_KEYS: Final = ("protocol", "workload", "network", "setting", "processes", "time_ns")


def figure_series_004(results: Iterable[Row]) -> list[dict[str, Any]]:
    """A row for each moment of each size, averaged over the seeds."""
    moments = [
        {**{key: row[key] for key in _KEYS[:-1]}, **moment}
        for row in succeeded(results)
        for moment in row["series"] or ()
    ]
    return [
        {
            **dict(zip(_KEYS[:-1], key, strict=False)),
            "time_s": key[-1] / 1e9,
            "delay_ms": _mean(mine, "delay_ns") / 1e6,
            "entries": _mean(mine, "entries"),
            "most_entries": max(moment["most_entries"] for moment in mine),
            "control_per_second": _mean(mine, "control_per_second"),
            "runs": len(mine),
        }
        for key, mine in grouped(moments, _KEYS).items()
    ]


def _mean(moments: Iterable[Row], name: str) -> float:
    return mean(moment[name] for moment in moments) or 0.0
