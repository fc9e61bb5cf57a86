"""From a folder of results to the views of a report.

- `read.py` reads everything: `discover.py` finds the outputs, each goes to the reader of its kind.
- These are `comparisons.py`, `clusters.py`, `studies.py`, `sweeps.py`, `results.py` and
  `audits.py` (with `chains.py`).
- `files.py` reads notes and tables, `traces.py` events, `values.py` turns them into plain values.
- `context.py`: names that are taken, and gaps. A `Gap` is something that cannot be read; it becomes a
  sentence of the report that says what is missing, and everything else is shown.
"""
