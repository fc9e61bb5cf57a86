"""All distributions as counts of values, and a summary of each."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from beforehand.pipeline.characterise.schemas import DISTRIBUTIONS, SUMMARIES
from beforehand.pipeline.schemas import shaped


def distributions(messages: DataFrame, processes: DataFrame, order: DataFrame) -> DataFrame:
    """The table DISTRIBUTIONS, from the messages and the tables PROCESSES and ORDER."""
    of_processes = {
        "in-degree": f.col("in_degree"),
        "out-degree": f.col("out_degree"),
        "sent per process": f.col("sent"),
        "received per process": f.col("received"),
    }
    of_messages = {"receivers per message": f.size("to"), "payload bytes": f.col("payload_bytes")}
    of_order = {"causal depth": "depths", "requests per received request": "calls"}
    values = _values(processes, of_processes).unionByName(_values(messages, of_messages))
    for what, column in of_order.items():
        counted = order.select("run", f.lit(what).alias("what"), f.inline(column))
        values = values.unionByName(counted)
    counts = values.groupBy("run", "what", "value").agg(f.sum("count").alias("count"))
    return shaped(counts, DISTRIBUTIONS)


def summaries(counted: DataFrame) -> DataFrame:
    """The table SUMMARIES of a table DISTRIBUTIONS. Quantiles between two values are interpolated."""
    value, count = f.col("value"), f.col("count")
    grouped = counted.groupBy("run", "what").agg(
        f.min("value").alias("min"),
        (f.sum(value * count) / f.sum("count")).alias("mean"),
        f.percentile(value, [0.5, 0.9, 0.99], count).alias("quantiles"),
        f.max("value").alias("max"),
        f.sum("count").alias("count"),
    )
    for index, name in enumerate(("median", "p90", "p99")):
        grouped = grouped.withColumn(name, f.col("quantiles")[index])
    return shaped(grouped, SUMMARIES)


def _values(table: DataFrame, columns: dict[str, Column]) -> DataFrame:
    """A row for each value of each column, without nulls."""
    named = [
        f.struct(
            f.lit(what).alias("what"),
            value.cast("long").alias("value"),
            f.lit(1).cast("long").alias("count"),
        )
        for what, value in columns.items()
    ]
    return table.select("run", f.inline(f.array(*named))).filter("value is not null")
