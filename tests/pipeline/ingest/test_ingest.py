"""Ingest on both engines: the same tables as in plain Python, complete or not at all."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from beforehand.errors import PipelineError
from beforehand.pipeline import schemas
from beforehand.pipeline.engine import LocalEngine, PipelineEngine, Source
from beforehand.pipeline.ingest import (
    Options,
    Summary,
    ingest,
    read_events,
    read_messages,
    read_summary,
    stages,
    tasks,
)
from beforehand.pipeline.ingest.ingest import find
from beforehand.pipeline.storage import File
from beforehand.results.layout import IngestFolder
from tests.pipeline.ingest.plain import NO_REAL, REAL, ingest_files
from tests.pipeline.ingest.read.test_bad_files import SAMPLES
from tests.pipeline.ingest.read.test_span_formats import CSV

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
def out(folder: Path, engine: PipelineEngine, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder, ingested."""
    output = tmp_path_factory.mktemp("ingested") / "out"
    ingest(engine, [str(folder)], str(output))
    return output


def rows(table: pa.Table) -> list[str]:
    """The rows of a table, sorted to be independent of tasks."""
    return sorted(json.dumps(row, sort_keys=True) for row in table.to_pylist())


def test_tables_equal_those_of_plain_python(
    engine: PipelineEngine, folder: Path, out: Path
) -> None:
    """Engines move rows around without changing them."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name[0] != "_")
    plain = ingest_files({f"file:{path}": path.read_bytes() for path in files})
    assert read_summary(engine.storage, str(out)) == json.loads(json.dumps(plain.summary.to_dict()))
    assert len(plain.messages) > 20 and len(plain.rejects) >= 3 and len(plain.summary.runs) > 8

    def serialized(records: list[dict[str, Any]]) -> list[str]:
        return sorted(json.dumps(record, sort_keys=True) for record in records)

    assert rows(read_messages(engine, str(out)).collect()) == serialized(plain.messages)
    assert rows(read_events(engine, str(out)).collect()) == serialized(plain.events)
    assert rows(pq.read_table(out / "rejects")) == serialized(plain.rejects)
    assert rows(pq.read_table(out / "files")) == serialized(
        [vars(file) for file in plain.summary.files]
    )


def test_stored_tables_have_their_schemas(out: Path) -> None:
    """Other readers can rely on names and types."""
    tables = {
        "messages": schemas.MESSAGES,
        "events": schemas.EVENTS,
        "rejects": schemas.REJECTS,
        "files": schemas.FILES,
    }
    for name, schema in tables.items():
        stored = pq.read_table(out / name).schema
        assert (stored.names, stored.types) == (schema.names, schema.types)


def test_overlapping_sources_are_read_once(
    engine: PipelineEngine, folder: Path, tmp_path: Path
) -> None:
    """Each file counts once, even with an odd name; without events there is no events table."""
    sources = [f"{folder}/z*", f"{folder}/zip*/sample", f"{folder}/{ODD}", f"file://{folder}/list"]
    summary = ingest(engine, sources, str(tmp_path / "out"))
    names = [file.file.removeprefix(f"file:{folder}/") for file in summary.files]
    assert names == ["list/sample", ODD, "zipkin/deep/deeper/packed", "zipkin/sample"]
    assert not (tmp_path / "out" / "events").exists()
    assert read_events(engine, str(tmp_path / "out")).collect().num_rows == 0


def test_an_output_inside_its_source_is_not_read(engine: PipelineEngine, tmp_path: Path) -> None:
    """When ingesting again, the output's own tables are not a source."""
    (tmp_path / "list").write_text(SAMPLES["list"])
    (tmp_path / "out" / "messages").mkdir(parents=True)
    (tmp_path / "out" / "messages" / "x.parquet").write_text("PAR1")
    [source] = find(engine.storage, [str(tmp_path)], str(tmp_path / "out"))
    assert source.path == f"file:{tmp_path}/list"


def test_a_finished_output_is_replaced_only_with_force(
    engine: PipelineEngine, out: Path, tmp_path: Path
) -> None:
    """A refusal changes nothing."""
    before = (out / IngestFolder.NOTE).read_text()
    with pytest.raises(PipelineError, match="no files there"):
        ingest(engine, [str(out)], str(out))  # its own files are not a source
    (tmp_path / "list").write_text(SAMPLES["list"])
    with pytest.raises(PipelineError, match="holds a finished ingest"):
        ingest(engine, [str(tmp_path)], str(out))
    assert (out / IngestFolder.NOTE).read_text() == before


def test_a_folder_with_other_files_is_refused(engine: PipelineEngine, tmp_path: Path) -> None:
    """Even with force, because these files belong to somebody."""
    (tmp_path / "list").write_text(SAMPLES["list"])
    (tmp_path / "out" / "messages").mkdir(parents=True)
    (tmp_path / "out" / "messages" / "letter").write_text("dear")
    with pytest.raises(PipelineError, match="holds other files"):
        ingest(engine, [str(tmp_path / "list")], str(tmp_path / "out"), force=True)
    assert (tmp_path / "out" / "messages" / "letter").read_text() == "dear"


@pytest.mark.parametrize("source", ["gone", "gone/*.json"])
def test_a_missing_source_is_refused(engine: PipelineEngine, tmp_path: Path, source: str) -> None:
    """Nothing is written."""
    with pytest.raises(PipelineError, match="there is no such file or folder"):
        ingest(engine, [str(tmp_path / source)], str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_sources_without_visible_files(engine: PipelineEngine, tmp_path: Path) -> None:
    """A hidden file named explicitly, an empty folder, and other matches of a pattern."""
    (tmp_path / "_x.json").write_text("[]")
    with pytest.raises(PipelineError, match="rename the file"):
        ingest(engine, [str(tmp_path / "_x.json")], str(tmp_path / "out"))
    with pytest.raises(PipelineError, match="no files there"):
        ingest(engine, [str(tmp_path)], str(tmp_path / "out"))
    (tmp_path / "list").write_text(SAMPLES["list"])
    [source] = find(engine.storage, [f"{tmp_path}/*"], str(tmp_path / "out"))
    assert source.path.endswith("/list")


def test_a_file_that_is_too_large_is_a_reject(
    engine: PipelineEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is rejected without being read, even if it is the only file."""
    module = import_module("beforehand.pipeline.ingest.ingest")  # not the function of that name
    monkeypatch.setattr(module, "LARGEST", 10)
    (tmp_path / "list").write_text(SAMPLES["list"])
    summary = ingest(engine, [str(tmp_path / "list")], str(tmp_path / "out"))
    assert (summary.total("rows"), summary.total("rejected")) == (1, 1)
    [reject] = pq.read_table(tmp_path / "out" / "rejects").to_pylist()
    assert reject["reason"] == "18 bytes, more than 10; split it into several files"


def test_readers_refuse_an_unfinished_ingest(engine: PipelineEngine, tmp_path: Path) -> None:
    """A missing folder and one without the note are distinguished."""
    with pytest.raises(PipelineError, match="no such folder"):
        read_messages(engine, str(tmp_path / "gone"))
    with pytest.raises(PipelineError, match=f"no {IngestFolder.NOTE}; give the folder"):
        read_messages(engine, str(tmp_path))


class ForgetfulEngine(LocalEngine):
    """Loses some files without a word, as Spark does with remote ones that it cannot read."""

    def __init__(self, lost: str) -> None:
        super().__init__(workers=1)
        self.lost = lost

    def files(self, files: Sequence[File], *arguments: Any) -> Any:
        """Pass only the others on, unless the problem is known."""
        problems = arguments[-1]
        kept = [f for f in files if not f.path.endswith(self.lost) or f.path in problems]
        return super().files(kept, *arguments)


def test_a_lost_file_is_noticed(tmp_path: Path) -> None:
    """It is rejected as a whole, and the others are read."""
    for name in ("a", "b"):
        (tmp_path / name).write_text(SAMPLES["list"])
    engine = ForgetfulEngine("/b")
    summary = ingest(engine, [str(tmp_path)], str(tmp_path / "out"))
    engine.close()
    assert [(Path(f.file).name, f.accepted, f.rejected) for f in summary.files] == [
        ("a", 3, 0),
        ("b", 0, 1),
    ]
    [reject] = pq.read_table(tmp_path / "out" / "rejects").to_pylist()
    assert reject["file"].endswith("/b")
    assert reject["reason"] == "cannot be read; check its permissions"


def test_a_file_that_cannot_be_opened_is_a_reject(tmp_path: Path) -> None:
    """The reason is that of the system; a problem that is known already is kept as it is."""
    gone = str(tmp_path / "gone")
    for problem, reason in (("", "cannot be read (No such file or directory); check"), ("x", "x")):
        source = Source(f"file:{gone}", gone, problem)
        [batch] = tasks.read_source(source, Options(), stages.ROWS)
        reject, end = batch.to_pylist()
        assert reject["reason"].startswith(reason) and reject["file"] == f"file:{gone}"
        assert end["rows"] == 1


def test_a_failed_replacement_keeps_the_old_output(
    engine: PipelineEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The new tables are written aside, so that a failure in the middle leaves nothing behind."""
    out = tmp_path / "out"
    (tmp_path / "list").write_text(SAMPLES["list"])
    ingest(engine, [str(tmp_path / "list")], str(out))
    before = {path.name: path.stat().st_mtime_ns for path in out.rglob("*")}
    (tmp_path / "list").write_text(SAMPLES["list"] * 2)
    written: list[str] = []

    class FailingTable:
        """A table that cannot be written."""

        def write(self, path: str) -> None:
            """Fail after the messages are written."""
            written.extend(sorted(child.name for child in Path(path).parent.iterdir()))
            raise MemoryError

    monkeypatch.setattr(stages, "rejects", lambda resolved: FailingTable())
    with pytest.raises(MemoryError):
        ingest(engine, [str(tmp_path / "list")], str(out), force=True)
    assert written == ["messages"]
    assert {path.name: path.stat().st_mtime_ns for path in out.rglob("*")} == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["list", "out"]


SLOW = """
import sys, time
from beforehand.pipeline.engine import LocalEngine
from beforehand.pipeline.ingest import ingest, stages

class SlowTable:
    def write(self, path):
        print("half", flush=True)  # the messages are written, the rejects are not
        time.sleep(600)

stages.rejects = lambda resolved: SlowTable()
quick = {"spark.driver.memory": "512m"}
if sys.argv[3] == "local":
    engine = LocalEngine()
else:
    from beforehand.pipeline.engine.spark import SparkEngine
    engine = SparkEngine("local[1]", quick)
ingest(engine, [sys.argv[1]], sys.argv[2])
"""


def test_a_killed_ingest_can_be_repeated(engine: PipelineEngine, tmp_path: Path) -> None:
    """A partial output is not there; the second ingest is complete and leaves nothing else."""
    source, out = tmp_path / "source", tmp_path / "out"
    source.mkdir()
    (source / "list").write_text(SAMPLES["list"] + "a b soon\n")
    command = [sys.executable, "-c", SLOW, str(source), str(out), engine.name]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
        env=os.environ | {"BEFOREHAND_NO_CLASS_ARCHIVE": "1"},
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == "half"
        os.killpg(process.pid, signal.SIGKILL)
    assert list((tmp_path / ".out.new" / "messages").glob("*.parquet"))
    with pytest.raises(PipelineError, match="no such folder"):
        read_messages(engine, str(out))
    summary = ingest(engine, [str(source)], str(out))
    assert (summary.total("rows"), summary.total("rejected")) == (4, 1)
    positions = read_messages(engine, str(out)).collect()["position"].to_pylist()
    assert sorted(positions) == [1, 2, 3]
    assert pq.read_table(out / "rejects").num_rows == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "source"]


@pytest.mark.skipif(not REAL.is_dir(), reason=NO_REAL)
def test_all_real_traces_at_once(engine: PipelineEngine, tmp_path: Path) -> None:
    """The message counts per run agree with the summary, and rows add up."""
    summary: Summary = ingest(engine, [str(REAL)], str(tmp_path / "out"))
    assert {file.format for file in summary.files} >= {"jaeger", "zipkin", "span-csv", "shiviz"}
    messages = read_messages(engine, str(tmp_path / "out")).collect()
    assert Counter(messages["run"].to_pylist()) == {run.run: run.messages for run in summary.runs}
    assert summary.total("rows") == summary.total("accepted") + summary.total(
        "rejected"
    ) + summary.total("duplicates")
