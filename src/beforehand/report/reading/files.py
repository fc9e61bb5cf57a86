"""Notes and tables as the pipeline leaves them on disk; whatever is wrong with one is a `Gap`.

A table counts if Spark has finished it (`_SUCCESS`), if all its files are there and can be read, and if
it has the columns that are needed, of the kinds that are needed. Columns that are not known are kept.
"""

from __future__ import annotations

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

# What comes of files that are cut off, not what they say they are, or no longer there.
_BAD_FILES: Final = (OSError, EOFError, ValueError, RecursionError, zlib.error)
TRACE_VERSION: Final = b"beforehand-trace"  # in the metadata of Parquet files


def read_note(path: Path) -> dict[str, Any]:
    """A small JSON object."""
    if not path.exists():
        raise Gap(f"there is no {path}", damaged=False)
    with clear(path):
        found = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(found, dict):
        raise Gap(f"{path} holds no JSON object")
    version = found.get("version", VERSION)
    if not isinstance(version, int) or version > VERSION:
        raise Gap(
            f"{path} is of version {version!r}, and this program knows version {VERSION} (upgrade it)"
        )
    return found


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
    gone = [each for each in folder.glob(".*.crc") if not each.with_name(each.name[1:-4]).exists()]
    if gone:  # Spark's checksums outlive files that were deleted
        names = ", ".join(sorted(each.name[1:-4] for each in gone)[:3])
        raise Gap(f"{folder} had files that are gone ({names})")
    files = sorted(folder.glob("*.parquet"))
    if not files:
        raise Gap(f"{folder} holds no Parquet files")
    return parquet(files)


def parquet(files: list[Path]) -> ds.Dataset:
    """Files of one table, whose ends are looked at."""
    schemas = []
    for file in files:  # the dataset itself would look at the first one only
        with clear(file):
            schema = pq.read_schema(str(file))
        schemas.append(schema)
        if schema.names != schemas[0].names:
            raise Gap(f"{file} has other columns than {files[0].name} beside it")
        version = (schema.metadata or {}).get(TRACE_VERSION, b"1")
        if version != str(VERSION).encode():
            raise Gap(
                f"{file} is a trace of version {version.decode('ascii', 'replace')}, and this program "
                f"knows version {VERSION} (upgrade it)"
            )
    with clear(files[0].parent):
        return ds.dataset([str(each) for each in files], format="parquet")


def check_columns(where: Path, schema: pa.Schema, needed: Schema) -> None:
    """Refuse a table that has not what is needed."""
    for field in needed:
        if field.name not in schema.names:
            raise Gap(f"{where} has no column {field.name!r}")
        found = schema.field(field.name).type
        if not _fits(found, field):
            raise Gap(f"{where}: its column {field.name!r} holds {found}, not {field.type}")


def _fits(found: pa.DataType, needed: Field) -> bool:
    types = pa.types
    match needed.type:
        case "text":
            return bool(types.is_string(found) or types.is_large_string(found))
        case "texts":
            return bool(types.is_list(found) and types.is_string(found.value_type))
        case "boolean":
            return bool(types.is_boolean(found))
        case "integer":
            return bool(types.is_integer(found))
        case "real":
            return bool(types.is_integer(found) or types.is_floating(found))
        case _:
            return bool(types.is_list(found))


@contextmanager
def clear(path: Path) -> Iterator[None]:
    """Turn what goes wrong with a file into a gap, described in one line."""
    try:
        yield
    except (*_BAD_FILES, pa.ArrowException) as problem:
        lines = str(problem).splitlines() or [type(problem).__name__]
        raise Gap(f"{path} cannot be read ({lines[0][:200].rstrip('.')})") from None
