"""How an output was made, for its note, including the Java version."""

from typing import Any

from pyspark.sql import SparkSession

from beforehand.results.provenance import provenance


def spark_provenance(spark: SparkSession, command: str) -> dict[str, Any]:
    """The command that reproduces an output (empty if there is none), its environment and its time."""
    note = provenance(command)
    jvm: Any = spark.sparkContext._jvm
    note["environment"]["Java"] = str(jvm.java.lang.System.getProperty("java.version"))
    return note
