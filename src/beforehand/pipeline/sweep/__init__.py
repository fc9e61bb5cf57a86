"""Sweeps: a grid of scenarios, run by the simulator in Spark tasks, never twice and never by halves.

    grid = Grid(protocol=("hybrid", "rst"), processes=(10, 100), fields={"messages": (50,)})
    swept = run_sweep(spark, grid, "results")
    swept.results.show()

`docs/sweep.md` is for those who use it from the command line.
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
