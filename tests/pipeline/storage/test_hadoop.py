"""Paths that only the file systems of Hadoop know: here a mount of a folder on this machine."""

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from beforehand.errors import ResourceError
from beforehand.pipeline.engine.spark import SparkEngine
from beforehand.pipeline.ingest import ingest, read_messages
from beforehand.pipeline.storage import replacing
from beforehand.pipeline.storage.hadoop import literal
from tests.pipeline.ingest.read.test_bad_files import SAMPLES

pytestmark = pytest.mark.spark

ODD = "a b{c},[d]*?ü%20"  # special in glob patterns and in URIs


def test_names_with_special_characters_are_found_and_read(
    spark: SparkSession, spark_engine: SparkEngine, tmp_path: Path, remote: str
) -> None:
    """Such names work as a plain path, below a folder, and in Spark's own readers."""
    folder = tmp_path / ODD
    folder.mkdir()
    (folder / "x.txt").write_text("hello\n")
    (folder / "_hidden").write_text("no\n")
    storage = spark_engine.storage
    assert [(file.name, file.is_folder) for file in storage.find(f"{remote}/{ODD}")] == [
        (ODD, True)
    ]
    (file,) = storage.files_under(f"{remote}/{ODD}")
    assert file.size == 6 and not file.is_folder and file.path == f"{remote}/{ODD}/x.txt"
    assert [row.value for row in spark.read.text(literal(file.path)).collect()] == ["hello"]


def test_patterns_give_sorted_matches(
    spark_engine: SparkEngine, tmp_path: Path, remote: str
) -> None:
    """The result is sorted, and empty if nothing matches."""
    for name in ("b.csv", "a.csv", "c.txt"):
        (tmp_path / name).write_text("")
    storage = spark_engine.storage
    assert [file.name for file in storage.find(f"{remote}/*.csv")] == ["a.csv", "b.csv"]
    assert [file.name for file in storage.find(f"{remote}/{{a,c}}.*")] == ["a.csv", "c.txt"]
    assert storage.find(f"{remote}/*.json") == storage.inside(f"{remote}/nowhere") == []


def test_notes_are_written_and_replaced(
    spark_engine: SparkEngine, tmp_path: Path, remote: str
) -> None:
    """Reading a note that does not exist returns None; deleting twice is no error."""
    storage, folder = spark_engine.storage, f"{remote}/new"
    assert storage.read_note(folder, "_note.json") is None
    for content in ({"runs": 1}, {"runs": 2, "name": "ü"}):
        storage.write_note(folder, "_note.json", content)
        assert storage.read_note(folder, "_note.json") == content
    names = [path.name for path in (tmp_path / "new").iterdir() if path.suffix != ".crc"]
    assert names == ["_note.json"]
    storage.delete(folder)
    assert not storage.exists(folder)
    storage.delete(folder)


def test_output_is_replaced_when_it_is_complete(
    spark_engine: SparkEngine, tmp_path: Path, remote: str
) -> None:
    """A failure keeps the old output, and nothing else is left in both cases."""
    storage, out = spark_engine.storage, f"{remote}/out"
    for number in (1, 2):
        with replacing(storage, out) as folder:
            storage.write_note(folder, "note", {"number": number})
    with pytest.raises(ZeroDivisionError), replacing(storage, out) as folder:
        storage.write_note(folder, "note", {"number": 3 // 0})
    assert storage.read_note(out, "note") == {"number": 2}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_small_tables_are_uploaded_and_read_back(
    spark_engine: SparkEngine, tmp_path: Path, remote: str
) -> None:
    """They are written here first; Spark reads them where they are."""
    table = pa.table({"number": [1, 2, 3]})
    spark_engine.table(table).write(f"{remote}/table")
    assert (tmp_path / "table" / "_SUCCESS").exists()
    assert spark_engine.read([f"{remote}/table"], table.schema).collect() == table


def test_remote_sources_are_ingested_into_a_remote_folder(
    spark_engine: SparkEngine, tmp_path: Path, remote: str
) -> None:
    """The same messages as from this machine, although workers get copies of the files."""
    (tmp_path / "sources" / ODD).mkdir(parents=True)
    for name in ("list", "jaeger"):
        (tmp_path / "sources" / ODD / name).write_text(SAMPLES[name])
    far = ingest(spark_engine, [f"{remote}/sources"], f"{remote}/far")
    near = ingest(spark_engine, [str(tmp_path / "sources")], str(tmp_path / "near"))
    assert far.total("accepted") == near.total("accepted") > 3 and not far.total("rejected")
    columns = ["run", "id", "sender", "to", "time_ns", "after", "position"]
    messages = [
        read_messages(spark_engine, path).collect().select(columns).to_pylist()
        for path in (f"{remote}/far", str(tmp_path / "near"))
    ]
    assert sorted(map(str, messages[0])) == sorted(map(str, messages[1]))


def test_errors_name_the_path_and_the_cause(spark_engine: SparkEngine) -> None:
    """Here of a store for which Spark has no package."""
    with pytest.raises(ResourceError, match=r"s3a://bucket/x: .*docs/cluster\.md"):
        spark_engine.storage.exists("s3a://bucket/x")
