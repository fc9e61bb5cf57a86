"""Ingested messages become a program that can be replayed."""

from __future__ import annotations

from typing import Any

import pytest

from beforehand.errors import PipelineError
from beforehand.pipeline.replay import program_of
from beforehand.simulator import Scenario, run
from beforehand.simulator.units import LONGEST
from beforehand.simulator.workloads.message_sizes import MAX_PAYLOAD
from tests.pipeline.ingest.plain import ingest_one


def message(name: str, time_ns: int, *after: str, **columns: Any) -> dict[str, Any]:
    """A row of the messages table."""
    row = {"run": "r", "id": name, "sender": "a", "to": ["b"], "time_ns": time_ns}
    return {**row, "after": list(after), "payload_bytes": None, **columns}


def test_times_become_pauses() -> None:
    """A pause counts from the start of the run, or from the last message that this one follows."""
    rows = [
        message("2", 170, "1"),
        message("1", 150),
        message("0", 100),
        message("3", 165, "1", "2"),
    ]
    timing = {send.id: (send.at_ns, send.pause_ns) for send in program_of(rows).sends}
    assert timing == {"0": (0, 0), "1": (50, 0), "2": (0, 20), "3": (0, 0)}


def test_the_order_of_rows_does_not_matter() -> None:
    """Spark returns rows in any order; the program, and with it the run's name, stays the same."""
    rows = [message("1", 5), message("2", 5), message("0", 9, "2", payload_bytes=3)]
    assert program_of(rows).digest() == program_of(reversed(rows)).digest()


def test_values_beyond_the_simulators_limits_are_clamped() -> None:
    """Waits of more than a year and payloads above the maximum are clamped."""
    rows = [message("0", 0), message("1", 5 * LONGEST, payload_bytes=2**40)]
    last = program_of(rows).sends[-1]
    assert (last.at_ns, last.payload_bytes) == (LONGEST, MAX_PAYLOAD)


def test_a_program_is_made_from_exactly_one_run() -> None:
    """Ids are unique within a run only, so rows of several runs, or none, are refused."""
    with pytest.raises(PipelineError, match="from several"):
        program_of([message("0", 0), message("0", 0, run="s")])
    with pytest.raises(PipelineError, match="nothing to replay"):
        program_of([])


@pytest.mark.parametrize("protocol", ["hybrid", "rst"])
def test_an_ingested_sample_is_replayed_clean(protocol: str) -> None:
    """Every message is delivered, in causal order."""
    text = "".join(f"p{i % 5} p{i * 3 % 7} {i / 100}\n" for i in range(300))
    program = program_of(ingest_one(text).messages)
    scenario = Scenario(protocol=protocol, workload="replay", program=program, loss=0.05, seed=4)
    result = run(scenario, audit=True)
    assert result.clean and result.metrics.sent == 300 and not result.metrics.undelivered
