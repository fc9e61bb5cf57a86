"""The result of a run as flat columns: `latency.p99` of the metrics is the column `latency_p99`.

A test compares the columns of `results.tables.sweep.METRICS` with the simulator's dataclasses.
"""

from dataclasses import asdict, fields, is_dataclass
from typing import Any, Final

from beforehand.results.tables.sweep import METRICS
from beforehand.simulator import Metrics, Program, Result, Scenario

_POINT: Final = {"processes"}  # also of failed runs, so it isn't a metric


def measured(result: Result) -> dict[str, Any]:
    """The columns that a finished run adds to its point."""
    return {
        **_values(result.metrics),
        "outcome": result.outcome,
        "violations": len(result.violations) if result.audited else None,
        "series": [asdict(moment) for moment in result.series],
        "seconds": result.seconds,
        "error": None,
    }


def _values(metrics: Metrics) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for field in fields(metrics):
        value = getattr(metrics, field.name)
        if is_dataclass(value) and not isinstance(value, type):
            values |= {f"{field.name}_{inner}": part for inner, part in asdict(value).items()}
        elif value is not None and field.name not in _POINT:
            values[field.name] = value
    return {name: values.get(name) for name in METRICS.names}


def degree(scenario: Scenario) -> float | None:
    """How many others a process sends to, on average; None where the workload doesn't determine it.

    Counted for a replay; for other workloads, how many receivers a process chooses from.
    """
    if scenario.program is not None:
        return _pairs(scenario.program) / len(scenario.names)
    others = len(scenario.names) - 1
    name, _, peers = scenario.workload.partition(":")
    if name == "ring":
        return float(min(int(peers or 2), others))
    if name == "uniform":
        return float(min(int(peers or others), others))
    return float(others) if name in ("hotspot", "broadcast") else None


def _pairs(program: Program) -> int:
    return len({(s.sender, name) for s in program.sends for name in s.to if name != s.sender})
