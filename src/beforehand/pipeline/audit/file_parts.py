"""Events of trace files as chunks, in tasks: parts of Parquet files, and files of JSON lines.

Where tasks can open the files, they do: text stays dictionary-encoded as in the files, and no other
engine makes a row of every event first.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from beforehand.pipeline.audit.log_chunks import CODES, UNKNOWN, LogChunk, cut
from beforehand.pipeline.engine import Source
from beforehand.pipeline.engine.batches import record_batches
from beforehand.pipeline.engine.engine import Batches
from beforehand.pipeline.schemas import EVENTS
from beforehand.pipeline.storage import File, local_path
from beforehand.trace import files as trace_files

NEEDED: Final = pa.schema(
    [EVENTS.field(n) for n in ("run", "process", "seq", "kind", "sender", "mid", "to", "detail")]
)

_PART: Final = 2**23  # bytes of a file for one task, if it has several row groups
_ROWS: Final = 1 << 16
_JSON_ROWS: Final = 10_000
_TEXT: Final = ["run", "process", "kind", "sender", "detail"]

RunFilter = Callable[[str], bool]


class FilePart(NamedTuple):
    """Some row groups of a file: one of several parts of about the same size."""

    path: str
    part: int
    parts: int


def parts(files: Sequence[File], bytes_per_second: float) -> Iterator[tuple[float, FilePart]]:
    """The parts of near Parquet files, each with the seconds that it takes."""
    for file in files:
        count = 1 + file.size // _PART
        seconds = file.size / count / bytes_per_second
        path = local_path(file.path)
        yield from ((seconds, FilePart(path, part, count)) for part in range(count))


def events_of_part(part: FilePart) -> Batches:
    """The columns NEEDED of some row groups."""
    with pq.ParquetFile(part.path, read_dictionary=_TEXT, pre_buffer=False) as file:
        groups = file.num_row_groups
        first, last = (groups * n // part.parts for n in (part.part, part.part + 1))
        yield from file.iter_batches(
            _ROWS, range(first, last), columns=NEEDED.names, use_threads=False
        )


def events_of_lines(source: Source) -> Batches:
    """The events of a file of JSON lines."""
    rows = (event._asdict() for event in trace_files.read(source.local))
    return record_batches(rows, NEEDED, _JSON_ROWS)


def chunks_of(batches: Batches, selected: RunFilter) -> Iterator[tuple[str, LogChunk]]:
    """The chunks of the selected runs."""
    for events in batches:
        yield from ((run, chunk) for run, chunk in cut(_coded(events)) if selected(run))


def judged_events(batches: Batches) -> Iterator[tuple[str, int]]:
    """The causal-sends and deliveries of each run, counted per batch."""
    for events in batches:
        kind, run = (_dictionary(events.column(name)) for name in ("kind", "run"))
        judged = np.isin(kind.dictionary.to_pylist(), ("send", "deliver"))
        mine = run.indices.to_numpy()[judged[kind.indices.to_numpy()]]
        counts = np.bincount(mine, minlength=len(run.dictionary)).tolist()
        yield from zip(run.dictionary.to_pylist(), counts, strict=True)


def _coded(events: Any) -> Any:
    """The same events with numeric kinds."""
    kind = _dictionary(events.column("kind"))
    codes = [CODES.get(name, UNKNOWN) for name in kind.dictionary.to_pylist()]
    coded = np.array([*codes, UNKNOWN], np.int8)[
        kind.indices.fill_null(len(codes)).to_numpy(zero_copy_only=False)
    ]
    index = events.schema.get_field_index("kind")
    return events.set_column(index, "kind", pa.array(coded))


def _dictionary(column: Any) -> Any:
    return column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
