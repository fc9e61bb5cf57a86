"""What kind of workload an ingest holds: sizes, degrees, rates, causal chains, concurrency.

- `characterise.py` computes all tables from the messages, writes them into a folder and reads them back.
- `runs.py`, `processes.py`, `distributions.py` and `table1.py` each compute tables; `rates.py` has what
  they share about times.
- `causal_order.py` analyses the order of one run's messages in one task, on the arrays of `graph.py`
  and the compiled loops of `kernels.py`.
- `schemas.py` declares the intermediate tables.

The walk of a message: `counts` and `processes` aggregate it, `order` ships it to the task of its run,
`runs` joins the three, `distributions` and `summaries` describe the values.
"""

from beforehand.pipeline.characterise.characterise import characterise, collected, read, read_note

__all__ = ["characterise", "collected", "read", "read_note"]
