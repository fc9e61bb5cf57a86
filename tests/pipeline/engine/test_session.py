"""The Spark session: its settings, and the errors raised when it cannot be started."""

import os
import sys
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from beforehand.cli.engine import open_spark
from beforehand.errors import PipelineError
from beforehand.pipeline.engine import session


def test_a_setting_without_a_value_is_refused() -> None:
    """Settings are checked before anything is started."""
    with (
        pytest.raises(PipelineError, match="write it like spark.driver.memory=6g"),
        open_spark(None, ["spark.driver.memory"]),
    ):
        pass


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
