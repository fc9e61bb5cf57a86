"""Results as flat columns: nothing of the metrics is forgotten, and the degree is what it says."""

from __future__ import annotations

from dataclasses import asdict, fields, replace
from typing import Any

import pytest

from beforehand.pipeline.sweep.columns import degree, measured
from beforehand.results.tables.sweep import METRICS, MOMENT, RESULTS
from beforehand.simulator import Metrics, Program, Scenario, Send, run
from beforehand.simulator.measures.instruments import SeriesPoint

RUN = run(Scenario(processes=4, messages=5, sample="7ms"), audit=True)


def test_all_metrics_are_columns() -> None:
    """Those of summaries too, as their own; the number of processes is a column of every run."""
    expected: dict[str, Any] = {}
    for name, value in asdict(RUN.metrics).items():
        parts = value.items() if isinstance(value, dict) else ()
        expected |= {f"{name}_{inner}": part for inner, part in parts} or {name: value}
    del expected["processes"]
    found = measured(RUN)
    assert {name: found[name] for name in expected} == expected
    assert list(expected) == METRICS.names
    assert len(expected) > len(fields(Metrics))
    types = {"integer": int, "real": float}
    assert all(type(found[each.name]) is types[str(each.type)] for each in METRICS)


def test_everything_measured_has_a_place_in_the_table() -> None:
    """And what is in the table is measured, or known beforehand."""
    found = measured(RUN)
    assert set(found) <= set(RESULTS.names)
    assert found["outcome"] == "complete" and found["violations"] == 0 and found["error"] is None
    assert found["series"] == [asdict(moment) for moment in RUN.series] != []
    assert MOMENT.names == [each.name for each in fields(SeriesPoint)]


def test_what_was_not_judged_or_followed_is_null() -> None:
    """Zero violations without an audit would be a lie, and so would no non-causal latency."""
    blind = replace(RUN, audited=False, metrics=replace(RUN.metrics, noncausal=None))
    found = measured(blind)
    assert found["violations"] is None
    nulls = {name for name in METRICS.names if found[name] is None}
    assert nulls == {f"noncausal_{each}" for each in ("count", "mean", "p50", "p99", "max")}


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
    """How many others a process can send to."""
    assert degree(Scenario(workload=workload, processes=processes)) == expected


def test_degree_of_a_program() -> None:
    """Different receivers of a process, oneself not counted: here 2, 1 and 0."""
    program = Program(
        [
            Send("a", "x", ("y", "z")),
            Send("b", "x", ("y",)),
            Send("c", "y", ("x", "y"), ("a",)),
        ]
    )
    assert degree(Scenario(workload="replay", program=program)) == 1.0
