"""Hand-made results: columns that a row does not set get minimal values."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

import pyarrow as pa

from beforehand.pipeline.sweep import RESULTS
from beforehand.results.tables.sweep import METRICS
from beforehand.simulator import Scenario


def results(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of results; each sets what matters, and its `fields` are those of its scenario."""
    values = []
    for number, columns in enumerate(rows):
        row = dict(columns)
        fields = row.pop("fields", {})
        complete_row = {
            **{metric.name: 0.0 if metric.type == "real" else 0 for metric in METRICS},
            "run": f"r{number}",
            "protocol": "hybrid",
            "workload": "uniform:3",
            "network": "lan",
            "setting": "",
            "processes": 10,
            "messages": 10,
            "seed": 1,
            "wave": "w",
            "outcome": "complete",
            "sent": 100,
            "series": [],
            "seconds": 0.01,
            "scenario": json.dumps({**_scenario_fields(Scenario()), **fields}),
            **row,
        }
        values.append(complete_row)
    complete: list[dict[str, Any]] = pa.Table.from_pylist(values, RESULTS).to_pylist()
    return complete


def _scenario_fields(scenario: Scenario) -> dict[str, Any]:
    return {name: value for name, value in asdict(scenario).items() if name != "program"}
