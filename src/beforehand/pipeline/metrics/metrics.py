"""All metrics tables of a sweep, computed and written."""

from collections.abc import Callable, Iterable
from typing import Any, Final

import pyarrow as pa

from beforehand.pipeline.engine import PipelineEngine
from beforehand.pipeline.metrics.exponents import exponents
from beforehand.pipeline.metrics.figure_004 import figure_series_004
from beforehand.pipeline.metrics.figures_001 import figure_series_001
from beforehand.pipeline.metrics.rows import Row
from beforehand.pipeline.metrics.table1 import table1
from beforehand.pipeline.provenance import engine_provenance
from beforehand.pipeline.storage import absolute, join, replacing
from beforehand.results.layout import SweepFolder
from beforehand.results.schema import Schema
from beforehand.results.tables import metrics

Rows = list[dict[str, Any]]

# By the names of their folders in DIR/metrics.
TABLES: Final[dict[str, tuple[Schema, Callable[[Iterable[Row]], Rows]]]] = {
    SweepFolder.TABLE1: (metrics.TABLE1, table1),
    SweepFolder.EXPONENTS: (metrics.EXPONENTS, exponents),
    SweepFolder.FIGURES_001: (metrics.FIGURES_001, figure_series_001),
    SweepFolder.FIGURE_004: (metrics.FIGURE_004, figure_series_004),
}


def write_tables(
    engine: PipelineEngine, results: pa.Table, out: str, command: str = ""
) -> dict[str, pa.Table]:
    """Compute all tables and write them to `out`/metrics, in place of older ones; returns them.

    `command` is the command line that the note records.
    """
    rows = results.to_pylist()
    tables = {
        name: _sorted(pa.Table.from_pylist(make(rows), schema=schema.arrow()))
        for name, (schema, make) in TABLES.items()
    }
    with replacing(engine.storage, join(absolute(out), SweepFolder.METRICS)) as folder:
        for name, table in tables.items():
            engine.table(table).write(join(folder, name))
        note = {"version": 1, **engine_provenance(engine, command)}
        engine.storage.write_note(folder, SweepFolder.METRICS_NOTE, note)
    return tables


def _sorted(table: pa.Table) -> pa.Table:
    """In the order of its columns: they are the keys."""
    return table.sort_by([(name, "ascending") for name in table.column_names])
