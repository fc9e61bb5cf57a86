"""`beforehand ingest`: what it prints, and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner, Result

from beforehand.cli import app

LIST = "a b 1\nb a 2\nb a soon\n"


def command(*arguments: str | Path) -> Result:
    """Run the command."""
    return CliRunner().invoke(app, ["ingest", *map(str, arguments)])


@pytest.mark.spark
def test_people_get_a_table_and_a_sum_and_programs_get_json(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Rejects are said and are no failure; --force replaces what was there."""
    (tmp_path / "list").write_text(LIST)
    out = tmp_path / "out"
    said = command(tmp_path / "list", "--out", out)
    assert said.exit_code == 0, said.output
    header, row, total, where = said.stdout.splitlines()
    assert header.split() == [
        *("FILE", "FORMAT", "ROWS", "ACCEPTED", "REJECTED", "DUPLICATES", "FLAGGED", "NOTE")
    ]
    assert row.split() == [f"{tmp_path}/list", "list", "3", "2", "1", "0", "0"]
    assert total == (
        "3 rows = 2 accepted + 1 rejected + 0 exact duplicates. "
        f"2 messages and 0 events in 1 runs: {out}"
    )
    assert where == f"Every rejected row is in {out}/rejects, with the reason."

    again = command(tmp_path / "list", "--out", out)
    assert again.exit_code == 2 and "--force" in again.stderr
    (tmp_path / "list").write_text(LIST + "c d 4\n")
    options = ("--force", "--json", "--format", "list", "--map", "sender=2,receiver=1,time=3:ms")
    void = Path(out) / "characteristics"  # of what was there before
    void.mkdir()
    (void / "table").write_text("")
    forced = command(tmp_path / "list", "--out", out, *options)
    assert forced.exit_code == 0, forced.output
    assert not void.exists()
    told = json.loads(forced.stdout)
    assert (told["messages"], told["rejected"], told["runs"][0]["run"]) == (3, 1, tmp_path.name)
    rows = spark.read.parquet(str(out / "messages")).collect()
    assert sorted((row.sender, row.time_ns) for row in rows) == [
        ("a", 2_000_000),
        ("b", 1_000_000),
        ("d", 4_000_000),
    ]


@pytest.mark.spark
def test_nothing_of_use_is_a_failure(spark: SparkSession, tmp_path: Path) -> None:
    """Exit code 2, after all that could be said; the rejects are there to look at."""
    (tmp_path / "LICENSE").write_text("free\n")
    said = command(tmp_path, "--out", tmp_path / "out")
    assert said.exit_code == 2 and "no row could be used" in said.stderr
    assert spark.read.parquet(str(tmp_path / "out" / "rejects")).count() == 1


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--format", "xml"], "--format 'xml': there is auto, trace"),
        (["--map", "colour=1"], "--map 'colour=1': there is trace"),
        (["--pattern", "("], "is not a regular expression"),
    ],
)
def test_bad_options_are_one_sentence(tmp_path: Path, options: list[str], told: str) -> None:
    """Before Spark is started, which takes its time."""
    said = command(tmp_path, "--out", tmp_path / "out", *options)
    assert said.exit_code == 2 and told in said.stderr and said.stderr.count("\n") == 1
