"""Benchmarks whose claims are exact counts: their quick form runs, and the claims hold."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_prc_prints_figure_5_and_table_1(tmp_path: Path) -> None:
    """Both tables, a verdict for each statement, and the same in the file."""
    out = tmp_path / "prc.json"
    command = [sys.executable, "benchmarks/prc.py", "--quick", "--build", "pure", "--out", str(out)]
    environment = {**os.environ, "COLUMNS": "200"}
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    for title in ("Figure 5: 30 processes", "Table 1, N of", "Table 1, all of N", "Bars"):
        assert title in ran.stdout
    report = json.loads(out.read_text())
    assert report["bars"] and all(bar["holds"] for bar in report["bars"])
    assert ran.stdout.count("holds") == len(report["bars"])


def test_checker_prints_what_each_reduction_wins(tmp_path: Path) -> None:
    """All tables; engine and reference agree on the states, and every reduction leaves fewer."""
    out = tmp_path / "checker.json"
    command = [sys.executable, "benchmarks/checker.py", "--quick", "--out", str(out)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    for title in ("States per second", "What each reduction wins", "Workers", "Bars"):
        assert title in ran.stdout
    report = json.loads(out.read_text())
    assert report["bars"] and all(bar["met"] for bar in report["bars"])
    for row in report["reductions"].values():
        states = {mode: figures["states"] for mode, figures in row.items()}
        assert states["both"] < min(states["partial order"], states["symmetry"]) < states["full"]
