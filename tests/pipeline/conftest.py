"""One Spark session shared by all pipeline tests, because starting one takes many seconds."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from beforehand.cli.ui import progress
from beforehand.pipeline import session


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
