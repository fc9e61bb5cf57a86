"""Ingest: traces of other systems become messages, each with the messages that it follows.

- `ingest.py` is the whole: find files, read, resolve, write. `output.py` reads the result back.
- `stages.py` expresses it as tables, `tasks.py` is the plain Python that tasks run.
- `read/` turns the bytes of a file into rows, one module per format.
- `resolve/` turns the rows of one trace or run into messages, one module per kind of source.
- `run_names.py` names the runs, `summary.py` counts what became of every row.

The walk of a row: `read.read_file` -> `tasks.rows_of_file` -> shuffled to its group ->
`tasks.resolved` -> a resolver -> messages and a verdict -> `stages.messages`.
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
