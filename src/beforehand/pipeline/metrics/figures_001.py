"""The series of figures 4 to 6 in the paper of Tong, Liittschwager and Kuper, from sweeps.

4. Execution time of the matrix protocol (`rst`), `mattern` and `cykas` against processes per kB/s.
5. How much faster `cykas` is than `mattern`, by the length of jobs, for each interval between messages.
6. The same by the share of hot processes, without jobs and with them.

The scenario determines the figure of a run: bandwidth and no jobs; jobs; a workload with hot spots. The
paper's grids are in `examples/grids`.
"""

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from beforehand.pipeline.metrics.columns import bytes_per_second, nanoseconds, scenario, succeeded
from beforehand.pipeline.schemas import REAL, shaped, spark_schema
from beforehand.results.tables import metrics

PROTOCOLS: Final = ("mattern", "cykas", "rst")
SLOW, FAST = "mattern", "cykas"  # the two that are compared in figures 5 and 6

FIGURES: Final = spark_schema(metrics.FIGURES_001)


def figure_series_001(results: DataFrame) -> DataFrame:
    """The points of the three figures, as far as there are runs for them."""
    runs = succeeded(results).withColumn("kind", sf.substring_index("workload", ":", 1))
    runs = runs.withColumn("job_share", scenario("job_share").cast(REAL))
    points = _times(runs).unionByName(_gains(_pairs(runs))).where("x is not null and y is not null")
    keys = ["figure", "panel", "series", "processes", "x"]
    means = points.groupBy(*keys).agg(sf.avg("y").alias("y"), sf.count("y").alias("runs"))
    return shaped(means, FIGURES)


def _times(runs: DataFrame) -> DataFrame:
    """Figure 4: of each run."""
    rate = bytes_per_second(scenario("bandwidth")) / 1000
    bare = (sf.col("kind") == "uniform") & (sf.col("job_share") == 0)
    return runs.where(bare & sf.col("protocol").isin(*PROTOCOLS)).select(
        sf.lit(4).alias("figure"),
        sf.lit("").alias("panel"),
        sf.col("protocol").alias("series"),
        "processes",
        (sf.col("processes") / rate).alias("x"),
        (sf.col("execution_ns") / 1e9).alias("y"),
    )


def _pairs(runs: DataFrame) -> DataFrame:
    """How much faster one protocol was than the other, in runs that differ in nothing else."""
    same = ["workload", "kind", "network", "setting", "processes", "seed", "job_share"]

    def of(protocol: str, column: str) -> Column:
        return sf.max(sf.when(sf.col("protocol") == protocol, sf.col(column)))

    def ratio(column: str) -> Column:
        return of(SLOW, column) / sf.nullif(of(FAST, column), sf.lit(0))

    return runs.groupBy(*same).agg(
        ratio("execution_ns").alias("faster"),
        ratio("mean_job_start_ns").alias("sooner"),
        sf.any_value("scenario").alias("scenario"),  # but for the protocol they are the same
    )


def _gains(pairs: DataFrame) -> DataFrame:
    """Figures 5 and 6: of each pair of runs."""
    length = nanoseconds(scenario("job")) / 1e6
    share = 100 * sf.regexp_extract("workload", r"^hotspot:\s*([0-9.]+)", 1).cast(REAL)
    jobs = sf.col("job_share") > 0
    by_length = [
        _point(5, scenario("interval"), sf.lit(name), length, sf.col(column))
        for name, column in (("execution time", "faster"), ("mean job start", "sooner"))
    ]
    series = sf.when(jobs, "with jobs").otherwise("no jobs")
    by_share = _point(6, sf.lit(""), series, share, sf.col("faster"))
    points = sf.when(sf.col("kind") == "hotspot", sf.array(by_share)).when(
        (sf.col("kind") == "uniform") & jobs, sf.array(*by_length)
    )
    exploded = pairs.select("processes", sf.explode(points).alias("point"))
    return exploded.select("processes", "point.*")


def _point(figure: int, panel: Column, series: Column, x: Column, y: Column) -> Column:
    return sf.struct(
        sf.lit(figure).alias("figure"),
        panel.alias("panel"),
        series.alias("series"),
        x.alias("x"),
        y.cast(REAL).alias("y"),
    )
