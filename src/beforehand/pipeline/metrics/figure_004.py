"""The series of figure 5 in the causal-broadcast paper of Nédelec, Molli and Mostéfaoui: state and
control frames over time.

It needs runs with a `sample`, which record their state periodically.
"""

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from beforehand.pipeline.metrics.columns import succeeded
from beforehand.pipeline.schemas import shaped, spark_schema
from beforehand.results.tables import metrics

FIGURE_5: Final = spark_schema(metrics.FIGURE_004)


def figure_series_004(results: DataFrame) -> DataFrame:
    """A row for each moment of each size, averaged over the seeds."""
    keys = ["protocol", "workload", "network", "setting", "processes"]
    moments = succeeded(results).select(*keys, sf.explode("series").alias("at"))
    means = moments.groupBy(*keys, (sf.col("at.time_ns") / 1e9).alias("time_s")).agg(
        (sf.avg("at.delay_ns") / 1e6).alias("delay_ms"),
        sf.avg("at.entries").alias("entries"),
        sf.max("at.most_entries").alias("most_entries"),
        sf.avg("at.control_per_second").alias("control_per_second"),
        sf.count("*").alias("runs"),
    )
    return shaped(means, FIGURE_5)
