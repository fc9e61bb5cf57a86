"""The series of figures 4 to 6 in the paper of Tong, Liittschwager and Kuper, from sweeps.

4. Execution time of the matrix protocol (`rst`), `mattern` and `cykas` against processes per kB/s.
5. How much faster `cykas` is than `mattern`, by the length of jobs, for each interval between messages.
6. The same by the share of hot processes, without jobs and with them.

The scenario determines the figure of a run: bandwidth and no jobs; jobs; a workload with hot spots. The
paper's grids are in `examples/grids`.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from beforehand.pipeline.metrics.rows import (
    Row,
    bytes_per_second,
    grouped,
    mean,
    most,
    nanoseconds,
    scenario,
    succeeded,
)

PROTOCOLS: Final = ("mattern", "cykas", "rst")
SLOW, FAST = "mattern", "cykas"  # the two that are compared in figures 5 and 6

_SAME: Final = ("workload", "network", "setting", "processes", "seed", "job_share")
_KEYS: Final = ("figure", "panel", "series", "processes", "x")
_HOTSPOT: Final = re.compile(r"hotspot:\s*([0-9.]+)")


def figure_series_001(results: Iterable[Row]) -> list[dict[str, Any]]:
    """The points of the three figures, as far as there are runs for them."""
    runs = [
        {**row, "fields": (fields := scenario(row)), "job_share": float(fields["job_share"])}
        for row in succeeded(results)
    ]
    known = [
        point
        for point in (*_times(runs), *_gains(runs))
        if point["x"] is not None and point["y"] is not None
    ]
    return [
        {**dict(zip(_KEYS, key, strict=True)), "y": mean(p["y"] for p in mine), "runs": len(mine)}
        for key, mine in grouped(known, _KEYS).items()
    ]


def _times(runs: Iterable[Row]) -> Iterator[Row]:
    """Figure 4: of each run."""
    for row in runs:
        rate = bytes_per_second(row["fields"]["bandwidth"])
        if row["protocol"] in PROTOCOLS and _kind(row) == "uniform" and not _has_jobs(row):
            yield {
                "figure": 4,
                "panel": "",
                "series": row["protocol"],
                "processes": row["processes"],
                "x": row["processes"] * 1000 / rate if rate else None,
                "y": row["execution_ns"] / 1e9,
            }


def _gains(runs: Iterable[Row]) -> Iterator[Row]:
    """Figures 5 and 6: how much faster one protocol was, in runs that differ in nothing else."""
    for pair in grouped(runs, _SAME).values():
        first, kind = pair[0], _kind(pair[0])
        faster = _ratio(pair, "execution_ns")
        common = {"panel": "", "processes": first["processes"]}
        if kind == "hotspot":
            share = _HOTSPOT.match(first["workload"])
            series = "with jobs" if _has_jobs(first) else "no jobs"
            x = 100 * float(share[1]) if share else None
            yield {**common, "figure": 6, "series": series, "x": x, "y": faster}
        elif kind == "uniform" and _has_jobs(first):
            length = nanoseconds(first["fields"]["job"])
            common |= {"figure": 5, "panel": first["fields"]["interval"]}
            common |= {"x": length / 1e6 if length is not None else None}
            yield {**common, "series": "execution time", "y": faster}
            yield {**common, "series": "mean job start", "y": _ratio(pair, "mean_job_start_ns")}


def _ratio(pair: Iterable[Row], column: str) -> float | None:
    slow, fast = (most(r[column] for r in pair if r["protocol"] == p) for p in (SLOW, FAST))
    return slow / fast if slow is not None and fast else None


def _kind(row: Row) -> str:
    return str(row["workload"]).partition(":")[0]


def _has_jobs(row: Row) -> bool:
    return bool(row["job_share"] > 0)
