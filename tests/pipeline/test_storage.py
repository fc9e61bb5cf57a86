"""Files through Hadoop, here on this machine."""

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
    """As a plain path, below a folder, and by Spark itself."""
    place = tmp_path / "a b{c},[d]*?ü%20"
    place.mkdir()
    (place / "x.txt").write_text("hello\n")
    (place / "_hidden").write_text("no\n")
    (file,) = Storage(spark).files_under(str(place))
    assert file.size == 6 and not file.is_folder
    assert [row.value for row in spark.read.text(literal(file.path)).collect()] == ["hello"]


def test_patterns(spark: SparkSession, tmp_path: Path) -> None:
    """Sorted; nothing if nothing fits."""
    for name in ("b.csv", "a.csv", "c.txt"):
        (tmp_path / name).write_text("")
    found = Storage(spark).glob(f"{tmp_path}/*.csv")
    assert [file.path.rpartition("/")[2] for file in found] == ["a.csv", "b.csv"]
    assert Storage(spark).glob(f"{tmp_path}/*.json") == []


def test_notes_appear_whole_and_can_be_replaced(spark: SparkSession, tmp_path: Path) -> None:
    """None while there is none."""
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


def test_errors_say_where_and_what(spark: SparkSession, tmp_path: Path) -> None:
    """A folder that is not there, and a store that Spark has no package for."""
    with pytest.raises(PipelineError, match="nowhere: FileNotFoundException"):
        Storage(spark).files_under(str(tmp_path / "nowhere"))
    with pytest.raises(PipelineError, match=r"s3a://bucket/x: .*docs/cluster\.md"):
        Storage(spark).exists("s3a://bucket/x")


def test_events_are_those_of_the_trace_format() -> None:
    """The same columns in the same order."""
    assert tuple(EVENTS.names) == Event._fields
