"""The auditor: whether causal order held in every run of a trace folder, and if not, why not.

- `audit.py` audits everything: `audit(engine, sources)`. `trace_files.py` finds the files, `stages.py`
  turns them into chunks and these into findings.
- `log_chunks.py` packs a batch of events into a chunk; `file_parts.py` does so in tasks.
- `judge.py` judges one run in memory, `judge_large.py` one too large for that, on Spark. In tasks,
  `assemble.py` puts chunks together to the arrays of `run_log.py`, `linearise.py` orders its events so
  that sends precede deliveries, `clock_blocks.py` checks them with vector clocks, `witness.py` finds the
  chain of messages that proves a violation. `findings.py` is the outcome: rows of both tables.
- `kernels/` holds the compiled loops of these.
"""

from beforehand.pipeline.audit.audit import Audit, audit, check_output

__all__ = ["Audit", "audit", "check_output"]
