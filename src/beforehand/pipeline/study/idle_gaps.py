"""Idle gaps, shortened: an idle network has nothing to teach.

In a replay, processes check for lost frames periodically, even while there is nothing to do. A trace of
months would keep the simulator busy with that for hours. So in a sparse workload, gaps in which no
process sends are capped, all at the same limit; order and causes stay.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

SECOND: Final = 10**9
LIMITS: Final = tuple(SECOND // 1000 * ms for ms in (10_000, 1_000, 100, 10, 1))
# Process-seconds of replay: a few seconds of work on a lossy network.
MOST: Final = 1_000_000


def shorten(
    rows: Sequence[Mapping[str, Any]], processes: int, most: int = MOST
) -> tuple[list[dict[str, Any]], int | None]:
    """The messages with new times, and the limit in nanoseconds; None if times are unchanged."""
    times = sorted({row["time_ns"] for row in rows})
    gaps = [after - before for before, after in pairwise(times)]
    if not _too_long(gaps, processes, most):
        return [dict(row) for row in rows], None
    fitting = (cap for cap in LIMITS if not _too_long(_cut(gaps, cap), processes, most))
    limit = next(fitting, LIMITS[-1])
    moved, now = {}, 0
    for time, gap in zip(times, [0, *_cut(gaps, limit)], strict=True):
        now += gap
        moved[time] = now
    return [{**row, "time_ns": moved[row["time_ns"]]} for row in rows], limit


def _cut(gaps: Sequence[int], limit: int) -> list[int]:
    return [min(gap, limit) for gap in gaps]


def _too_long(gaps: Sequence[int], processes: int, most: int) -> bool:
    return sum(gaps) * processes > most * SECOND
