"""Metrics tables: what the papers claim next to what the results of sweeps show.

- `metrics.py` computes all tables and writes them below the sweep's folder.
- `table1.py` measures the columns of Almeida's Table 1, whose claims are data in `claims.py`.
- `exponents.py` fits how costs grow.
- `figures_001.py` and `figure_004.py` are the series of two papers' figures, named after their tables.
- `rows.py` has what they share: runs that count, groups and means.

Each function takes the rows of results (`results.tables.sweep.RESULTS`) and returns rows of its table.
Failed runs are ignored everywhere.
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
