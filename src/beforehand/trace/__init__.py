"""Traces: what happened in a run, in one schema for everything that writes or reads one.

- `Event` is one row, `KINDS` says what kinds there are, `check` whether a row makes sense.
- `Recorder(run, sink)` collects events and hands them over in groups; `create(path)` is a sink for
  a file, `ParquetSink` or `JsonLinesSink`.
- `read(path)` gives the events of a file or of a folder of files.

Parquet needs the extra `beforehand[trace]`, and nothing else does.
"""

from beforehand.trace.checks import check
from beforehand.trace.files import JsonLinesSink, ParquetSink, create, read
from beforehand.trace.recorder import ROWS_PER_GROUP, Columns, Recorder, Sink
from beforehand.trace.schema import KINDS, VERSION, Event

__all__ = [
    "KINDS",
    "ROWS_PER_GROUP",
    "VERSION",
    "Columns",
    "Event",
    "JsonLinesSink",
    "ParquetSink",
    "Recorder",
    "Sink",
    "check",
    "create",
    "read",
]
