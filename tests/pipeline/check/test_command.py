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
    """Run the command in the session that there is."""
    return CliRunner().invoke(app, list(map(str, arguments)))


def test_spark_tasks_give_the_same_verdict(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that is divided is as correct as one that is not, and says that it was divided."""
    divided = partial(on_spark.check_on_spark, driver_states=10)  # states, before tasks take over
    monkeypatch.setattr(on_spark, "check_on_spark", divided)
    arguments = ("check", "--protocol", "mattern", "--sends", "2,1,1", "--json")
    here, there = command(*arguments), command(*arguments, *SPARK)
    assert there.exit_code == here.exit_code == 0, there.output
    alone, parts = json.loads(here.stdout), json.loads(there.stdout)
    assert parts["outcome"] == alone["outcome"] == "correct"
    assert parts["seen"] == alone["seen"]
    assert "parts" in parts["reason"] and parts["settings"]["master"] == "local[2]"


def test_audit_judges_the_run_that_was_saved(spark: SparkSession, tmp_path: Path) -> None:
    """From the checker on Spark to a trace to the auditor on Spark: the same violation."""
    saved = tmp_path / "trace.jsonl"
    found = command("check", "--protocol", "raw", "--sends", "2,1,0", "--out", saved, *SPARK)
    assert found.exit_code == 1, found.output
    assert "The shortest run that shows it, 4 steps:" in found.stdout
    judged = command("audit", saved)
    assert judged.exit_code == 1, judged.output
    assert "raw: fifo: " in judged.output
