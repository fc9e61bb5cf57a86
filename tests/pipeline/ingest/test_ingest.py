"""Ingest on Spark: the same tables as without it, whole or not at all."""

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

ODD = "odd [1]{a,b}*? \\ é%20.json"  # a name that means something else in patterns and in addresses


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with everything: all formats, some twice, some packed, some far below, some bad."""
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
    made = tmp_path_factory.mktemp("ingested") / "out"
    ingest(spark, [str(folder)], str(made))
    return made


def rows(table: Any) -> list[str]:
    """The rows of a table in an order that does not depend on where they were made."""
    return sorted(json.dumps(row.asDict(), sort_keys=True) for row in table.collect())


def test_the_tables_are_those_of_plain_python(spark: SparkSession, folder: Path, out: Path) -> None:
    """Spark moves rows around and changes nothing about them."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name[0] != "_")
    plain = ingest_files({f"file:{path}": path.read_bytes() for path in files})
    assert read_summary(spark, str(out)) == json.loads(json.dumps(plain.summary.to_dict()))
    assert len(plain.messages) > 20 and len(plain.rejects) >= 3 and len(plain.summary.runs) > 8

    def told(records: list[dict[str, Any]]) -> list[str]:
        return sorted(json.dumps(each, sort_keys=True) for each in records)

    assert rows(read_messages(spark, str(out))) == told(plain.messages)
    assert rows(read_events(spark, str(out))) == told(plain.events)
    assert rows(spark.read.parquet(str(out / "rejects"))) == told(plain.rejects)
    assert rows(spark.read.parquet(str(out / "files"))) == told(
        [vars(each) for each in plain.summary.files]
    )


def test_the_tables_have_their_schemas(spark: SparkSession, out: Path) -> None:
    """Names and types, as others read them."""
    tables = {
        "messages": schemas.MESSAGES,
        "events": schemas.EVENTS,
        "rejects": schemas.REJECTS,
        "files": schemas.FILES,
    }
    for name, schema in tables.items():
        found = spark.read.parquet(str(out / name)).schema
        assert [(each.name, each.dataType.simpleString()) for each in found] == [
            (each.name, each.dataType.simpleString()) for each in schema
        ]


def test_patterns_files_and_the_same_thing_twice(
    spark: SparkSession, folder: Path, tmp_path: Path
) -> None:
    """Every file counts once, an odd name is just a name; without events there is no such table."""
    sources = [f"{folder}/z*", f"{folder}/zip*/sample", f"{folder}/{ODD}", f"file://{folder}/list"]
    summary = ingest(spark, sources, str(tmp_path / "out"))
    names = [each.file.removeprefix(f"file:{folder}/") for each in summary.files]
    assert names == ["list/sample", ODD, "zipkin/deep/deeper/packed", "zipkin/sample"]
    assert not (tmp_path / "out" / "events").exists()
    assert read_events(spark, str(tmp_path / "out")).count() == 0


def test_an_output_inside_its_source_is_not_read(spark: SparkSession, tmp_path: Path) -> None:
    """When it is made again, its own tables are no source."""
    (tmp_path / "list").write_text(SAMPLES["list"])
    (tmp_path / "out" / "messages").mkdir(parents=True)
    (tmp_path / "out" / "messages" / "x.parquet").write_text("PAR1")
    [found] = find(Storage(spark), [str(tmp_path)], str(tmp_path / "out"))
    assert found.path == f"file:{tmp_path}/list"


def test_a_finished_output_is_replaced_only_by_force(
    spark: SparkSession, out: Path, tmp_path: Path
) -> None:
    """And nothing has changed after the refusal."""
    before = (out / IngestFolder.NOTE).read_text()
    with pytest.raises(PipelineError, match="no files there"):
        ingest(spark, [str(out)], str(out))  # its own files are no source
    (tmp_path / "list").write_text(SAMPLES["list"])
    with pytest.raises(PipelineError, match="holds a finished ingest"):
        ingest(spark, [str(tmp_path)], str(out))
    assert (out / IngestFolder.NOTE).read_text() == before


def test_a_folder_with_other_things_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    """Even by force: these are somebody's files."""
    (tmp_path / "list").write_text(SAMPLES["list"])
    (tmp_path / "out" / "messages").mkdir(parents=True)
    (tmp_path / "out" / "messages" / "letter").write_text("dear")
    with pytest.raises(PipelineError, match="holds other files"):
        ingest(spark, [str(tmp_path / "list")], str(tmp_path / "out"), force=True)
    assert (tmp_path / "out" / "messages" / "letter").read_text() == "dear"


@pytest.mark.parametrize("source", ["gone", "gone/*.json"])
def test_a_source_that_is_not_there(spark: SparkSession, tmp_path: Path, source: str) -> None:
    """One sentence, and nothing is written."""
    with pytest.raises(PipelineError, match="there is no such file or folder"):
        ingest(spark, [str(tmp_path / source)], str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_sources_that_spark_would_pass_over(spark: SparkSession, tmp_path: Path) -> None:
    """A hidden file that is named, a folder with nothing in it, and what a pattern fits besides."""
    (tmp_path / "_x.json").write_text("[]")
    with pytest.raises(PipelineError, match="rename the file"):
        ingest(spark, [str(tmp_path / "_x.json")], str(tmp_path / "out"))
    with pytest.raises(PipelineError, match="no files there"):
        ingest(spark, [str(tmp_path)], str(tmp_path / "out"))
    (tmp_path / "list").write_text(SAMPLES["list"])
    [found] = find(Storage(spark), [f"{tmp_path}/*"], str(tmp_path / "out"))
    assert found.path.endswith("/list")


def test_a_file_that_is_too_large_is_a_reject(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not even read; alone too."""
    module = import_module("beforehand.pipeline.ingest.ingest")  # not the function of that name
    monkeypatch.setattr(module, "LARGEST", 10)
    (tmp_path / "list").write_text(SAMPLES["list"])
    summary = ingest(spark, [str(tmp_path / "list")], str(tmp_path / "out"))
    assert (summary.total("rows"), summary.total("rejected")) == (1, 1)
    [reject] = spark.read.parquet(str(tmp_path / "out" / "rejects")).collect()
    assert reject.reason == "18 bytes, more than 10; split it into several files"


def test_readers_refuse_what_is_not_finished(spark: SparkSession, tmp_path: Path) -> None:
    """A folder that is not there, one of something else, and one that was left halfway."""
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


def test_kill_in_the_middle_and_run_again(spark: SparkSession, tmp_path: Path) -> None:
    """What is left is not taken for whole; the second time it is complete, with nothing twice."""
    source, made = tmp_path / "source", tmp_path / "out"
    source.mkdir()
    (source / "list").write_text(SAMPLES["list"] + "a b soon\n")
    command = [sys.executable, "-c", SLOW, str(source), str(made)]
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
    assert list((made / "messages").glob("*.parquet"))
    with pytest.raises(PipelineError, match="run ingest again"):
        read_messages(spark, str(made))
    summary = ingest(spark, [str(source)], str(made))
    assert (summary.total("rows"), summary.total("rejected")) == (4, 1)
    places = [row.position for row in read_messages(spark, str(made)).collect()]
    assert sorted(places) == [1, 2, 3]
    assert spark.read.parquet(str(made / "rejects")).count() == 1
    assert not (made / IngestFolder.UNFINISHED).exists()


@pytest.mark.skipif(not REAL.is_dir(), reason=NO_REAL)
def test_the_whole_folder_of_real_traces(spark: SparkSession, tmp_path: Path) -> None:
    """Every file in one go; the numbers per format are those of test_real_traces.py."""
    summary: Summary = ingest(spark, [str(REAL)], str(tmp_path / "out"))
    assert {each.format for each in summary.files} >= {"jaeger", "zipkin", "span-csv", "shiviz"}
    told = read_messages(spark, str(tmp_path / "out")).groupBy("run").count().collect()
    assert {row["run"]: row["count"] for row in told} == {
        each.run: each.messages for each in summary.runs
    }
    assert summary.total("rows") == summary.total("accepted") + summary.total(
        "rejected"
    ) + summary.total("duplicates")
