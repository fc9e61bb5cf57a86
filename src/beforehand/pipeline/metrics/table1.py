"""Table 1 of Almeida's hybrid-buffering paper: its claims for each protocol, next to measurements.

The measured columns are means over all runs of a protocol, so compare protocols on the same grid;
`docs/sweep.md` has one. Exponents are those in n, averaged over the groups of `exponents`, and null
where the grid has fewer than three sizes.
"""

from dataclasses import astuple, fields
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.types import StructType

from beforehand.pipeline.metrics.claims import CLAIMS, Claim
from beforehand.pipeline.metrics.columns import succeeded
from beforehand.pipeline.metrics.exponents import exponents
from beforehand.pipeline.schemas import TEXT, required, shaped, spark_schema
from beforehand.results.tables import metrics

CLAIMED: Final = tuple(f"claimed_{field.name}" for field in fields(Claim)[1:])

TABLE1: Final = spark_schema(metrics.TABLE1)


def table1(results: DataFrame) -> DataFrame:
    """A row for each protocol in the results."""
    measured = (
        succeeded(results)
        .groupBy("protocol")
        .agg(
            sf.count("*").alias("runs"),
            sf.count_if(sf.col("outcome") == "stalled").alias("stalled"),
            sf.avg("metadata_bytes_per_message").alias("metadata_bytes"),
            sf.avg("integers_mean").alias("integers_mean"),
            sf.max("integers_peak").alias("integers_peak"),
            (1e6 * sf.sum("seconds") / sf.sum("sent")).alias("work_us"),
            (sf.avg("latency_mean") / 1e6).alias("latency_ms"),
            (sf.avg("noncausal_mean") / 1e6).alias("noncausal_ms"),
            sf.max("most_in_transit").alias("most_in_transit"),
            sf.avg("control_frames_per_message").alias("control_frames"),
        )
    )
    grown = (
        exponents(results)
        .where("x = 'n'")
        .groupBy("protocol")
        .agg(
            *(
                sf.avg(sf.when(sf.col("y") == y, sf.col("exponent"))).alias(f"{y}_exponent")
                for y in ("metadata", "state", "work")
            )
        )
    )
    claimed = results.sparkSession.createDataFrame(
        [astuple(claim) for claim in CLAIMS],
        StructType(required(**dict.fromkeys(("protocol", *CLAIMED), TEXT))),
    )
    joined = measured.join(sf.broadcast(claimed), "protocol", "left")
    return shaped(joined.join(sf.broadcast(grown), "protocol", "left"), TABLE1)
