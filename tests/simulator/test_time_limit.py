"""A time limit: a run is cut short exactly if something was left to do."""

from __future__ import annotations

from beforehand.simulator import Scenario, run


def test_an_unfinished_workload_is_cut_short() -> None:
    """Between two broadcasts nothing is under way, yet more were to come."""
    scenario = Scenario(
        protocol="raw", processes=3, messages=5, workload="broadcast:10", delay="1ms", until="150ms"
    )
    result = run(scenario)
    assert result.metrics.unsent > 0 and result.metrics.undelivered == 0
    assert result.outcome == "cut short"


def test_a_run_that_was_over_is_complete() -> None:
    """Only the clock was still ticking when the limit came."""
    fields = {"processes": 3, "messages": 5, "loss": 0.2, "delay": "1ms"}
    whole = run(Scenario(**fields))  # type: ignore[arg-type]
    end = whole.metrics.execution_ns
    limited = run(Scenario(**fields, until=f"{end + 1}ns"))  # type: ignore[arg-type]
    assert limited.metrics.undelivered == limited.metrics.unsent == 0
    assert limited.outcome == whole.outcome == "complete"
    assert limited.metrics.execution_ns == end
