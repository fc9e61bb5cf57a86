"""Where the stages of the pipeline run: on Spark, or on this machine without a JVM.

- `engine.py` declares what both have: a `PipelineEngine` makes tables, a `Table` is mapped, grouped and
  written.
- `local.py` runs tasks in this process or in those of `pool.py`; tables are Arrow batches and files.
- `spark.py` runs the same tasks in Spark's workers; `session.py` starts Spark when it is first needed,
  `class_archive.py` makes the JVM start faster, and `failures.py` turns errors of the JVM into ours.
- `batches.py` has steps that stages share, `balance.py` assigns work to tasks.

A stage is a plain function from Arrow batches to Arrow batches. No stage knows its engine, so both give
the same tables. Only `spark.py`, `session.py` and `failures.py` import pyspark, and nothing imports them
unless Spark is asked for.
"""

from beforehand.pipeline.engine.engine import (
    Counter,
    PipelineEngine,
    Source,
    Table,
    WorkerLostError,
)
from beforehand.pipeline.engine.local import LocalEngine

__all__ = ["Counter", "LocalEngine", "PipelineEngine", "Source", "Table", "WorkerLostError"]
