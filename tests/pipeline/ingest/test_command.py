"""`beforehand ingest`: its output and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

from beforehand.cli import app
from beforehand.pipeline.engine import PipelineEngine

LIST = "a b 1\nb a 2\nb a soon\n"


def command(*arguments: str | Path) -> Result:
    """Run the command."""
    return CliRunner().invoke(app, ["ingest", *map(str, arguments)])


def test_output_is_a_table_with_totals_or_json(engine: PipelineEngine, tmp_path: Path) -> None:
    """Rejects are reported and are not a failure; --force replaces an earlier output."""
    (tmp_path / "list").write_text(LIST)
    out = tmp_path / "out"
    result = command(tmp_path / "list", "--engine", engine.name, "--out", out)
    assert result.exit_code == 0, result.output
    header, row, totals, hint = result.stdout.splitlines()
    assert header.split() == [
        "FILE",
        "FORMAT",
        "ROWS",
        "ACCEPTED",
        "REJECTED",
        "DUPLICATES",
        "FLAGGED",
        "NOTE",
    ]
    assert row.split() == [f"{tmp_path}/list", "list", "3", "2", "1", "0", "0"]
    assert totals == (
        "3 rows = 2 accepted + 1 rejected + 0 exact duplicates. "
        f"2 messages and 0 events in 1 runs: {out}"
    )
    assert hint == f"Every rejected row is in {out}/rejects, with the reason."

    again = command(tmp_path / "list", "--engine", engine.name, "--out", out)
    assert again.exit_code == 2 and "--force" in again.stderr
    (tmp_path / "list").write_text(LIST + "c d 4\n")
    options = ("--force", "--json", "--format", "list", "--map", "sender=2,receiver=1,time=3:ms")
    stale = Path(out) / "characteristics"  # of the replaced messages
    stale.mkdir()
    (stale / "table").write_text("")
    forced = command(tmp_path / "list", "--engine", engine.name, "--out", out, *options)
    assert forced.exit_code == 0, forced.output
    assert not stale.exists()
    summary = json.loads(forced.stdout)
    assert (summary["messages"], summary["rejected"], summary["runs"][0]["run"]) == (
        3,
        1,
        tmp_path.name,
    )
    rows = pq.read_table(out / "messages").to_pylist()
    assert sorted((row["sender"], row["time_ns"]) for row in rows) == [
        ("a", 2_000_000),
        ("b", 1_000_000),
        ("d", 4_000_000),
    ]


def test_input_without_a_usable_row_is_a_failure(engine: PipelineEngine, tmp_path: Path) -> None:
    """The exit code is 2, and the rejects are still written."""
    (tmp_path / "LICENSE").write_text("free\n")
    result = command(tmp_path, "--engine", engine.name, "--out", tmp_path / "out")
    assert result.exit_code == 2 and "no row could be used" in result.stderr
    assert pq.read_table(tmp_path / "out" / "rejects").num_rows == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--format", "xml"], "--format 'xml': there is auto, trace"),
        (["--map", "colour=1"], "--map 'colour=1': there is trace"),
        (["--pattern", "("], "is not a regular expression"),
    ],
)
def test_bad_options_are_reported_in_one_line(
    tmp_path: Path, options: list[str], message: str
) -> None:
    """Options are checked before an engine is started."""
    result = command(tmp_path, "--out", tmp_path / "out", *options)
    assert result.exit_code == 2 and message in result.stderr and result.stderr.count("\n") == 1
