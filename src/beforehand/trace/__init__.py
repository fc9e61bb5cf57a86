"""Traces: the events of a run, in one schema for everything that writes or reads them.

- `schema.py`: `Event` is one row, `KINDS` documents the kinds. `checks.py`: `check` validates a row.
- `recorder.py`: `Recorder(run, sink)` collects events in columns and passes them on in groups.
- `sinks.py`, `parquet.py`, `jsonlines.py`: files, which appear under their name only when complete.
- `files.py`: `create(path)` is a sink for a file; `read(path)` yields the events of a file or a folder.

Parquet needs the extra `beforehand[trace]`; everything else works without.
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
