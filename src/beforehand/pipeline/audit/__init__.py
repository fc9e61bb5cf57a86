"""The auditor: whether causal order held in every run of a trace folder, and if not, why not.

- `audit(spark, sources)` judges everything; see `auditing.py`.
- Without Spark: `pieces.py` makes pieces of events, `judge.py` judges the pieces of one run.
"""

from beforehand.pipeline.audit.audit import Audit, audit

__all__ = ["Audit", "audit"]
