"""All metrics tables of a sweep, computed and written."""

from collections.abc import Callable
from typing import Final

from pyspark.sql import DataFrame

from beforehand.pipeline.metrics.exponents import exponents
from beforehand.pipeline.metrics.figure_004 import figure_series_004
from beforehand.pipeline.metrics.figures_001 import figure_series_001
from beforehand.pipeline.metrics.table1 import table1
from beforehand.pipeline.provenance import spark_provenance
from beforehand.pipeline.storage import Storage, absolute, join, literal
from beforehand.results.layout import SweepFolder

# By the names of their folders in DIR/metrics.
TABLES: Final[dict[str, Callable[[DataFrame], DataFrame]]] = {
    SweepFolder.TABLE1: table1,
    SweepFolder.EXPONENTS: exponents,
    SweepFolder.FIGURES_001: figure_series_001,
    SweepFolder.FIGURE_004: figure_series_004,
}


NOTE: Final = SweepFolder.METRICS_NOTE


def write_tables(results: DataFrame, out: str, command: str = "") -> dict[str, DataFrame]:
    """Compute all tables and write them below `out`/metrics, over older ones; returns them as written.

    `command` is the command line that the note records.
    """
    tables = {}
    folder = join(absolute(out), SweepFolder.METRICS)
    storage = Storage(results.sparkSession)
    storage.delete(join(folder, NOTE))
    results.persist()  # every table reads it
    try:
        for name, make in TABLES.items():
            path = join(folder, name)
            table = make(results)
            # Small, so in one file, and in the order of its columns: they are the keys.
            whole = table.coalesce(1).sortWithinPartitions(*table.columns)
            whole.write.mode("overwrite").parquet(path)
            tables[name] = results.sparkSession.read.schema(table.schema).parquet(literal(path))
    finally:
        results.unpersist()
    storage.write_note(
        folder, NOTE, {"version": 1, **spark_provenance(results.sparkSession, command)}
    )
    return tables
