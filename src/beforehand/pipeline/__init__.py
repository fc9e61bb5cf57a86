"""The data pipeline, on Spark or on this machine alone, and the only package that imports pyspark.

In the order of a study: `ingest/` turns traces into messages, `characterise/` describes them, `sweep/`
simulates grids of scenarios (or replays messages: `replay.py`), `audit/` checks the resulting traces,
`metrics/` compares results with the papers, and `study/` runs all of it and recommends a protocol.
`check/` spreads the model checker over a cluster.

All of it runs on an engine (`engine/`: Spark, or processes of this machine) and on the files that this
reaches (`storage/`). They share `schemas.py` (tables as types of Arrow), `polling.py` (progress),
`provenance.py` and `prose.py`. A stage is a function from tables to tables; tasks run plain Python on
batches of Arrow, and know nothing of the engine.
"""
