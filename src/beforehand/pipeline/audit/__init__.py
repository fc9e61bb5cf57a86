"""The auditor: whether causal order held in every run of a trace folder, and if not, why not.

- `audit.py` audits everything: `audit(spark, sources)`. `trace_files.py` finds the files.
- `log_chunks.py` packs a batch of events into a chunk; `local_files.py` and `stages.py` do so in Spark's
  tasks, from files that tasks can open themselves and from any DataFrame.
- `judge.py` judges one run in memory, `judge_large.py` a run too large for that. Without Spark:
  `assemble.py` puts chunks together to the arrays of `run_log.py`, `linearise.py` orders its events so
  that sends precede deliveries, `clock_blocks.py` checks them with vector clocks, `witness.py` finds the
  chain of messages that proves a violation. `findings.py` is the outcome: rows of both tables.
- `kernels/` holds the compiled loops of these.
"""

from beforehand.pipeline.audit.audit import Audit, audit

__all__ = ["Audit", "audit"]
