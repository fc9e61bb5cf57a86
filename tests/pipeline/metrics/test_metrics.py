"""Metrics tables: known slopes are recovered, figures match the papers, claims are listed alongside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from beforehand import report
from beforehand.cli.command_lines import line
from beforehand.cli.report_commands import report_commands
from beforehand.cli.sweep.command_line import grid_options, point_options, sweep_line
from beforehand.pipeline.engine import PipelineEngine
from beforehand.pipeline.metrics import (
    TABLES,
    exponents,
    figure_series_001,
    figure_series_004,
    table1,
    write_tables,
)
from beforehand.pipeline.sweep import Grid, run_sweep
from beforehand.results.schema import Schema
from beforehand.results.tables.metrics import EXPONENTS, FIGURE_004, FIGURES_001, TABLE1
from tests.pipeline.metrics.samples import results

Rows = list[dict[str, Any]]


def rows_by(rows: Rows, *columns: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Rows by the values of these columns, which must be unique."""
    keyed = {tuple(row[name] for name in columns): row for row in rows}
    assert len(keyed) == len(rows)
    return keyed


def stored(rows: Rows, schema: Schema) -> Rows:
    """The rows as they are written: with these columns and types, and no others."""
    assert set().union(*rows) == set(schema.names)
    complete: Rows = pa.Table.from_pylist(rows, schema.arrow()).to_pylist()
    return complete


def test_known_exponents_are_recovered() -> None:
    """Powers are fitted exactly and a constant has exponent 0; zeros and failed runs are ignored."""
    rows: list[dict[str, Any]] = []
    for n in (10, 20, 40):
        for seed in (1, 2):
            square = {"metadata_bytes_per_message": 3.0 * n**2, "integers_mean": 7.0}
            rows.append({"processes": n, "seed": seed, **square, "seconds": 0.1 * n**0.5})
    rows.append({"processes": 80, "metadata_bytes_per_message": 0.0, "integers_mean": 7.0})
    rows.append({"processes": 160, "metadata_bytes_per_message": 1.0, "error": "broken"})
    # Two sizes only: nothing to fit.
    rows += [{"protocol": "rst", "processes": n, "integers_mean": 1.0} for n in (5, 50)]
    # Sizes that hardly differ: nothing to fit either.
    rows += [{"protocol": "ks", "processes": n, "integers_mean": 1.0} for n in (50, 51, 52)]
    table = stored(exponents(results(rows)), EXPONENTS)
    fits = rows_by(table, "protocol", "y", "x")
    assert set(fits) == {("hybrid", y, "n") for y in ("metadata", "state", "work")}
    metadata, state = fits["hybrid", "metadata", "n"], fits["hybrid", "state", "n"]
    assert metadata["exponent"] == pytest.approx(2) and metadata["r2"] == pytest.approx(1)
    assert (metadata["used"], metadata["unused"], metadata["values"]) == (6, 1, 3)
    assert (metadata["low"], metadata["high"]) == (10, 40)
    assert (metadata["setting"], metadata["processes"]) == ("", None)
    assert state["exponent"] == pytest.approx(0) and (state["used"], state["unused"]) == (7, 0)
    assert fits["hybrid", "work", "n"]["values"] == 4


def test_runs_that_differ_only_in_x_are_fitted_together() -> None:
    """Degree is fitted per kind of workload and size; the buffered count is fitted across intervals."""
    rows: list[dict[str, Any]] = []
    for n in (10, 20):
        for peers in (2, 4, 8):
            ring = {"workload": f"ring:{peers}", "degree": float(peers), "processes": n}
            rows.append({**ring, "metadata_bytes_per_message": n * float(peers)})
    for number, level in enumerate((1.0, 3.0, 9.0)):
        rows.append(
            {
                "workload": "shop",
                "setting": f"interval={number}",
                "held_mean": level,
                "buffered_mean": level,
                "most_in_transit": 10**number,
                "integers_mean": level**1.5,
            }
        )
    fits = rows_by(exponents(results(rows)), "workload", "processes", "y", "x")
    assert fits.keys() == {
        *(("ring", n, y, "degree") for n in (10, 20) for y in ("metadata", "work")),
        *(("shop", 10, y, x) for y in ("state", "work") for x in ("buffered", "in flight")),
    }
    for n in (10, 20):
        assert fits["ring", n, "metadata", "degree"]["exponent"] == pytest.approx(1)
    buffered = fits["shop", 10, "state", "buffered"]
    assert buffered["exponent"] == pytest.approx(1.5) and buffered["setting"] is None
    assert (buffered["low"], buffered["high"]) == pytest.approx((0.2, 1.8))


def test_table_1_has_claims_next_to_measurements() -> None:
    """Measurements are means over the runs, in each column's unit; other protocols have no claims."""
    common = {"protocol": "rst", "latency_mean": 2e6, "noncausal_mean": 0.0}
    rows: list[dict[str, Any]] = [
        {**common, "processes": n, "metadata_bytes_per_message": n * n, "integers_peak": n}
        for n in (10, 20, 40)
    ]
    rows = [{**row, "metadata_bytes_per_message": float(row["processes"] ** 2)} for row in rows]
    rows += [
        {"protocol": "raw", "outcome": "stalled", "latency_mean": 4e6, "noncausal_mean": None},
        {"protocol": "raw", "error": "broken", "latency_mean": None},
    ]
    table = stored(table1(results(rows)), TABLE1)
    rows_by_protocol = rows_by(table, "protocol")
    rst, raw = rows_by_protocol[("rst",)], rows_by_protocol[("raw",)]
    assert (rst["claimed_message_space"], rst["claimed_process_space"]) == ("O(n^2)", "O(n^2 b)")
    assert rst["metadata_exponent"] == pytest.approx(2) and rst["state_exponent"] is None
    assert (rst["runs"], rst["stalled"], rst["integers_peak"]) == (3, 0, 40)
    assert rst["metadata_bytes"] == pytest.approx(700)
    assert (rst["latency_ms"], rst["noncausal_ms"]) == (2.0, 0.0)
    assert rst["work_us"] == pytest.approx(100)
    assert (raw["runs"], raw["stalled"]) == (1, 1)
    assert raw["claimed_message_space"] is None and raw["noncausal_ms"] is None


def test_figures_4_to_6_of_tong_et_al() -> None:
    """Execution time by processes per kB/s; speedup of cykas by job length and by hot spots."""
    rows: list[dict[str, Any]] = []
    for bandwidth in ("20kB/s", "1MB/s", None):
        for protocol, seconds in (("rst", 8), ("cykas", 2), ("hybrid", 1)):
            fields = {"bandwidth": bandwidth, "job_share": 0.0}
            run = {"protocol": protocol, "processes": 50, "fields": fields}
            rows.append({**run, "workload": "uniform", "execution_ns": seconds * 10**9})
    for job, faster, sooner in (("0.5ms", 2, 3.0), ("normal:25ms,5ms", 1, 0.0)):
        for seed in (1, 2):
            run = {"setting": f"job={job}", "seed": seed, "workload": "uniform"}
            run["fields"] = {"job": job, "job_share": 0.1, "interval": "10ms"}
            slow = {"execution_ns": 6 * faster, "mean_job_start_ns": 6.0 * sooner}
            fast = {"execution_ns": 6, "mean_job_start_ns": 6.0 if sooner else 0.0}
            rows += [{**run, "protocol": "mattern", **slow}, {**run, "protocol": "cykas", **fast}]
    rows.append({**rows[-1], "seed": 3, "execution_ns": 1})  # has no counterpart to compare with
    for share in (0.0, 0.1):
        run = {"workload": "hotspot:0.05,0.8", "setting": f"job_share={share}"}
        run["fields"] = {"job_share": share}
        rows.append({**run, "protocol": "mattern", "execution_ns": 9})
        rows.append({**run, "protocol": "cykas", "execution_ns": 10})
    table = stored(figure_series_001(results(rows)), FIGURES_001)
    names = ("figure", "panel", "series", "processes", "x")
    points = {key: (row["y"], row["runs"]) for key, row in rows_by(table, *names).items()}
    assert points == {
        **{
            (4, "", protocol, 50, x): (y, 1)
            for protocol, y in (("rst", 8), ("cykas", 2))
            for x in (2.5, 0.05)
        },
        (5, "10ms", "execution time", 10, 0.5): (2.0, 2),
        (5, "10ms", "mean job start", 10, 0.5): (3.0, 2),
        (5, "10ms", "execution time", 10, 25.0): (1.0, 2),
        (6, "", "no jobs", 10, 5.0): (0.9, 1),
        (6, "", "with jobs", 10, 5.0): (0.9, 1),
    }


def test_figure_5_of_nedelec_et_al() -> None:
    """Samples are averaged over the seeds; runs without samples contribute none."""

    def sample(second: float, entries: float, control: float) -> dict[str, Any]:
        return {
            "time_ns": int(second * 1e9),
            "processes": 10,
            "entries": entries,
            "most_entries": int(entries) + 1,
            "control_per_second": control,
            "delivered": 0,
            "delay_ns": 5_000_000,
        }

    rows = [
        {"protocol": "prc", "seed": 1, "series": [sample(0.5, 1.0, 2.0), sample(1, 3.0, 0.0)]},
        {"protocol": "prc", "seed": 2, "series": [sample(0.5, 2.0, 4.0)]},
        {"protocol": "prc", "processes": 20, "series": []},
    ]
    table = stored(figure_series_004(results(rows)), FIGURE_004)
    names = ("time_s", "delay_ms", "entries", "most_entries", "control_per_second", "runs")
    assert sorted(tuple(row[name] for name in names) for row in table) == [
        (0.5, 5.0, 1.5, 3, 3.0, 2),
        (1.0, 5.0, 3.0, 4, 0.0, 1),
    ]


def test_a_sweep_shows_what_the_paper_claims(engine: PipelineEngine, tmp_path: Path) -> None:
    """Metadata of matrix clocks grows with the square of n; that of hybrid buffering stays constant."""
    grid = Grid(
        ("hybrid", "rst", "mattern"),
        ("uniform:3",),
        processes=(10, 20, 40),
        fields={"messages": (4,)},
    )
    out = str(tmp_path)
    swept = run_sweep(
        engine,
        grid,
        out,
        command=sweep_line(out, grid_options(grid), traces=False, audit=False),
        run_command=lambda run: sweep_line(out, point_options(run), traces=False, audit=False),
    )
    written = write_tables(engine, swept.results, out, line("sweep", "--out", out, "--tables"))
    folders = {path.name for path in (tmp_path / "metrics").iterdir() if path.is_dir()}
    assert set(written) == set(TABLES) == folders
    for name, (schema, _) in TABLES.items():
        table = pq.read_table(tmp_path / "metrics" / name)
        assert table.schema.names == schema.names and table.schema.types == schema.arrow().types
    note = json.loads((tmp_path / "metrics" / "_metrics.json").read_text())
    assert note["command"] == f"beforehand sweep --out {out} --tables"
    rows_by_protocol = rows_by(written["table1"].to_pylist(), "protocol")
    rst, hybrid, mattern = (rows_by_protocol[(name,)] for name in ("rst", "hybrid", "mattern"))
    assert 1.8 < rst["metadata_exponent"] < 2.1 and 1.8 < rst["state_exponent"] < 2.1
    assert abs(hybrid["metadata_exponent"]) < 0.1 and hybrid["state_exponent"] < 0.3
    assert rst["noncausal_ms"] == 0.0 < hybrid["noncausal_ms"] < mattern["noncausal_ms"]
    assert mattern["most_in_transit"] == 1 < hybrid["most_in_transit"]
    assert rst["control_frames"] == 0.0 and mattern["control_frames"] == 1.0
    assert all(row["runs"] == 3 for row in rows_by_protocol.values())
    check_report(out, grid, swept.results, written)


def check_report(out: str, grid: Grid, results: pa.Table, written: dict[str, pa.Table]) -> None:
    """The sweep's report has exactly the figures of these tables, and a command for each run."""
    contents = report.read(out, commands=report_commands())
    (sweep,) = contents.sweeps
    assert not contents.missing
    for table, expected in ((sweep.table1, "table1"), (sweep.exponents, "exponents")):
        assert table is not None and list(table.rows) == [
            tuple(row.values()) for row in written[expected].to_pylist()
        ]
    assert sweep.results is not None and len(sweep.results.rows) == 9
    by_run = {row["run"]: row for row in results.to_pylist()}
    names = [column.name for column in sweep.results.columns]
    for row in sweep.results.rows:
        shown = dict(zip(names, row, strict=True))
        expected_row = by_run[str(shown["run"])]
        assert shown.pop("seconds_per_message") == expected_row["seconds"] / expected_row["sent"]
        assert all(value == expected_row[name] for name, value in shown.items())
    commands = [run.made.command for run in sweep.runs]
    assert len(set(commands)) == 9
    assert all(command.startswith("beforehand sweep --out") for command in commands)
    grid_command = line("sweep", "--out", out, *grid_options(grid))
    assert sweep.made.command.splitlines() == [
        grid_command,
        f"beforehand sweep --out {out} --tables",
    ]
