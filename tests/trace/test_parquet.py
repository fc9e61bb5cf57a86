"""Parquet: files of other writers are read if they mean the same, and refused if they cannot."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from beforehand.errors import TraceError
from beforehand.trace import Event, ParquetSink, create, read
from beforehand.trace.parquet import ROWS_PER_ROW_GROUP
from tests.trace.events import SAMPLES, columns_of, write

# As Any: they come without types.
pa: Any = import_module("pyarrow")
pq: Any = import_module("pyarrow.parquet")


def table(tmp_path: Path, rows: list[Event] = SAMPLES) -> Any:
    """A trace as an Arrow table, to be spoilt."""
    return pq.read_table(write(tmp_path / "good.parquet", rows))


def save(tmp_path: Path, changed: Any) -> Path:
    """Write a table to a file."""
    path = tmp_path / "x.parquet"
    pq.write_table(changed, path)
    return path


def replaced(changed: Any, name: str, values: Any) -> Any:
    """The table with another column in place of one."""
    at = changed.schema.names.index(name)
    return changed.set_column(at, pa.field(name, values.type), values)


def refused(path: Path, error: str) -> None:
    """Reading raises one TraceError, which names the file."""
    with pytest.raises(TraceError, match=f"{path.name}: {error}"):
        list(read(path))


def test_types_and_encodings(tmp_path: Path) -> None:
    """The columns are what docs/trace-format.md promises, compressed and with dictionaries."""
    path = write(tmp_path / "x.parquet", SAMPLES)
    file = pq.ParquetFile(path)
    assert file.metadata.metadata[b"beforehand-trace"] == b"1"
    assert file.schema_arrow.names == list(Event._fields)
    group = file.metadata.row_group(0)
    for at, field in enumerate(file.schema_arrow):
        column = group.column(at)
        text = pa.types.is_string(field.type) or pa.types.is_list(field.type)
        assert text or field.type == pa.int64()
        assert column.compression == "ZSTD"
        assert ("RLE_DICTIONARY" in column.encodings) == text, field.name
        assert field.nullable == (field.name in ("sender", "mid", "to"))
    file.close()


def test_row_groups_do_not_depend_on_how_the_rows_come(tmp_path: Path) -> None:
    """They are of one size, and the bytes are the same for many small groups and one large."""
    count = ROWS_PER_ROW_GROUP * 2 + 2
    # Long details that differ: the writer gives up its dictionary somewhere among them.
    rows = [SAMPLES[1]._replace(seq=at, detail=f"{at:0100}") for at in range(1, count + 1)]
    paths = [tmp_path / "one.parquet", tmp_path / "many.parquet"]
    for path, size in zip(paths, (count, 10_007), strict=True):
        sink = create(path)
        for at in range(0, count, size):
            sink.write(columns_of("r1", rows[at : at + size]))
        sink.close()
        metadata = pq.read_metadata(path)
        sizes = [metadata.row_group(at).num_rows for at in range(metadata.num_row_groups)]
        assert sizes == [ROWS_PER_ROW_GROUP, ROWS_PER_ROW_GROUP, 2]
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert all(one == other for one, other in zip(read(paths[1]), rows, strict=True))


def test_writing_takes_bounded_memory(tmp_path: Path) -> None:
    """What waits to be written is never more than a row group."""
    sink = ParquetSink(tmp_path / "x.parquet")
    rows = [SAMPLES[1]._replace(seq=number) for number in range(1, 10_001)]
    before = pa.total_allocated_bytes()
    most = []
    for _ in range(3 * ROWS_PER_ROW_GROUP // len(rows)):
        sink.write(columns_of("r1", rows))
        assert sink.waiting == sum(map(len, sink.batches)) < ROWS_PER_ROW_GROUP
        most.append(pa.total_allocated_bytes() - before)
    assert max(most) < 20_000_000
    sink.abort()


def test_other_writers(tmp_path: Path) -> None:
    """No version, other widths, dictionaries, more columns in another order: it means the same."""
    changed = table(tmp_path).replace_schema_metadata(None)
    changed = replaced(changed, "process", changed["process"].cast(pa.large_string()))
    changed = replaced(changed, "kind", changed["kind"].dictionary_encode())
    changed = replaced(changed, "mid", changed["mid"].cast(pa.int32()))
    changed = replaced(changed, "meta_bytes", changed["meta_bytes"].cast(pa.uint8()))
    changed = replaced(changed, "to", changed["to"].cast(pa.large_list(pa.large_string())))
    changed = changed.append_column("colour", pa.array(["red"] * len(SAMPLES)))
    changed = changed.select(changed.schema.names[::-1])
    assert list(read(save(tmp_path, changed))) == SAMPLES
    pq.write_table(changed, tmp_path / "x.parquet", store_schema=False, use_dictionary=False)
    assert list(read(tmp_path / "x.parquet")) == SAMPLES


@pytest.mark.parametrize(
    ("version", "error"),
    [
        ("2", "a trace of version 2, and this reader knows versions up to 1; upgrade beforehand"),
        ("0", "the version 0 is not a number from 1 on; write 1"),
        ("one", "the version 'one' is not a number from 1 on"),
        ("9" * 50, "the version '9+' is not a number from 1 on"),
        ("²", "the version .* is not a number from 1 on"),
        ("", "the version '' is not a number from 1 on"),
    ],
)
def test_versions(tmp_path: Path, version: str, error: str) -> None:
    """A newer version, or none that makes sense, is refused before any row is read."""
    changed = table(tmp_path).replace_schema_metadata({"beforehand-trace": version})
    refused(save(tmp_path, changed), error)


def test_a_newer_version_need_not_have_our_columns(tmp_path: Path) -> None:
    """The version is checked first, so that the error names the actual problem."""
    changed = pa.table({"a": [1]}).replace_schema_metadata({"beforehand-trace": "2"})
    refused(save(tmp_path, changed), "a trace of version 2")


def test_a_file_that_is_not_a_trace(tmp_path: Path) -> None:
    """The error lists its columns and refers to the documentation."""
    path = save(tmp_path, pa.table({"a": [1], "b": ["x"]}))
    refused(path, "not a trace: its columns are a, b; see docs/trace-format.md")


@pytest.mark.parametrize("name", Event._fields)
def test_a_missing_column(tmp_path: Path, name: str) -> None:
    """Each is needed."""
    path = save(tmp_path, table(tmp_path).drop_columns([name]))
    refused(path, f"there is no column {name}; write all of run, process, seq")


def test_a_duplicate_column(tmp_path: Path) -> None:
    """Nobody can know which is meant."""
    changed = table(tmp_path)
    path = save(tmp_path, changed.append_column("seq", changed["seq"]))
    refused(path, "there are several columns seq; keep one of them")


@pytest.mark.parametrize(
    ("name", "values", "error"),
    [
        ("seq", ["1"] * 10, "the column seq is of type string; write it as int64"),
        ("seq", [1.0] * 10, "the column seq is of type double; write it as int64"),
        ("mid", [None] * 10, "the column mid is of type null; write it as int64"),
        ("kind", [1] * 10, "the column kind is of type int64; write it as string"),
        ("run", [b"r"] * 10, "the column run is of type binary; write it as string"),
        ("run", [["r"]] * 10, "the column run is of type list<.*>; write it as string"),
        ("to", ["bob"] * 10, "the column to is of type string; write it as list<.*string"),
        ("to", [[1]] * 10, "the column to is of type list<.*int64>; write it as list<.*string"),
        ("detail", [{"a": 1}] * 10, "the column detail is of type struct<.*; write it as string"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_column_of_a_wrong_type(
    tmp_path: Path, name: str, values: list[object], error: str
) -> None:
    """The error names the actual and the expected type."""
    refused(save(tmp_path, replaced(table(tmp_path), name, pa.array(values))), error)


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("run", None, "`run` is None, not a string"),
        ("process", None, "`process`: .* must be a str, not NoneType"),
        ("seq", None, "`seq` is None, not an integer"),
        ("seq", 0, "`seq` is 0, less than 1"),
        ("kind", "go", "`kind` is 'go'; it must be one of"),
        ("payload_bytes", -5, "`payload_bytes` is -5, less than 0"),
        ("detail", None, "`detail` is None, not a string"),
        ("to", ["bob", None], "`to`: .* must be a str, not NoneType"),
    ],
)
def test_a_bad_row_is_reported_with_its_number(
    tmp_path: Path, name: str, value: object, error: str
) -> None:
    """Counted over the whole file, also beyond the first batch."""
    count = 20_000
    changed = table(tmp_path, SAMPLES * (count // len(SAMPLES)))
    values = changed[name].to_pylist()
    values[count - 3] = value
    array = pa.array(values, pa.list_(pa.string()) if name == "to" else changed[name].type)
    refused(save(tmp_path, replaced(changed, name, array)), f"row {count - 2}: {error}")


@pytest.mark.parametrize("left", [0, 3, 100, -1])
def test_a_file_that_was_cut_off(tmp_path: Path, left: int) -> None:
    """The footer is at the end, so no beginning of a file passes for one."""
    path = write(tmp_path / "x.parquet", SAMPLES)
    path.write_bytes(path.read_bytes()[:left])
    refused(path, "not a complete Parquet file .*; if it was cut off, copy or write it again")


def test_a_file_that_is_something_else(tmp_path: Path) -> None:
    """A wrong name does not make a Parquet file."""
    path = write(tmp_path / "x.jsonl", SAMPLES).rename(tmp_path / "x.parquet")
    refused(path, "not a complete Parquet file")


def test_data_that_is_damaged(tmp_path: Path) -> None:
    """A footer that is right does not help if the data before it is not."""
    path = write(tmp_path / "x.parquet", SAMPLES * 100)
    data = bytearray(path.read_bytes())
    data[60:600] = b"\xaa" * 540
    path.write_bytes(data)
    refused(path, "damaged somewhere after row 0 .*; copy or write it again")
