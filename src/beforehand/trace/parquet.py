"""Traces as Parquet: for large runs and for the pipeline.

pyarrow is an optional dependency and slow to import, so it is loaded on first use.
"""

import os
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from beforehand import requirements
from beforehand.errors import ResourceError, TraceError
from beforehand.trace.checks import Table, first_problem, problem_of_version
from beforehand.trace.schema import VERSION, VERSION_KEY, Event
from beforehand.trace.sinks import FileSink

ENDING: Final = ".parquet"

# Rows of a row group, the unit in which Parquet compresses and is read: 20 MB while buffered.
ROWS_PER_ROW_GROUP: Final = 65_536

# Rows in memory at once while reading, whatever the size of the row groups in the file.
ROWS_PER_BATCH: Final = 16_384

# Bytes to buffer, so that a large row group is not read as a whole.
_BUFFER: Final = 1024 * 1024

TEXT: Final = frozenset({"run", "process", "kind", "sender", "detail"})
_LISTS: Final = frozenset({"to"})
_NULLABLE: Final = frozenset({"sender", "mid", "to"})


class ParquetSink(FileSink):
    """Writes `.parquet`; the same rows give the same bytes, however they are grouped."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.arrow, parquet = _pyarrow(path)
        super().__init__(path, (ENDING,))
        self.schema = _schema(self.arrow)
        self.batches: list[Any] = []  # not yet written
        self.waiting = 0  # rows in `batches`
        self.writer: Any = parquet.ParquetWriter(
            self.file,
            self.schema,
            compression="zstd",
            use_dictionary=[*sorted(TEXT), "to.list.element"],
        )

    def append(self, table: Table) -> None:
        """Convert events to Arrow, and write each row group once it is full."""
        arrays = [
            self.arrow.array(column, field.type)
            for column, field in zip(table, self.schema, strict=True)
        ]
        self.batches.append(self.arrow.record_batch(arrays, schema=self.schema))
        self.waiting += len(table[0])
        while self.waiting >= ROWS_PER_ROW_GROUP:
            self._write_row_group()

    def finish(self) -> None:
        """Write the last row group and the footer."""
        if self.waiting:
            self._write_row_group()
        self.writer.close()

    def discard(self) -> None:
        """Close the writer, which would otherwise do so when it is collected."""
        self.writer.close()

    def _write_row_group(self) -> None:
        # As one chunk, because batch boundaries would influence the bytes.
        table = self.arrow.Table.from_batches(self.batches, self.schema).combine_chunks()
        self.writer.write_table(table.slice(0, ROWS_PER_ROW_GROUP), ROWS_PER_ROW_GROUP)
        rest = table.slice(ROWS_PER_ROW_GROUP)
        self.batches = rest.to_batches()
        self.waiting = rest.num_rows


def problem_of_parquet(path: Path) -> str | None:
    """What is wrong with the footer of a file: truncated, of a newer version, or not a trace."""
    arrow, parquet = _pyarrow(path)
    try:
        with parquet.ParquetFile(path) as file:
            invalid = problem_of_file(file, arrow)
    except _read_errors(arrow) as error:
        if isinstance(error, OSError) and error.errno:
            raise  # the file could not be opened; its content may be fine
        return (
            f"not a complete Parquet file ({_first_line(error)}); "
            "if it was cut off, copy or write it again"
        )
    return invalid


def read_parquet(path: Path) -> Iterator[Event]:
    """The events of a file, in batches."""
    arrow, parquet = _pyarrow(path)
    invalid = problem_of_parquet(path)
    if invalid is not None:
        raise TraceError(f"{path}: {invalid}")
    with parquet.ParquetFile(
        path, read_dictionary=sorted(TEXT), pre_buffer=False, buffer_size=_BUFFER
    ) as file:
        rows = 0
        batches = file.iter_batches(batch_size=ROWS_PER_BATCH, columns=list(Event._fields))
        while True:
            try:
                batch = next(batches, None)
                if batch is None:
                    return
                table = [values(batch.column(name), arrow) for name in Event._fields]
            except _read_errors(arrow) as error:
                raise TraceError(
                    f"{path}: damaged somewhere after row {rows} ({_first_line(error)}); "
                    "copy or write it again"
                ) from error
            if invalid_row := first_problem(table):
                row, reason = invalid_row
                raise TraceError(f"{path}: row {rows + row + 1}: {reason}")
            yield from map(Event._make, zip(*table, strict=True))
            rows += batch.num_rows


def _pyarrow(path: str | os.PathLike[str]) -> tuple[Any, Any]:
    """pyarrow and its Parquet module, as Any because they have no type hints."""
    try:
        arrow: ModuleType = import_module("pyarrow")
        return arrow, import_module("pyarrow.parquet")
    except ImportError as error:
        raise ResourceError(
            f"{os.fspath(path)}: Parquet needs pyarrow, which is not installed; "
            f"run {requirements.install('trace')}, or use a .jsonl file"
        ) from error


def _read_errors(arrow: Any) -> tuple[type[Exception], ...]:
    """The exceptions that reading a damaged file may raise."""
    return (arrow.ArrowException, OSError, UnicodeDecodeError)


def _schema(arrow: Any) -> Any:
    def type_of(name: str) -> Any:
        if name in _LISTS:
            return arrow.list_(arrow.field("element", arrow.string(), nullable=False))
        return arrow.string() if name in TEXT else arrow.int64()

    return arrow.schema(
        [arrow.field(name, type_of(name), name in _NULLABLE) for name in Event._fields],
        metadata={VERSION_KEY: str(VERSION)},
    )


def problem_of_file(file: Any, arrow: Any) -> str | None:
    """What is wrong with the version or the columns; unknown columns are ignored."""
    metadata = file.metadata.metadata or {}
    text = metadata.get(VERSION_KEY.encode(), b"1").decode("ascii", "replace")
    if invalid := problem_of_version(int(text) if text.isdecimal() and len(text) < 10 else text):
        return invalid
    schema = file.schema_arrow
    missing = [name for name in Event._fields if name not in schema.names]
    if len(missing) == len(Event._fields):
        return f"not a trace: its columns are {', '.join(schema.names)}; see docs/trace-format.md"
    if missing:
        return f"there is no column {', '.join(missing)}; write all of {', '.join(Event._fields)}"
    for name in Event._fields:
        if schema.names.count(name) > 1:
            return f"there are several columns {name}; keep one of them"
        actual = schema.field(name).type
        if not _fits(name, actual, arrow.types):
            expected = _schema(arrow).field(name).type
            return f"the column {name} is of type {actual}; write it as {expected}"
    return None


def _fits(name: str, actual: Any, types: Any) -> bool:
    """Whether a column is text, integers or lists of text as expected, of whatever width."""
    if name in _LISTS:
        if not (types.is_list(actual) or types.is_large_list(actual)):
            return False
        actual = actual.value_type
    elif name not in TEXT:
        return bool(types.is_integer(actual))
    if types.is_dictionary(actual):
        actual = actual.value_type
    return bool(types.is_string(actual) or types.is_large_string(actual))


def values(column: Any, arrow: Any) -> Sequence[object]:
    """The values of a column. Names repeat, so each str is created once per batch and shared."""
    if isinstance(column, arrow.DictionaryArray):
        names = column.dictionary.to_pylist()
        return [None if at is None else names[at] for at in column.indices.to_pylist()]
    values: list[Any] = column.to_pylist()
    if arrow.types.is_integer(column.type):
        return values
    return [None if value is None else tuple(value) for value in values]


def _first_line(error: BaseException) -> str:
    return (str(error) or type(error).__name__).splitlines()[0].rstrip(".")
