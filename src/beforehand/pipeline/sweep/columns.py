"""What a run is told by, as flat columns: taken from the dataclasses of the simulator, so none is lost.

`latency.p99` of the metrics is the column `latency_p99`. Knows nothing of Spark.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, fields, is_dataclass
from types import NoneType
from typing import Any, Final, get_args, get_type_hints

from beforehand.simulator import Metrics, Program, Result, Scenario
from beforehand.simulator.measures.instruments import Moment

_POINT: Final = {"processes"}  # a run has it also when it failed


def _flat(of: type) -> Iterator[tuple[str, type]]:
    for name, hint in get_type_hints(of).items():
        [kind] = [each for each in get_args(hint) or (hint,) if each is not NoneType]
        if isinstance(kind, type) and is_dataclass(kind):
            yield from ((f"{name}_{inner}", each) for inner, each in _flat(kind))
        else:
            yield name, kind


METRICS: Final[dict[str, type]] = {
    name: kind for name, kind in _flat(Metrics) if name not in _POINT
}
MOMENT: Final[dict[str, type]] = dict(_flat(Moment))  # one of a series


def measured(result: Result) -> dict[str, Any]:
    """All columns that a run that is over adds to its point."""
    return {
        **_values(result.metrics),
        "outcome": result.outcome,
        "violations": len(result.violations) if result.audited else None,
        "series": [asdict(moment) for moment in result.series],
        "seconds": result.seconds,
        "error": None,
    }


def _values(metrics: Metrics) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for each in fields(metrics):
        value = getattr(metrics, each.name)
        if is_dataclass(value) and not isinstance(value, type):
            found |= {f"{each.name}_{inner}": part for inner, part in asdict(value).items()}
        elif value is not None and each.name not in _POINT:
            found[each.name] = value
    return {name: found.get(name) for name in METRICS}


def degree(scenario: Scenario) -> float | None:
    """How many others a process sends to, on average; None where the workload does not say.

    For a replay it is counted, for the workloads it is how many they let a process choose from.
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
