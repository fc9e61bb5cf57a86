"""The tables with one row per run."""

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from beforehand.pipeline.characterise.causal_order import LIMIT, NEEDED, order_of
from beforehand.pipeline.characterise.rates import SECOND, by, evenness, gap, window_of
from beforehand.pipeline.characterise.schemas import COUNTS, FLAGS, ORDER, RUNS
from beforehand.pipeline.schemas import shaped


def counts(messages: DataFrame) -> DataFrame:
    """The table COUNTS: what a single pass over the messages computes.

    All windows partition by run, so this is one shuffle, however large the runs are.
    """
    first, last = f.min("time_ns").over(by("run")), f.max("time_ns").over(by("run"))
    timed = (
        messages.select(
            "run",
            "time_ns",
            "kind",
            "payload_bytes",
            f.size("to").alias("copies"),
            (f.size("flags") > 0).alias("flagged"),
        )
        .withColumns({"gap": gap(by("run")), "since_ns": f.col("time_ns") - first})
        .withColumn("span_ns", last - first)
        .withColumn("window_ns", window_of(f.col("span_ns")))
        .withColumn("slot", f.floor(f.col("since_ns") / f.col("window_ns")))
        .withColumn("in_window", f.count("*").over(by("run", "slot")))
    )
    aggregated = timed.groupBy("run").agg(
        f.count("*").alias("messages"),
        f.sum("copies").alias("copies"),
        f.count_if(f.col("kind") == "request").alias("requests"),
        f.count_if(f.col("kind") == "reply").alias("replies"),
        f.count("payload_bytes").alias("payload_known"),
        f.count_if("flagged").alias("flagged"),
        f.first("span_ns").alias("span_ns"),
        (f.count("*") * SECOND / f.nullif(f.first("span_ns"), f.lit(0))).alias("rate"),
        f.first("window_ns").alias("window_ns"),
        f.max(f.col("in_window") * SECOND / f.col("window_ns")).alias("peak_rate"),
        *evenness(),
    )
    return shaped(aggregated, COUNTS)


def order(messages: DataFrame, seed: int) -> DataFrame:
    """The table ORDER. One task takes all messages of a run: runs beyond `LIMIT` are too large."""

    def order(group: pa.Table) -> pa.Table:  # Spark reads these annotations
        return order_of(group, seed)

    return messages.select(*NEEDED).groupBy("run").applyInArrow(order, ORDER)


def flags(messages: DataFrame) -> DataFrame:
    """The table FLAGS: how often each flag occurs."""
    flagged = messages.select("run", f.explode("flags").alias("flag"))
    return shaped(flagged.groupBy("run", "flag").count(), FLAGS)


def runs(counts: DataFrame, processes: DataFrame, order: DataFrame) -> DataFrame:
    """The table RUNS, from the tables COUNTS, PROCESSES and ORDER."""
    members = processes.groupBy("run").agg(f.count("*").alias("processes"))
    joined = members.join(f.broadcast(counts), "run").join(order, "run", "left")
    too_large = f.concat(
        f.format_number("messages", 0),
        f.lit(f" messages are more than {LIMIT:,}, so their order was not analysed"),
    )
    note = f.when(f.col("messages") > LIMIT, too_large).otherwise(f.coalesce("problem", f.lit("")))
    return shaped(joined.withColumn("note", note), RUNS)
