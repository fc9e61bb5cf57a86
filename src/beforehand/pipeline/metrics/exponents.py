"""Growth exponents: with y = c * x^k, the k that fits best, by least squares on the logarithms.

Runs that are compared must differ in x only. So for the number of processes and the degree, runs are
fitted together if everything else but the seed is equal; of workloads with a parameter, `ring:2` and
`ring:8` differ only in the degree. Messages buffered and in flight are outcomes and not settings: for
these, all runs of a size and a workload are fitted together, whatever their intervals.
"""

from collections.abc import Iterable, Iterator
from math import log
from typing import Any, Final

import numpy as np

from beforehand.pipeline.metrics.rows import Row, grouped, succeeded

LEAST_VALUES: Final = 3  # of x: two points fit any line
LEAST_SPAN: Final = 2.0  # the largest x over the smallest: over less, the slope is noise

_KEYS: Final = ("protocol", "network", "workload", "setting", "processes", "y", "x")


def exponents(results: Iterable[Row]) -> list[dict[str, Any]]:
    """How metadata, state and work per message grow with n, degree, buffered and in flight."""
    points = [point for row in succeeded(results) for point in _points(row)]
    fits = [
        {**dict(zip(_KEYS, key, strict=True)), **fit}
        for key, mine in grouped(points, _KEYS).items()
        if (fit := _fit(mine)) is not None
    ]
    return fits


def _points(row: Row) -> Iterator[Row]:
    """A row for each pair of x and y."""
    size, family = row["processes"], row["workload"].partition(":")[0]
    waiting = (row["held_mean"] + row["buffered_mean"]) / size
    same = {"workload": row["workload"], "setting": row["setting"], "processes": None}
    # x -> its value, and what runs fitted together share
    xs: dict[str, tuple[float | None, dict[str, Any]]] = {
        "n": (size, same),
        "degree": (row["degree"], {**same, "workload": family, "processes": size}),
        # Held or buffered, per process, mean.
        "buffered": (waiting, {**same, "setting": None, "processes": size}),
        # Of one sender, at most.
        "in flight": (row["most_in_transit"], {**same, "setting": None, "processes": size}),
    }
    ys = {
        "metadata": row["metadata_bytes_per_message"],
        "state": row["integers_mean"],  # per process
        # Wall-clock, of the simulator too.
        "work": row["seconds"] / row["sent"] if row["sent"] else None,
    }
    names = {"protocol": row["protocol"], "network": row["network"]}
    for x, (vx, shared) in xs.items():
        for y, vy in ys.items():
            yield {**names, **shared, "x": x, "vx": vx, "y": y, "vy": vy}


def _fit(points: Iterable[Row]) -> dict[str, Any] | None:
    """The line through the logarithms; None if x varies too little."""
    all_points = list(points)
    usable = [(p["vx"], p["vy"]) for p in all_points if (p["vx"] or 0) > 0 and (p["vy"] or 0) > 0]
    xs = {float(x) for x, _ in usable}
    if len(xs) < LEAST_VALUES or max(xs) < LEAST_SPAN * min(xs):
        return None
    lx, ly = (np.array([log(value) for value in values]) for values in zip(*usable, strict=True))
    dx, dy = lx - lx.mean(), ly - ly.mean()
    sxx, sxy, syy = float(dx @ dx), float(dx @ dy), float(dy @ dy)
    return {
        "exponent": sxy / sxx,
        "r2": sxy * sxy / (sxx * syy) if syy else 1.0,
        "low": min(xs),
        "high": max(xs),
        "values": len(xs),
        "used": len(usable),
        "unused": len(all_points) - len(usable),
    }
