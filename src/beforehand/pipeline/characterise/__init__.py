"""What kind of workload an ingest holds: sizes, degrees, rates, causal chains, concurrency.

- `characterise.py` computes all tables from the messages, writes them into a folder and reads them back.
- `runs.py` has all rows about one run, which one task computes: `processes.py`, `distributions.py` and
  `table1.py` each compute tables, `rates.py` has what they share about times.
- `causal_order.py` analyses the order of its messages, on the arrays of `graph.py` and the compiled
  loops of `kernels.py`.

The walk of a message: it goes to the task of its run, which counts it in all tables.
"""

from beforehand.pipeline.characterise.characterise import (
    characterise,
    read,
    read_note,
    sorted_rows,
)

__all__ = ["characterise", "read", "read_note", "sorted_rows"]
