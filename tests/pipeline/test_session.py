"""The Spark session: its settings, and the errors raised when it cannot be started."""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from beforehand.cli.spark import start_session
from beforehand.errors import PipelineError
from beforehand.pipeline import session

FakeJava = Callable[[str], None]


@pytest.fixture
def fake_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeJava:
    """Replace Java with a program that prints the given text and exits."""

    def make(output: str) -> None:
        program = tmp_path / "bin" / "java"
        program.parent.mkdir()
        program.write_text(f"#!/bin/sh\necho '{output}' >&2\n")
        program.chmod(0o755)
        monkeypatch.setenv("JAVA_HOME", str(tmp_path))

    return make


def test_missing_java_is_reported_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error says what is missing, where it was looked for, and how to install it."""
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(PipelineError) as caught:
        session.check_java()
    message = str(caught.value)
    assert "Spark needs Java 17 or newer" in message
    assert str(tmp_path) in message
    assert "install a JDK" in message and "\n" not in message


@pytest.mark.parametrize(
    ("version", "problem"),
    [
        ('openjdk version "11.0.2" 2019-01-15', "is version 11"),
        ('java version "1.8.0_392"', "is version 1;"),
        ("Segmentation fault", "printed no version"),
    ],
)
def test_a_java_that_is_too_old_or_broken_is_refused(
    fake_java: FakeJava, version: str, problem: str
) -> None:
    """The error names the version and the remedy."""
    fake_java(version)
    with pytest.raises(PipelineError, match=problem) as caught:
        session.check_java()
    assert "JAVA_HOME" in str(caught.value)


def test_a_newer_java_is_accepted(fake_java: FakeJava) -> None:
    """Versions that do not exist yet are accepted, too."""
    fake_java('openjdk version "29" 2029-03-21')
    session.check_java()


def test_a_missing_pyspark_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Users who installed only the library learn which extra to install."""
    monkeypatch.setitem(sys.modules, "beforehand.pipeline.session", None)
    with pytest.raises(PipelineError, match=r"pip install 'beforehand\[spark\]'"):
        start_session(None, None)


def test_a_setting_without_a_value_is_refused() -> None:
    """Settings are checked before anything is started."""
    with pytest.raises(PipelineError, match="write it like spark.driver.memory=6g"):
        start_session(None, ["spark.driver.memory"])


@pytest.mark.spark
def test_workers_run_the_drivers_interpreter(spark: SparkSession) -> None:
    """Workers import this package from the same location as the driver."""
    import beforehand

    def report_environment(batches: Iterator[Any]) -> Iterator[Any]:
        import beforehand as package

        yield pa.RecordBatch.from_pydict({"python": [sys.executable], "file": [package.__file__]})

    rows = spark.range(2).mapInArrow(report_environment, "python string, file string").collect()
    assert {row.python for row in rows} == {sys.executable}
    assert {row.file for row in rows} == {beforehand.__file__}


@pytest.mark.spark
def test_the_session_has_the_settings_the_pipeline_relies_on(spark: SparkSession) -> None:
    """Arrow is on, times are in UTC, partitions are few, and only loopback is used."""
    assert spark.conf.get("spark.sql.execution.arrow.pyspark.enabled") == "true"
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"
    assert spark.conf.get("spark.sql.shuffle.partitions") == str(2 * (os.cpu_count() or 1))
    assert spark.sparkContext.getConf().get("spark.driver.host") == "127.0.0.1"
    assert session.start() is spark
