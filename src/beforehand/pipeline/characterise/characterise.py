"""All tables that characterise the workloads of an ingest: computed, written, read back."""

from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.storagelevel import StorageLevel

from beforehand.errors import PipelineError
from beforehand.pipeline.characterise.causal_order import LIMIT
from beforehand.pipeline.characterise.distributions import distributions, summaries
from beforehand.pipeline.characterise.processes import processes
from beforehand.pipeline.characterise.runs import counts, flags, order, runs
from beforehand.pipeline.characterise.schemas import COUNTS, TABLES
from beforehand.pipeline.characterise.table1 import table1
from beforehand.pipeline.storage import Storage, join, literal
from beforehand.results.layout import CharacteristicsFolder

NOTE: Final = CharacteristicsFolder.NOTE


def characterise(
    spark: SparkSession, messages: DataFrame, folder: str, *, seed: int = 1
) -> dict[str, DataFrame]:
    """Write the tables into a folder, over existing ones, and read them back.

    The seed decides which messages are compared where there are too many to compare all.
    """
    storage = Storage(spark)
    storage.delete(join(folder, NOTE))
    # One row per run is small: collect it, so that Spark doesn't compute it again.
    counted = counts(messages).toArrow()
    count = spark.createDataFrame(counted, COUNTS)
    too_large = [row["run"] for row in counted.to_pylist() if row["messages"] > LIMIT]
    ordered = order(messages.filter(~f.col("run").isin(too_large)), seed)
    ordered.persist(StorageLevel.MEMORY_AND_DISK)

    def write(name: str, table: DataFrame) -> DataFrame:
        table.write.mode("overwrite").parquet(join(folder, name))
        return _read(spark, folder, name)

    try:
        members = write("processes", processes(messages, count))
        sizes = write("runs", runs(count, members, ordered))
        values = write("distributions", distributions(messages, members, ordered))
        write("summaries", summaries(values))
        write("flags", flags(messages))
        write("table1", table1(members, sizes))
    finally:
        ordered.unpersist()
    storage.write_note(folder, NOTE, {"version": 1, "seed": seed, "tables": list(TABLES)})
    return read(spark, folder)


def read(spark: SparkSession, folder: str) -> dict[str, DataFrame]:
    """The tables that `characterise` has written, by name."""
    if read_note(spark, folder) is None:
        raise PipelineError(f"{folder}: no complete characteristics here; characterise it again")
    return {name: _read(spark, folder, name) for name in TABLES}


def collected(tables: dict[str, DataFrame]) -> dict[str, list[dict[str, Any]]]:
    """The tables as plain rows, in a defined order."""
    return {
        name: [row.asDict() for row in table.orderBy(*table.columns[:3]).collect()]
        for name, table in tables.items()
    }


def read_note(spark: SparkSession, folder: str) -> dict[str, Any] | None:
    """The note of a complete output, else None."""
    return Storage(spark).read_note(folder, NOTE)


def _read(spark: SparkSession, folder: str, name: str) -> DataFrame:
    # Given the schema, Spark doesn't have to read it from the files.
    return spark.read.schema(TABLES[name]).parquet(literal(join(folder, name)))
