"""Resolving: the rows of one trace or run together become messages. Plain Python for Spark's tasks.

`resolvers.py` names the resolver of each format: `traces.py`, `spans.py` (with `span_tree.py` and
`calls.py`), `vector_clocks.py`, `lists.py`, `graphs.py`. Each drops duplicates, rejects rows that
contradict others (`cycles.py`), and yields the outcomes of `outcomes.py`: messages, events, and exactly
one verdict for each row.
"""
