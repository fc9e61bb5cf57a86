"""Ingest: traces that others wrote become messages, with what each of them follows.

- `read/` turns the bytes of a file into rows, one module per format.
- `order/` settles the rows that belong together: copies, contradictions, and then messages.
- `tasks.py` is what Spark's tasks run of the two; `stages.py` puts them into DataFrames.
- `job.py` is the whole, and `tables.py` is for those who read its output.
"""

from beforehand.pipeline.ingest.ingest import ingest
from beforehand.pipeline.ingest.output import read_events, read_messages, read_summary
from beforehand.pipeline.ingest.read.options import Options, columns_of
from beforehand.pipeline.ingest.summary import FileCount, RunCount, Summary

__all__ = [
    "FileCount",
    "Options",
    "RunCount",
    "Summary",
    "columns_of",
    "ingest",
    "read_events",
    "read_messages",
    "read_summary",
]
