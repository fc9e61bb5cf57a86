"""One Spark session for all tests of the pipeline: starting one takes many seconds."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from beforehand.cli.ui import progress
from beforehand.pipeline import session


@pytest.fixture(autouse=True)
def _no_lines_of_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    """How slow the machine is must not decide what commands say on standard error."""
    monkeypatch.setattr(progress, "FIRST_LINE", 3600.0)


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A session with two workers, started as the commands start it."""
    started = session.start("local[2]", {"spark.driver.memory": "1g"})
    yield started
    started.stop()
