"""Sweeps: a grid of scenarios, simulated in tasks; resumable, with every run done once.

    grid = Grid(protocol=("hybrid", "rst"), processes=(10, 100), fields={"messages": (50,)})
    swept = run_sweep(engine, grid, "results")
    print(swept.results)

- `sweep.py` is the whole. `grid.py` is the grid and its plan, `grid_file.py` its TOML form,
  `networks.py` the named networks, `programs.py` the replays.
- `costs.py` sizes the waves, `job.py` runs one as tasks of `tasks.py`.
- `waves.py` is the folder, `schemas.py` its tables, `columns.py` a result as a row.
"""

from beforehand.pipeline.sweep.grid import Grid, Point, Skipped, SweepPlan
from beforehand.pipeline.sweep.networks import NETWORKS
from beforehand.pipeline.sweep.schemas import RESULTS
from beforehand.pipeline.sweep.sweep import SweepProgress, SweepResult, prepare, run_sweep, stored

__all__ = [
    "NETWORKS",
    "RESULTS",
    "Grid",
    "Point",
    "Skipped",
    "SweepPlan",
    "SweepProgress",
    "SweepResult",
    "prepare",
    "run_sweep",
    "stored",
]
