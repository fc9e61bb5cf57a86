"""`beforehand sweep`: its output, the input it refuses, and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from beforehand.cli import app
from beforehand.pipeline.engine import PipelineEngine
from beforehand.pipeline.sweep import Grid, run_sweep

SMALL = ("--processes", "4", "--messages", "5")


def sweep(*arguments: str | Path) -> Result:
    """Run the command."""
    return CliRunner().invoke(app, ["sweep", *map(str, arguments)])


@pytest.fixture(autouse=True)
def _no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the output independent of the terminal settings in the environment."""
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "--out is missing"),
        (("--out", "o", "none.toml"), "none.toml: the grid cannot be read"),
        (("--out", "o", "--processes", "4"), "the grid has no protocol"),
        (("--out", "o", "--protocol", "hybird"), "did you mean hybrid"),
        (("--out", "o", "--protocol", "hybrid,rst", "--workload", "x"), "no workload 'x'"),
        (("--out", "o", "--protocol", "hybrid", "--seed", "1,x"), "--seed 'x': give whole numbers"),
        (("--out", "o", "--protocol", "hybrid", "--set", "loss"), "write it like payload=1kB"),
        (("--out", "o", "--protocol", "hybrid", "--set", "los=1"), "a grid has no 'los'"),
        (("--out", "o", "--protocol", "hybrid", "--set", "loss=1"), "loss is 1"),
    ],
)
def test_bad_input_is_reported_before_an_engine_starts(
    arguments: tuple[str, ...], message: str
) -> None:
    """The error is one message on stderr, with exit code 2."""
    result = sweep(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr and result.stderr.startswith("beforehand: ")
    assert "Traceback" not in result.stderr and not result.stdout


def test_a_sweep_prints_its_results(engine: PipelineEngine, tmp_path: Path) -> None:
    """A grid comes from a file and options; the output lists runs, skipped combinations and tables."""
    file = tmp_path / "grid.toml"
    file.write_text(
        'protocol = ["hybrid", "newtop"]\nseed = [1, 2, 3]\n[networks.mine]\ndelay = "2ms"\n'
    )
    out = tmp_path / "out"
    chosen = ("--engine", engine.name)
    options = (
        *chosen,
        file,
        "--out",
        out,
        *SMALL,
        "--seed",
        "1,2",
        "--set",
        "loss=0.0",
        "--set",
        "loss=0.1",
    )
    first = sweep(*options, "--audit")
    assert first.exit_code == 0, first.output
    assert (
        "skipped newtop, workload uniform, network mine, 4 processes: newtop only" in first.stderr
    )
    common, header, *lines = first.stdout.splitlines()
    assert common == "All runs with messages=5"
    assert [line.count("loss=0.1") for line in lines[:4]] == [0, 0, 1, 1]
    assert header.split()[:3] == ["PROTOCOL", "WORKLOAD", "NETWORK"] and "VIOLATIONS" in header
    assert len(lines) == 5 and all("complete" in line for line in lines[:4])
    assert lines[4] == (
        f"4 runs done, 0 failed, 0 reused, 1 combinations skipped; results in {out}"
    )
    again = sweep(*options, "--json", "--tables")
    values = json.loads(again.stdout)
    assert (values["done"], values["reused"], values["failed"]) == (0, 4, 0)
    assert {row["scenario"]["loss"] for row in values["results"]} == {0.0, 0.1}
    assert [row["protocol"] for row in values["table1"]] == ["hybrid"]
    assert {path.name for path in (out / "metrics").iterdir()} >= {"table1", "exponents"}
    everything = sweep(*chosen, "--out", out, "--tables")
    assert everything.exit_code == 0
    assert "Table 1, claimed and measured" in everything.stdout
    assert "0 runs done, 0 failed, 4 reused" in everything.stdout


def test_a_failed_run_is_reported_and_changes_the_exit_code(
    engine: PipelineEngine, tmp_path: Path
) -> None:
    """The error is printed in enough detail to find its cause."""

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("by nothing")

    grid = Grid(("hybrid",), processes=(4,), fields={"messages": (5,)})
    run_sweep(engine, grid, str(tmp_path), simulate=broken)  # type: ignore[arg-type]
    result = sweep("--engine", engine.name, "--out", tmp_path)
    assert result.exit_code == 1
    assert "hybrid, uniform, default, seed 1): ZeroDivisionError: by nothing" in result.stderr
    rerun = sweep("--engine", engine.name, "--out", tmp_path, "--protocol", "hybrid", *SMALL)
    assert rerun.exit_code == 0 and "1 runs done, 0 failed" in rerun.stdout


def test_a_folder_without_a_sweep_is_refused(engine: PipelineEngine, tmp_path: Path) -> None:
    """Without a grid there has to be a sweep in the folder."""
    result = sweep("--engine", engine.name, "--out", tmp_path)
    assert result.exit_code == 2 and "no results of a sweep there" in result.stderr
