"""The data pipeline on Spark, and the only package that imports pyspark.

In the order of a study: `ingest/` turns traces into messages, `characterise/` describes them, `sweep/`
simulates grids of scenarios (or replays messages: `replay.py`), `audit/` checks the resulting traces,
`metrics/` compares results with the papers, and `study/` runs all of it and recommends a protocol.
`check/` spreads the model checker over a cluster.

They share `session.py` (the Spark session), `storage.py` (files wherever Spark reaches), `schemas.py`
(the tables of `beforehand.results` as types of Spark and Arrow), `arrow.py` (rows as batches),
`polling.py` (progress), `provenance.py` and `prose.py`. Stages are functions from DataFrames to
DataFrames; tasks run plain Python that doesn't import Spark.
"""
