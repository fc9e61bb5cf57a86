"""How evenly messages are sent, and how fast in the busiest moments."""

from typing import Final

from pyspark.sql import Column, Window, WindowSpec
from pyspark.sql import functions as f

SECOND: Final = 10**9
# Windows for the peak: the largest that fits a hundred times into the span of the run.
WINDOWS: Final = tuple(
    SECOND // 1000 * milliseconds
    for milliseconds in (1, 10, 100, 1_000, 10_000, 60_000, 600_000, 3_600_000, 86_400_000)
)
FITS: Final = 100


def window_of(span: Column) -> Column:
    """The window for the peak of a run with this span; null where all times are equal."""
    window = f.when(span > 0, f.lit(WINDOWS[0]))
    for size in WINDOWS[1:]:
        window = f.when(span >= FITS * size, f.lit(size)).otherwise(window)
    return window


def gap(keys: WindowSpec) -> Column:
    """The time since the previous send with the same keys."""
    return f.col("time_ns") - f.lag("time_ns").over(keys.orderBy("time_ns"))


def evenness() -> tuple[Column, Column]:
    """Aggregates of the column `gap`: coefficient of variation, and burstiness.

    The second is (sigma - mu) / (sigma + mu): -1 for regular sends, 0 for random ones, towards 1 for
    bursts. Both are null where there are fewer than two gaps, or all times are equal.
    """
    mean, spread = f.mean("gap"), f.stddev_pop("gap")
    known = (f.count("gap") > 1) & (mean > 0)
    return (
        f.when(known, spread / mean).alias("gap_cv"),
        f.when(known, (spread - mean) / (spread + mean)).alias("burstiness"),
    )


def by(*keys: str) -> WindowSpec:
    """All messages with the same values of these columns."""
    return Window.partitionBy(*keys)
