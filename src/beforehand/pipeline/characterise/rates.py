"""How evenly messages are sent, and how fast in the busiest moments."""

from typing import Final

import numpy as np

from beforehand.pipeline.characterise.kernels import Numbers

SECOND: Final = 10**9
# Windows for the peak: the largest that fits a hundred times into the span of the run.
WINDOWS: Final = tuple(
    SECOND // 1000 * milliseconds
    for milliseconds in (1, 10, 100, 1_000, 10_000, 60_000, 600_000, 3_600_000, 86_400_000)
)
FITS: Final = 100


def window_of(span: int) -> int | None:
    """The window for the peak of a run with this span; None where all times are equal."""
    if span <= 0:
        return None
    return max((size for size in WINDOWS if span >= FITS * size), default=WINDOWS[0])


def peak_rate(times: Numbers, window: int | None) -> float | None:
    """Messages per second in the busiest window; None without a window."""
    if window is None:
        return None
    _, counts = np.unique((times - times.min()) // window, return_counts=True)
    return int(counts.max()) * SECOND / window


def rate(messages: int, span: int) -> float | None:
    """Messages per second; None where all times are equal."""
    return messages * SECOND / span if span else None


def evenness(times: Numbers) -> dict[str, float | None]:
    """Coefficient of variation of the times between sends, and burstiness.

    The second is (sigma - mu) / (sigma + mu): -1 for regular sends, 0 for random ones, towards 1 for
    bursts. Both are None where there are fewer than two gaps, or all times are equal.
    """
    gaps = np.diff(np.sort(times))
    if gaps.size < 2 or not gaps.any():
        return {"gap_cv": None, "burstiness": None}
    mean, spread = float(gaps.mean()), float(gaps.std())
    return {"gap_cv": spread / mean, "burstiness": (spread - mean) / (spread + mean)}
