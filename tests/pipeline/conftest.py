"""The engines of all pipeline tests, each started once, because starting Spark takes many seconds."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from beforehand.cli.ui import progress
from beforehand.pipeline.engine import LocalEngine, PipelineEngine, session
from beforehand.pipeline.engine.spark import SparkEngine

ENGINES = [pytest.param("spark", marks=pytest.mark.spark), "local"]


@pytest.fixture(autouse=True)
def _no_progress_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep stderr independent of how slow the machine is."""
    monkeypatch.setattr(progress, "FIRST_LINE", 3600.0)


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A session with two workers, started the way the commands start it."""
    spark_session = session.start("local[2]", {"spark.driver.memory": "1g"})
    yield spark_session
    spark_session.stop()


@pytest.fixture(scope="session")
def spark_engine(spark: SparkSession) -> Iterator[SparkEngine]:
    """Spark."""
    engine = SparkEngine.of(spark)
    yield engine
    engine.close()


@pytest.fixture(scope="session")
def local_engine() -> Iterator[LocalEngine]:
    """This machine, without a JVM."""
    engine = LocalEngine(workers=2)
    yield engine
    engine.close()


@pytest.fixture(scope="session", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> PipelineEngine:
    """Each of both; only the test that asks for Spark starts it."""
    chosen: PipelineEngine = request.getfixturevalue(f"{request.param}_engine")
    return chosen


@pytest.fixture
def remote(spark: SparkSession, tmp_path: Path) -> str:
    """The temporary folder under a name that only the file systems of Hadoop understand."""
    name = "".join(char for char in tmp_path.name if char.isalnum()).lower()
    context: Any = spark.sparkContext
    configuration = context._jsc.hadoopConfiguration()
    configuration.set(f"fs.viewfs.mounttable.{name}.link./data", tmp_path.as_uri())
    return f"viewfs://{name}/data"
