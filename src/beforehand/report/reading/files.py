"""Notes and tables as the pipeline leaves them on disk; whatever is wrong with one is a `Gap`.

A table counts if Spark has finished it (`_SUCCESS`), if all its files are there and can be read, and if
it has the columns that are needed, of the kinds that are needed. Columns that are not known are kept.
"""

import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from beforehand.report.reading.context import Gap
from beforehand.results.layout import SUCCESS
from beforehand.results.notes import VERSION
from beforehand.results.schema import Field, Schema

# Raised for files that are truncated, of another format, or no longer there.
_BAD_FILES: Final = (OSError, EOFError, ValueError, RecursionError, zlib.error)
TRACE_VERSION: Final = b"beforehand-trace"  # in the metadata of Parquet files
_NEWER: Final = f"is of version {{}}, and this program reads version {VERSION} (upgrade it)"


def read_note(path: Path) -> dict[str, Any]:
    """A small JSON object."""
    if not path.exists():
        raise Gap(f"there is no {path}", damaged=False)
    with clear(path):
        note = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(note, dict):
        raise Gap(f"{path} holds no JSON object")
    version = note.get("version", VERSION)
    if not isinstance(version, int) or version > VERSION:
        raise Gap(f"{path} {_NEWER.format(version)}")
    return note


def read_rows(folder: Path, needed: Schema) -> list[dict[str, Any]]:
    """The rows of a table, with all of its columns; those that are needed have values."""
    rows: list[dict[str, Any]] = read_table(folder, needed).to_pylist()
    # A list may be null where there is nothing to list.
    names = [field.name for field in needed if not field.nullable and field.type != "texts"]
    for row in rows:
        for name in names:
            if row[name] is None:
                raise Gap(f"{folder} has a row without {name!r}")
    return rows


def read_table(folder: Path, needed: Schema) -> pa.Table:
    """A table that Spark has written, with all of its columns."""
    dataset = finished_dataset(folder)
    check_columns(folder, dataset.schema, needed)
    with clear(folder):
        return dataset.to_table()


def finished_dataset(folder: Path) -> ds.Dataset:
    """The files of a table that is complete, not yet read."""
    if not folder.exists():
        raise Gap(f"there is no {folder}")
    if not folder.is_dir():
        raise Gap(f"{folder} is a file, and should be a folder")
    if not (folder / SUCCESS).exists():
        raise Gap(f"{folder} was not finished: there is no {SUCCESS} in it")
    # Spark's checksums outlive files that were deleted.
    written = [checksum.with_name(checksum.name[1:-4]) for checksum in folder.glob(".*.crc")]
    if gone := sorted(file.name for file in written if not file.exists()):
        raise Gap(f"{folder} had files that are gone ({', '.join(gone[:3])})")
    files = sorted(folder.glob("*.parquet"))
    if not files:
        raise Gap(f"{folder} holds no Parquet files")
    return parquet(files)


def parquet(files: list[Path]) -> ds.Dataset:
    """Files of one table, with the same columns in each."""
    names = None
    for file in files:  # the dataset itself would check the first one only
        with clear(file):
            schema = pq.read_schema(str(file))
        names = names or schema.names
        if schema.names != names:
            raise Gap(f"{file} has other columns than {files[0].name} next to it")
        version = (schema.metadata or {}).get(TRACE_VERSION, b"1")
        if version != str(VERSION).encode():
            raise Gap(f"{file} {_NEWER.format(version.decode('ascii', 'replace'))}")
    with clear(files[0].parent):
        return ds.dataset(list(map(str, files)), format="parquet")


def check_columns(where: Path, schema: pa.Schema, needed: Schema) -> None:
    """Refuse a table that lacks a needed column, or has one of another type."""
    for field in needed:
        if field.name not in schema.names:
            raise Gap(f"{where} has no column {field.name!r}")
        actual = schema.field(field.name).type
        if not _fits(actual, field):
            raise Gap(f"{where}: its column {field.name!r} holds {actual}, not {field.type}")


def _fits(actual: pa.DataType, needed: Field) -> bool:
    types = pa.types
    if needed.type == "texts":
        return bool(types.is_list(actual) and types.is_string(actual.value_type))
    accepted = {
        "text": (types.is_string, types.is_large_string),
        "boolean": (types.is_boolean,),
        "integer": (types.is_integer,),
        "real": (types.is_integer, types.is_floating),
    }
    tests = (types.is_list,) if isinstance(needed.type, Schema) else accepted[needed.type]
    return any(test(actual) for test in tests)


@contextmanager
def clear(path: Path) -> Iterator[None]:
    """Report an unreadable file as a gap, in one line."""
    try:
        yield
    except (*_BAD_FILES, pa.ArrowException) as problem:
        lines = str(problem).splitlines() or [type(problem).__name__]
        raise Gap(f"{path} cannot be read ({lines[0][:200].rstrip('.')})") from None
