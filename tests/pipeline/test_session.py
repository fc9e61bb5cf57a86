"""The session: what it is started with, and what is said if it cannot be."""

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
    """Puts a program in the place of Java, which prints something and ends."""

    def make(told: str) -> None:
        program = tmp_path / "bin" / "java"
        program.parent.mkdir()
        program.write_text(f"#!/bin/sh\necho '{told}' >&2\n")
        program.chmod(0o755)
        monkeypatch.setenv("JAVA_HOME", str(tmp_path))

    return make


def test_no_java_is_said_in_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what is missing, where it was looked for, and how to get it."""
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(PipelineError) as caught:
        session.check_java()
    told = str(caught.value)
    assert "Spark needs Java 17 or newer" in told
    assert str(tmp_path) in told
    assert "install a JDK" in told and "\n" not in told


@pytest.mark.parametrize(
    ("version", "problem"),
    [
        ('openjdk version "11.0.2" 2019-01-15', "is version 11"),
        ('java version "1.8.0_392"', "is version 1;"),
        ("Segmentation fault", "printed no version"),
    ],
)
def test_java_that_is_too_old_or_broken(fake_java: FakeJava, version: str, problem: str) -> None:
    """Its version is told, with the remedy."""
    fake_java(version)
    with pytest.raises(PipelineError, match=problem) as caught:
        session.check_java()
    assert "JAVA_HOME" in str(caught.value)


def test_a_new_java_will_do(fake_java: FakeJava) -> None:
    """Also one that does not exist yet."""
    fake_java('openjdk version "29" 2029-03-21')
    session.check_java()


def test_without_pyspark_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever installed the library alone learns what to install."""
    monkeypatch.setitem(sys.modules, "beforehand.pipeline.session", None)
    with pytest.raises(PipelineError, match=r"pip install 'beforehand\[spark\]'"):
        start_session(None, None)


def test_a_setting_without_a_value_is_refused() -> None:
    """Before anything is started."""
    with pytest.raises(PipelineError, match="write it like spark.driver.memory=6g"):
        start_session(None, ["spark.driver.memory"])


@pytest.mark.spark
def test_workers_run_the_interpreter_of_the_driver(spark: SparkSession) -> None:
    """With this package in it, in the same place."""
    import beforehand

    def where(batches: Iterator[Any]) -> Iterator[Any]:
        import beforehand as there

        yield pa.RecordBatch.from_pydict({"python": [sys.executable], "place": [there.__file__]})

    rows = spark.range(2).mapInArrow(where, "python string, place string").collect()
    assert {row.python for row in rows} == {sys.executable}
    assert {row.place for row in rows} == {beforehand.__file__}


@pytest.mark.spark
def test_settings_that_the_pipeline_counts_on(spark: SparkSession) -> None:
    """Arrow, UTC, few partitions, nobody else on the network."""
    assert spark.conf.get("spark.sql.execution.arrow.pyspark.enabled") == "true"
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"
    assert spark.conf.get("spark.sql.shuffle.partitions") == str(2 * (os.cpu_count() or 1))
    assert spark.sparkContext.getConf().get("spark.driver.host") == "127.0.0.1"
    assert session.start() is spark
