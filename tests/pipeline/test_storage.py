"""Storage through Hadoop's file systems, here the local one."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from beforehand.errors import PipelineError
from beforehand.pipeline.schemas import EVENTS
from beforehand.pipeline.storage import Storage, literal
from beforehand.trace import Event

pytestmark = pytest.mark.spark


def test_names_with_special_characters_are_found_and_read(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Such names work as a plain path, below a folder, and in Spark's own readers."""
    folder = tmp_path / "a b{c},[d]*?ü%20"
    folder.mkdir()
    (folder / "x.txt").write_text("hello\n")
    (folder / "_hidden").write_text("no\n")
    (file,) = Storage(spark).files_under(str(folder))
    assert file.size == 6 and not file.is_folder
    assert [row.value for row in spark.read.text(literal(file.path)).collect()] == ["hello"]


def test_glob_returns_sorted_matches(spark: SparkSession, tmp_path: Path) -> None:
    """The result is sorted, and empty if nothing matches."""
    for name in ("b.csv", "a.csv", "c.txt"):
        (tmp_path / name).write_text("")
    matches = Storage(spark).glob(f"{tmp_path}/*.csv")
    assert [file.path.rpartition("/")[2] for file in matches] == ["a.csv", "b.csv"]
    assert Storage(spark).glob(f"{tmp_path}/*.json") == []


def test_notes_are_written_atomically_and_can_be_replaced(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Reading a note that does not exist returns None."""
    storage = Storage(spark)
    folder = str(tmp_path / "new")
    assert storage.read_note(folder, "_note.json") is None
    for content in ({"runs": 1}, {"runs": 2, "name": "ü"}):
        storage.write_note(folder, "_note.json", content)
        assert storage.read_note(folder, "_note.json") == content
    assert [path.name for path in (tmp_path / "new").iterdir() if path.suffix == ".json"] == [
        "_note.json"
    ]
    storage.delete(folder)
    assert not storage.exists(folder)
    storage.delete(folder)


def test_errors_name_the_path_and_the_cause(spark: SparkSession, tmp_path: Path) -> None:
    """Covers a missing folder, and a store for which Spark has no package."""
    with pytest.raises(PipelineError, match="nowhere: FileNotFoundException"):
        Storage(spark).files_under(str(tmp_path / "nowhere"))
    with pytest.raises(PipelineError, match=r"s3a://bucket/x: .*docs/cluster\.md"):
        Storage(spark).exists("s3a://bucket/x")


def test_the_events_schema_matches_the_trace_format() -> None:
    """The columns are the same, in the same order."""
    assert tuple(EVENTS.names) == Event._fields
