"""Results as flat columns: every metric has one, and the degree is the number of peers."""

from __future__ import annotations

from dataclasses import asdict, fields, replace
from typing import Any

import pytest

from beforehand.pipeline.sweep.columns import degree, measured
from beforehand.results.tables.sweep import METRICS, MOMENT, RESULTS
from beforehand.simulator import Metrics, Program, Scenario, Send, run
from beforehand.simulator.measures.instruments import SeriesPoint

RUN = run(Scenario(processes=4, messages=5, sample="7ms"), audit=True)


def test_every_metric_is_a_column() -> None:
    """The values of a summary are columns, too; the number of processes is a column of every run."""
    expected: dict[str, Any] = {}
    for name, value in asdict(RUN.metrics).items():
        parts = value.items() if isinstance(value, dict) else ()
        expected |= {f"{name}_{inner}": part for inner, part in parts} or {name: value}
    del expected["processes"]
    row = measured(RUN)
    assert {name: row[name] for name in expected} == expected
    assert list(expected) == METRICS.names
    assert len(expected) > len(fields(Metrics))
    types = {"integer": int, "real": float}
    assert all(type(row[metric.name]) is types[str(metric.type)] for metric in METRICS)


def test_every_measured_value_is_a_column_of_the_table() -> None:
    """The series has the fields of the simulator's sample points."""
    row = measured(RUN)
    assert set(row) <= set(RESULTS.names)
    assert row["outcome"] == "complete" and row["violations"] == 0 and row["error"] is None
    assert row["series"] == [asdict(point) for point in RUN.series] != []
    assert MOMENT.names == [field.name for field in fields(SeriesPoint)]


def test_values_that_were_not_measured_are_null() -> None:
    """Without an audit, zero violations would be wrong; so would a non-causal latency of zero."""
    unaudited = replace(RUN, audited=False, metrics=replace(RUN.metrics, noncausal=None))
    row = measured(unaudited)
    assert row["violations"] is None
    nulls = {name for name in METRICS.names if row[name] is None}
    assert nulls == {
        f"noncausal_{statistic}" for statistic in ("count", "mean", "p50", "p99", "max")
    }


@pytest.mark.parametrize(
    ("workload", "processes", "expected"),
    [
        ("uniform", 10, 9),
        ("uniform:3", 10, 3),
        ("uniform:30", 10, 9),
        ("ring", 10, 2),
        ("ring:4", 10, 4),
        ("ring:4", 3, 2),
        ("broadcast:5", 10, 9),
        ("shop", 10, None),
    ],
)
def test_degree_of_a_workload(workload: str, processes: int, expected: int | None) -> None:
    """The degree is the number of other processes that a process can send to."""
    assert degree(Scenario(workload=workload, processes=processes)) == expected


def test_degree_of_a_program() -> None:
    """The degree is the mean number of distinct receivers besides the sender: here of 2, 1 and 0."""
    program = Program(
        [
            Send("a", "x", ("y", "z")),
            Send("b", "x", ("y",)),
            Send("c", "y", ("x", "y"), ("a",)),
        ]
    )
    assert degree(Scenario(workload="replay", program=program)) == 1.0
