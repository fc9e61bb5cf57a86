"""`beforehand check --master`: the same command, with its subtrees as Spark tasks."""

import json
from functools import partial
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner, Result

from beforehand.cli import app
from beforehand.pipeline import check as on_spark

pytestmark = pytest.mark.spark

SPARK = ("--master", "local[2]")


def command(*arguments: object) -> Result:
    """Run the command in the session of the tests."""
    return CliRunner().invoke(app, list(map(str, arguments)))


def test_spark_tasks_give_the_same_verdict(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A divided check is as correct as an undivided one, and reports that it was divided."""
    divided = partial(on_spark.check_on_spark, driver_states=10)  # states, before tasks take over
    monkeypatch.setattr(on_spark, "check_on_spark", divided)
    arguments = ("check", "--protocol", "mattern", "--sends", "2,1,1", "--json")
    local, distributed = command(*arguments), command(*arguments, *SPARK)
    assert distributed.exit_code == local.exit_code == 0, distributed.output
    local_verdict, verdict = json.loads(local.stdout), json.loads(distributed.stdout)
    assert verdict["outcome"] == local_verdict["outcome"] == "correct"
    assert verdict["seen"] == local_verdict["seen"]
    assert "parts" in verdict["reason"] and verdict["settings"]["master"] == "local[2]"


def test_audit_reports_the_violation_of_a_saved_run(spark: SparkSession, tmp_path: Path) -> None:
    """The trace saved by a check on Spark has the same violation for the auditor on Spark."""
    saved = tmp_path / "trace.jsonl"
    checked = command("check", "--protocol", "raw", "--sends", "2,1,0", "--out", saved, *SPARK)
    assert checked.exit_code == 1, checked.output
    assert "The shortest run that shows it, 4 steps:" in checked.stdout
    audited = command("audit", saved)
    assert audited.exit_code == 1, audited.output
    assert "raw: fifo: " in audited.output
