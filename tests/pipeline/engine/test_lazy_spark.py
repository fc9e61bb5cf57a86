"""Spark starts when something needs it: not for what can be refused without it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from beforehand.errors import BeforehandError
from beforehand.pipeline.audit import audit
from beforehand.pipeline.engine import session
from beforehand.pipeline.engine.spark import SparkEngine
from beforehand.pipeline.ingest import ingest, read_messages
from beforehand.pipeline.study import Candidate, Study, run_study
from beforehand.pipeline.sweep import Grid, prepare, stored
from tests.pipeline.ingest.read.test_bad_files import SAMPLES


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> SparkEngine:
    """An engine that must not start its session."""
    monkeypatch.setattr(session, "start", lambda *_, **__: pytest.fail("Spark was started"))
    return SparkEngine()


def audited(engine: SparkEngine, folder: str) -> None:
    """Audit a folder."""
    with audit(engine, [folder]):
        pass


CANDIDATES = (Candidate("hybrid", True, "O(1)"),)
REFUSED: dict[str, Callable[[SparkEngine, str], object]] = {
    "ingest": lambda engine, path: ingest(engine, [path], f"{path}-out"),
    "messages": read_messages,
    "audit": audited,
    "sweep": lambda engine, path: prepare(engine, Grid(("hybrid",), (f"replay:{path}",))),
    "stored": stored,
    "study": lambda engine, path: run_study(engine, Study(f"{path}-out", CANDIDATES, [path])),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_wrong_path_is_refused_before_spark_starts(
    engine: SparkEngine, tmp_path: Path, name: str
) -> None:
    """Nobody waits for a JVM to learn about a typing error, and nothing is written."""
    with pytest.raises(BeforehandError, match="nowhere"):
        REFUSED[name](engine, str(tmp_path / "nowhere"))
    assert engine._session is None and not list(tmp_path.iterdir())


def test_an_output_that_must_not_be_replaced_is_refused_before_spark_starts(
    engine: SparkEngine, tmp_path: Path
) -> None:
    """Here it holds other files."""
    (tmp_path / "list").write_text(SAMPLES["list"])
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("years of work")
    with pytest.raises(BeforehandError, match="holds other files"):
        ingest(engine, [str(tmp_path / "list")], str(tmp_path / "out"))
    assert engine._session is None


def test_small_tables_are_read_and_written_without_spark(
    engine: SparkEngine, tmp_path: Path
) -> None:
    """A few rows on this machine need no JVM."""
    table = pa.table({"number": [1, 2, 3]})
    engine.table(table).write(str(tmp_path / "t"))
    assert engine.read([str(tmp_path / "t")], table.schema).collect() == table
    assert engine._session is None and engine.progress() == "starting Spark"
    assert not engine.is_archiving
    engine.close()
    engine.kill()
