"""Our own traces, as Parquet or as lines of JSON: see docs/trace-format.md."""

import io
import json
from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from beforehand.errors import TraceError
from beforehand.pipeline.ingest.read.json_documents import canonical
from beforehand.pipeline.ingest.read.lines import lines_of
from beforehand.pipeline.ingest.read.rows import BadRow, FileError, Row
from beforehand.trace.checks import problem
from beforehand.trace.jsonlines import event_of
from beforehand.trace.parquet import ROWS_PER_BATCH, TEXT, problem_of_file, values
from beforehand.trace.schema import VERSION_KEY, Event

PARQUET: Final = b"PAR1"  # its first and last bytes


def read_trace(data: bytes) -> Iterator[Row | BadRow]:
    """The events of a file."""
    return _parquet(data) if data.startswith(PARQUET) else _lines(data)


def _lines(data: bytes) -> Iterator[Row | BadRow]:
    counts: dict[tuple[object, object], int] = {}  # events so far, by run and process
    for number, line in lines_of(data):
        if isinstance(line, BadRow):
            yield line
            continue
        try:
            event = event_of(line.encode("utf-8", "surrogatepass"), number, counts)
        except TraceError as error:
            if _is_header(line):
                raise FileError(f"line {number}: {error}") from None
            yield BadRow(number, line, str(error))
            continue
        if event is not None:
            yield _row(number, line, event)


def _is_header(line: str) -> bool:
    """Whether this is a header: if that is wrong, nothing below it can be trusted."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and VERSION_KEY in value


def _parquet(data: bytes) -> Iterator[Row | BadRow]:
    broken = (pa.ArrowException, OSError, UnicodeDecodeError)
    try:
        wrong = problem_of_file(pq.ParquetFile(io.BytesIO(data)), pa)
    except broken as error:
        raise FileError(f"not a complete Parquet file ({_short(error)}); copy it again") from None
    if wrong is not None:
        raise FileError(wrong)
    file = pq.ParquetFile(io.BytesIO(data), read_dictionary=sorted(TEXT))
    position = 0
    batches = file.iter_batches(batch_size=ROWS_PER_BATCH, columns=list(Event._fields))
    while True:
        try:
            batch = next(batches, None)
            table = None if batch is None else [values(batch.column(n), pa) for n in Event._fields]
        except broken as error:
            # The file's metadata has the number of rows, so it is known how many are lost.
            lost = file.metadata.num_rows - position
            reason = (
                f"damaged ({_short(error)}), with the {lost:,} rows from here on; copy it again"
            )
            yield BadRow(position + 1, "", reason)
            return
        if table is None:
            return
        for fields in zip(*table, strict=True):
            position += 1
            event = Event._make(fields)
            raw = canonical(fields)
            wrong = problem(event)
            yield BadRow(position, raw, wrong) if wrong else _row(position, raw, event)


def _row(position: int, raw: str, event: Event) -> Row:
    fields: tuple[Any, ...] = tuple(event)[1:]
    return Row(position, raw, fields, part=event.process, order=event.seq, label=event.run)


def _short(error: BaseException) -> str:
    return (str(error) or type(error).__name__).splitlines()[0].rstrip(".")
