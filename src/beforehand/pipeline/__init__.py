"""The data pipeline on Spark: ingest traces, characterise, sweep, audit, study.

Only this package imports pyspark. Stages are functions from DataFrames to DataFrames with the schemas
of `schemas.py`; tasks run plain Python that knows nothing of Spark.
"""
