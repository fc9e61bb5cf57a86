"""Ingest on Spark: the same tables as without Spark, complete or not at all."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from beforehand.errors import PipelineError
from beforehand.pipeline import schemas
from beforehand.pipeline.ingest import Summary, ingest, read_events, read_messages, read_summary
from beforehand.pipeline.ingest.ingest import find
from beforehand.pipeline.storage import Storage
from beforehand.results.layout import IngestFolder
from tests.pipeline.ingest.plain import NO_REAL, REAL, ingest_files
from tests.pipeline.ingest.read.test_bad_files import SAMPLES
from tests.pipeline.ingest.read.test_span_formats import CSV

pytestmark = pytest.mark.spark

ODD = "odd [1]{a,b}*? \\ é%20.json"  # special in glob patterns and in URIs


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All formats, with duplicates, compressed, deeply nested, oddly named and bad files."""
    root = tmp_path_factory.mktemp("source")
    for name, text in SAMPLES.items():
        (root / name).mkdir()
        (root / name / "sample").write_text(text)
    (root / "span-csv" / "again").write_text(CSV)
    (root / "zipkin" / "deep" / "deeper").mkdir(parents=True)
    (root / "zipkin" / "deep" / "deeper" / "packed").write_bytes(
        gzip.compress(SAMPLES["zipkin"].encode())
    )
    (root / ODD).write_text(SAMPLES["jaeger"])
    (root / "empty").write_text("")
    (root / "LICENSE").write_text("free\n")
    (root / "cut.gz").write_bytes(gzip.compress(SAMPLES["list"].encode() * 500)[:-30])
    (root / "_hidden").write_text("not looked at")
    return root


@pytest.fixture(scope="module")
def out(folder: Path, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder, ingested."""
    output = tmp_path_factory.mktemp("ingested") / "out"
    ingest(spark, [str(folder)], str(output))
    return output


def rows(table: Any) -> list[str]:
    """The rows of a table, sorted to be independent of partitioning."""
    return sorted(json.dumps(row.asDict(), sort_keys=True) for row in table.collect())


def test_tables_equal_those_of_plain_python(spark: SparkSession, folder: Path, out: Path) -> None:
    """Spark moves rows around without changing them."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name[0] != "_")
    plain = ingest_files({f"file:{path}": path.read_bytes() for path in files})
    assert read_summary(spark, str(out)) == json.loads(json.dumps(plain.summary.to_dict()))
    assert len(plain.messages) > 20 and len(plain.rejects) >= 3 and len(plain.summary.runs) > 8

    def serialized(records: list[dict[str, Any]]) -> list[str]:
        return sorted(json.dumps(record, sort_keys=True) for record in records)

    assert rows(read_messages(spark, str(out))) == serialized(plain.messages)
    assert rows(read_events(spark, str(out))) == serialized(plain.events)
    assert rows(spark.read.parquet(str(out / "rejects"))) == serialized(plain.rejects)
    assert rows(spark.read.parquet(str(out / "files"))) == serialized(
        [vars(file) for file in plain.summary.files]
    )


def test_stored_tables_have_their_schemas(spark: SparkSession, out: Path) -> None:
    """Other readers can rely on names and types."""
    tables = {
        "messages": schemas.MESSAGES,
        "events": schemas.EVENTS,
        "rejects": schemas.REJECTS,
        "files": schemas.FILES,
    }
    for name, schema in tables.items():
        stored = spark.read.parquet(str(out / name)).schema
        assert [(field.name, field.dataType.simpleString()) for field in stored] == [
            (field.name, field.dataType.simpleString()) for field in schema
        ]


def test_overlapping_sources_are_read_once(
    spark: SparkSession, folder: Path, tmp_path: Path
) -> None:
    """Each file counts once, even with an odd name; without events there is no events table."""
    sources = [f"{folder}/z*", f"{folder}/zip*/sample", f"{folder}/{ODD}", f"file://{folder}/list"]
    summary = ingest(spark, sources, str(tmp_path / "out"))
    names = [file.file.removeprefix(f"file:{folder}/") for file in summary.files]
    assert names == ["list/sample", ODD, "zipkin/deep/deeper/packed", "zipkin/sample"]
    assert not (tmp_path / "out" / "events").exists()
    assert read_events(spark, str(tmp_path / "out")).count() == 0


def test_an_output_inside_its_source_is_not_read(spark: SparkSession, tmp_path: Path) -> None:
    """When ingesting again, the output's own tables are not a source."""
    (tmp_path / "list").write_text(SAMPLES["list"])
    (tmp_path / "out" / "messages").mkdir(parents=True)
    (tmp_path / "out" / "messages" / "x.parquet").write_text("PAR1")
    [source] = find(Storage(spark), [str(tmp_path)], str(tmp_path / "out"))
    assert source.path == f"file:{tmp_path}/list"


def test_a_finished_output_is_replaced_only_with_force(
    spark: SparkSession, out: Path, tmp_path: Path
) -> None:
    """A refusal changes nothing."""
    before = (out / IngestFolder.NOTE).read_text()
    with pytest.raises(PipelineError, match="no files there"):
        ingest(spark, [str(out)], str(out))  # its own files are not a source
    (tmp_path / "list").write_text(SAMPLES["list"])
    with pytest.raises(PipelineError, match="holds a finished ingest"):
        ingest(spark, [str(tmp_path)], str(out))
    assert (out / IngestFolder.NOTE).read_text() == before


def test_a_folder_with_other_files_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    """Even with force, because these files belong to somebody."""
    (tmp_path / "list").write_text(SAMPLES["list"])
    (tmp_path / "out" / "messages").mkdir(parents=True)
    (tmp_path / "out" / "messages" / "letter").write_text("dear")
    with pytest.raises(PipelineError, match="holds other files"):
        ingest(spark, [str(tmp_path / "list")], str(tmp_path / "out"), force=True)
    assert (tmp_path / "out" / "messages" / "letter").read_text() == "dear"


@pytest.mark.parametrize("source", ["gone", "gone/*.json"])
def test_a_missing_source_is_refused(spark: SparkSession, tmp_path: Path, source: str) -> None:
    """Nothing is written."""
    with pytest.raises(PipelineError, match="there is no such file or folder"):
        ingest(spark, [str(tmp_path / source)], str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_sources_that_spark_would_skip(spark: SparkSession, tmp_path: Path) -> None:
    """A hidden file named explicitly, an empty folder, and other matches of a pattern."""
    (tmp_path / "_x.json").write_text("[]")
    with pytest.raises(PipelineError, match="rename the file"):
        ingest(spark, [str(tmp_path / "_x.json")], str(tmp_path / "out"))
    with pytest.raises(PipelineError, match="no files there"):
        ingest(spark, [str(tmp_path)], str(tmp_path / "out"))
    (tmp_path / "list").write_text(SAMPLES["list"])
    [source] = find(Storage(spark), [f"{tmp_path}/*"], str(tmp_path / "out"))
    assert source.path.endswith("/list")


def test_a_file_that_is_too_large_is_a_reject(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is rejected without being read, even if it is the only file."""
    module = import_module("beforehand.pipeline.ingest.ingest")  # not the function of that name
    monkeypatch.setattr(module, "LARGEST", 10)
    (tmp_path / "list").write_text(SAMPLES["list"])
    summary = ingest(spark, [str(tmp_path / "list")], str(tmp_path / "out"))
    assert (summary.total("rows"), summary.total("rejected")) == (1, 1)
    [reject] = spark.read.parquet(str(tmp_path / "out" / "rejects")).collect()
    assert reject.reason == "18 bytes, more than 10; split it into several files"


def test_readers_refuse_an_unfinished_ingest(spark: SparkSession, tmp_path: Path) -> None:
    """A missing folder, an unrelated folder, and an interrupted ingest are distinguished."""
    with pytest.raises(PipelineError, match="no such folder"):
        read_messages(spark, str(tmp_path / "gone"))
    with pytest.raises(PipelineError, match=f"no {IngestFolder.NOTE}; give the folder"):
        read_messages(spark, str(tmp_path))
    (tmp_path / IngestFolder.UNFINISHED).write_text("{}")
    with pytest.raises(PipelineError, match="did not finish; run ingest again"):
        read_messages(spark, str(tmp_path))


SLOW = """
import sys, time
from beforehand.pipeline import session
from beforehand.pipeline.ingest import ingest, stages

def slow(*_):
    print("half", flush=True)  # the messages are written, the rejects are not
    time.sleep(600)

stages.rejects = slow
quick = {  # to start, not to run
    "spark.driver.memory": "512m",
    "spark.sql.shuffle.partitions": "1",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
}
ingest(session.start("local[1]", quick), [sys.argv[1]], sys.argv[2])
"""


def test_a_killed_ingest_can_be_repeated(spark: SparkSession, tmp_path: Path) -> None:
    """A partial output is not read; the second ingest is complete and has no duplicates."""
    source, out = tmp_path / "source", tmp_path / "out"
    source.mkdir()
    (source / "list").write_text(SAMPLES["list"] + "a b soon\n")
    command = [sys.executable, "-c", SLOW, str(source), str(out)]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == "half"
        os.killpg(process.pid, signal.SIGKILL)
    assert list((out / "messages").glob("*.parquet"))
    with pytest.raises(PipelineError, match="run ingest again"):
        read_messages(spark, str(out))
    summary = ingest(spark, [str(source)], str(out))
    assert (summary.total("rows"), summary.total("rejected")) == (4, 1)
    positions = [row.position for row in read_messages(spark, str(out)).collect()]
    assert sorted(positions) == [1, 2, 3]
    assert spark.read.parquet(str(out / "rejects")).count() == 1
    assert not (out / IngestFolder.UNFINISHED).exists()


@pytest.mark.skipif(not REAL.is_dir(), reason=NO_REAL)
def test_all_real_traces_at_once(spark: SparkSession, tmp_path: Path) -> None:
    """The message counts per run agree with the summary, and rows add up."""
    summary: Summary = ingest(spark, [str(REAL)], str(tmp_path / "out"))
    assert {file.format for file in summary.files} >= {"jaeger", "zipkin", "span-csv", "shiviz"}
    counts = read_messages(spark, str(tmp_path / "out")).groupBy("run").count().collect()
    assert {row["run"]: row["count"] for row in counts} == {
        run.run: run.messages for run in summary.runs
    }
    assert summary.total("rows") == summary.total("accepted") + summary.total(
        "rejected"
    ) + summary.total("duplicates")
