"""Metrics tables: what the papers claim next to what the results of sweeps show. Spark SQL throughout.

- `metrics.py` computes all tables and writes them below the sweep's folder.
- `table1.py` measures the columns of Almeida's Table 1, whose claims are data in `claims.py`.
- `exponents.py` fits how costs grow.
- `figures_001.py` and `figure_004.py` are the series of two papers' figures, named after their tables.
- `columns.py` turns fields of scenarios into columns.

Each function takes a DataFrame of results (`pipeline.sweep.RESULTS`) and returns one with a declared
schema. Failed runs are ignored everywhere.
"""

from beforehand.pipeline.metrics.exponents import exponents
from beforehand.pipeline.metrics.figure_004 import figure_series_004
from beforehand.pipeline.metrics.figures_001 import figure_series_001
from beforehand.pipeline.metrics.metrics import TABLES, write_tables
from beforehand.pipeline.metrics.table1 import table1

__all__ = [
    "TABLES",
    "exponents",
    "figure_series_001",
    "figure_series_004",
    "table1",
    "write_tables",
]
