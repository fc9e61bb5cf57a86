"""Each process: its degrees, how much it sends and receives, and how evenly."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from beforehand.pipeline.characterise.rates import SECOND, by, evenness, gap
from beforehand.pipeline.characterise.schemas import PROCESSES
from beforehand.pipeline.schemas import shaped

_COUNTS = ("in_degree", "out_degree", "sent", "received")
_FIGURES = ("gap_cv", "burstiness")


def processes(messages: DataFrame, counts: DataFrame) -> DataFrame:
    """The table PROCESSES, from the messages and the table COUNTS.

    A message to itself counts as sent and received, but in no degree.
    """
    # Unioned and summed, not joined: some processes only send and some only receive.
    parts = _links(messages).unionByName(_senders(messages), allowMissingColumns=True)
    totals = parts.groupBy("run", "process").agg(
        *(f.coalesce(f.sum(name), f.lit(0)).alias(name) for name in _COUNTS),
        *(f.max(name).alias(name) for name in _FIGURES),
    )
    spans = f.broadcast(counts.select("run", f.nullif("span_ns", f.lit(0)).alias("span_ns")))
    rate = f.col("sent") * SECOND / f.col("span_ns")
    return shaped(totals.join(spans, "run").withColumn("rate", rate), PROCESSES)


def _links(messages: DataFrame) -> DataFrame:
    """Two rows for each pair of sender and receiver: one for either end."""
    copies = messages.select("run", "sender", f.explode("to").alias("receiver"))
    links = copies.groupBy("run", "sender", "receiver").agg(f.count("*").alias("copies"))
    peer = (f.col("sender") != f.col("receiver")).cast("long")
    none = f.lit(0)
    ends = f.array(
        _end(process="sender", in_degree=none, out_degree=peer, received=none),
        _end(process="receiver", in_degree=peer, out_degree=none, received=f.col("copies")),
    )
    return links.select("run", f.inline(ends))


def _end(process: str, **values: Column) -> Column:
    numbers = (value.cast("long").alias(name) for name, value in values.items())
    return f.struct(f.col(process).alias("process"), *numbers)


def _senders(messages: DataFrame) -> DataFrame:
    keys = by("run", "sender")
    timed = messages.select("run", f.col("sender").alias("process"), gap(keys).alias("gap"))
    return timed.groupBy("run", "process").agg(f.count("*").alias("sent"), *evenness())
