"""Growth exponents: with y = c * x^k, the k that fits best, by least squares on the logarithms.

Runs that are compared must differ in x only. So for the number of processes and the degree, runs are
fitted together if everything else but the seed is equal; of workloads with a parameter, `ring:2` and
`ring:8` differ only in the degree. Messages buffered and in flight are outcomes and not settings: for
these, all runs of a size and a workload are fitted together, whatever their intervals.
"""

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from beforehand.pipeline.metrics.columns import succeeded
from beforehand.pipeline.schemas import NUMBER, REAL, TEXT, shaped, spark_schema
from beforehand.results.tables import metrics

LEAST_VALUES: Final = 3  # of x: two points fit any line
LEAST_SPAN: Final = 2.0  # the largest x over the smallest: over less, the slope is noise

EXPONENTS: Final = spark_schema(metrics.EXPONENTS)


def _xs() -> dict[str, tuple[Column, Column, Column, Column]]:
    """x -> its value, and the workload, setting and size that runs fitted together share."""
    workload, setting, size = sf.col("workload"), sf.col("setting"), sf.col("processes")
    anything = sf.lit(None)
    family = sf.substring_index(workload, ":", 1)
    waiting = (sf.col("held_mean") + sf.col("buffered_mean")) / size
    return {
        "n": (size, workload, setting, anything),
        "degree": (sf.col("degree"), family, setting, size),
        "buffered": (waiting, workload, anything, size),  # held or buffered, per process, mean
        # Of one sender, at most.
        "in flight": (sf.col("most_in_transit"), workload, anything, size),
    }


def _ys() -> dict[str, Column]:
    return {
        "metadata": sf.col("metadata_bytes_per_message"),
        "state": sf.col("integers_mean"),  # per process
        "work": sf.col("seconds") / sf.col("sent"),  # wall-clock, of the simulator too
    }


def exponents(results: DataFrame) -> DataFrame:
    """How metadata, state and work per message grow with n, degree, buffered and in flight."""
    keys = ["protocol", "network", "workload", "setting", "processes", "y", "x"]
    logs = (
        _long(results)
        .withColumn("usable", sf.coalesce((sf.col("vx") > 0) & (sf.col("vy") > 0), sf.lit(False)))
        .withColumn("vx", sf.when(sf.col("usable"), sf.col("vx")))
        .withColumn("lx", sf.log("vx"))
        .withColumn("ly", sf.when(sf.col("usable"), sf.log("vy")))
    )
    fitted = logs.groupBy(*keys).agg(
        sf.regr_slope("ly", "lx").alias("exponent"),
        sf.regr_r2("ly", "lx").alias("r2"),
        sf.min("vx").alias("low"),
        sf.max("vx").alias("high"),
        sf.size(sf.collect_set("vx")).alias("values"),
        sf.count_if("usable").alias("used"),
        sf.count_if(~sf.col("usable")).alias("unused"),
    )
    enough = (sf.col("values") >= LEAST_VALUES) & (sf.col("high") >= LEAST_SPAN * sf.col("low"))
    return shaped(fitted.where(enough), EXPONENTS)


def _long(results: DataFrame) -> DataFrame:
    """A row for each run and each pair of x and y."""
    xs = [
        sf.struct(
            sf.lit(name).alias("x"),
            value.cast(REAL).alias("vx"),
            workload.alias("workload"),
            setting.cast(TEXT).alias("setting"),
            size.cast(NUMBER).alias("processes"),
        )
        for name, (value, workload, setting, size) in _xs().items()
    ]
    ys = [
        sf.struct(sf.lit(name).alias("y"), value.cast(REAL).alias("vy"))
        for name, value in _ys().items()
    ]
    by_x = succeeded(results).withColumn("by_x", sf.explode(sf.array(*xs)))
    by_both = by_x.withColumn("by_y", sf.explode(sf.array(*ys)))
    return by_both.select("protocol", "network", "by_x.*", "by_y.*")
