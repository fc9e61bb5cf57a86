"""Sweeps: a grid of scenarios, run by the simulator in Spark tasks, never twice and never by halves.

    grid = Grid(protocol=("hybrid", "rst"), processes=(10, 100), fields={"messages": (50,)})
    swept = run_sweep(spark, grid, "results")
    swept.results.show()

`docs/sweep.md` is for those who use it from the command line.
"""

from beforehand.pipeline.sweep.grid import Grid, Plan, Point, Skipped
from beforehand.pipeline.sweep.networks import NETWORKS
from beforehand.pipeline.sweep.schema import RESULTS
from beforehand.pipeline.sweep.sweep import Progress, SweepResult, prepare, run_sweep, stored

__all__ = [
    "NETWORKS",
    "RESULTS",
    "Grid",
    "Plan",
    "Point",
    "Progress",
    "Skipped",
    "SweepResult",
    "prepare",
    "run_sweep",
    "stored",
]
