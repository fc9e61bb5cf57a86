"""Model checking on Spark: a program split into parts, each explored by one task.

`check.py` decides what runs where and combines the verdicts; `tasks.py` runs the parts as one Spark job.
"""

from beforehand.pipeline.check.check import check_on_spark

__all__ = ["check_on_spark"]
