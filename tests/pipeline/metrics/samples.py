"""Results made by hand: what is not said is as little as a run can have."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from beforehand.pipeline.sweep import RESULTS
from beforehand.results.tables.sweep import METRICS
from beforehand.simulator import Scenario


def results(spark: SparkSession, rows: Iterable[dict[str, Any]]) -> DataFrame:
    """A table of results; each row says what matters, and `fields` is what its scenario has."""
    values = []
    for number, given in enumerate(rows):
        row = dict(given)
        fields = row.pop("fields", {})
        whole = {
            **{each.name: 0.0 if each.type == "real" else 0 for each in METRICS},
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
            "scenario": json.dumps({**_plain(Scenario()), **fields}),
            **row,
        }
        values.append(tuple(whole.get(name) for name in RESULTS.names))
    return spark.createDataFrame(values, RESULTS)


def _plain(scenario: Scenario) -> dict[str, Any]:
    return {name: value for name, value in asdict(scenario).items() if name != "program"}
